"""Jester: jokes, rated by people."""

import os

import numpy as np

from tacit._doors import door, path
from tacit.data._r_file import read_r
from tacit.data._source import DataMissingError, Source

USERS, JOKES = 5000, 100


def _listed(content: bytes) -> bytes:
    """`user,item,rating` lines, user by user, out of the R package's compressed columns."""
    try:
        stored = read_r(content)["Jester5k"]["data"]
        rows, ends, values = (stored[name] for name in ("i", "p", "x"))
        users, items = rows, np.repeat(np.arange(len(ends) - 1), np.diff(ends))
        order = np.lexsort((items, users))
        values = np.where(np.abs(values) < 1e-100, 0.0, values)  # so does R keep a rating of zero
    except (ValueError, LookupError, TypeError) as error:
        raise DataMissingError(f"this is not recommenderlab's file: {error}") from error
    lines = (f"{users[k]},{items[k]},{values[k]:g}\n" for k in order)
    return ("user,item,rating\n" + "".join(lines)).encode()


JESTER = Source(
    name="jester5k",
    files={"ratings.csv": "736198ce33f82ff088100e80160758aea4514ac2df8a149341431df28c5236b0"},
    address=(
        "https://raw.githubusercontent.com/mhahsler/recommenderlab/"
        "0af29f648646b5d7383989ab5dd1ce2d67732e00/data"
    ),
    credit=(
        "Goldberg, Roeder, Gupta and Perkins, Information Retrieval 2001 "
        "(http://eigentaste.berkeley.edu/dataset), the sample of recommenderlab"
    ),
    remote={"ratings.csv": "Jester5k.rda"},
    convert=_listed,
)
"""Free for research when acknowledged; the package that carries the sample is under GPL-2."""


@door(answer="any", path=path)
def jester(path: str | os.PathLike[str] | None = None) -> np.ndarray:
    """5,000 people × 100 jokes, ratings from −10 to 10, NaN where there is none.

    From `path`, from `TACIT_DATA`, or fetched before by `tacit data fetch jester5k`.
    """
    file = JESTER.folder(path) / "ratings.csv"
    table = np.loadtxt(file, delimiter=",", skiprows=1)
    ratings = np.full((USERS, JOKES), np.nan)
    ratings[table[:, 0].astype(int), table[:, 1].astype(int)] = table[:, 2]
    return ratings
