"""The two variables that every dataset has, whatever its experiment declares."""

PRESENT = "present"  # which cells are stored
OUTCOME = "outcome"  # how a cell ended
