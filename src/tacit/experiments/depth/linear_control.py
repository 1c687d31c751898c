"""The linear control of Figures 18 to 29: deep matrix completion of the depths of the networks.

Theorem 3.3 in closed form, with ten blocks, m = 100 and αᴸ = 1e-5: the effective rank of the
product of all factors, and that of each factor, which is what a layer of a network is.
"""

from collections.abc import Sequence

from tacit.draw import Axis, Line, Panel
from tacit.experiments import Claims
from tacit.theory.depth import limit_effective_rank, limit_factor_effective_rank


def control_ranks(depths: Sequence[int]) -> dict[str, list[float]]:
    """The effective rank of the limit at each depth, of the product and of each factor."""
    kinds = {"product": limit_effective_rank, "each factor": limit_factor_effective_rank}
    return {name: [float(rank(blocks=10, ratio=100.0, depth=depth, scale=1e-5 ** (1 / depth)))
                   for depth in depths] for name, rank in kinds.items()}  # fmt: skip


def claim_control(claim: Claims, depths: Sequence[int]) -> None:
    """From the shallowest to the deepest: the product does not rise, its factors do not fall."""
    if len(depths) < 2:
        return
    product, factor = control_ranks(depths).values()
    claim.value("linear control: product", product[-1] / product[0], at_most=1.0,
                says="Deep matrix completion: the effective rank of the product is not higher at "
                f"{depths[-1]} factors than at {depths[0]}.", place="Theorem 3.3")  # fmt: skip
    claim.value("linear control: factors", factor[-1] / factor[0], at_least=1.0,
                says="That of each factor, which is what is measured in networks, is not lower "
                "there.")  # fmt: skip


def control_panel(depths: Sequence[int]) -> Panel:
    """Both ranks against the number of factors."""
    return Panel("linear control, closed form", Axis("factors", ticks=depths),
                 Axis("effective rank", limits=(0, 10.5)), [],
                 ours=[Line(depths, ranks, label=name, colour=colour, marker="s")
                       for colour, (name, ranks) in enumerate(control_ranks(depths).items(), 2)],
                 note="n = 10, m = 100, αᴸ = 1e-5")  # fmt: skip
