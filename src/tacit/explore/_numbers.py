"""Numbers in sentences."""

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float, digits: int = 3) -> str:
    """A number with so many digits, as people write it: 0.25, −3, 1.9×10⁻⁵."""
    mantissa, _, power = f"{value:.{digits}g}".partition("e")
    raised = f"10{str(int(power)).translate(_RAISED)}" if power else ""
    if not raised:
        return mantissa.replace("-", "−")
    return raised if mantissa == "1" else f"{mantissa.replace('-', '−')}×{raised}"
