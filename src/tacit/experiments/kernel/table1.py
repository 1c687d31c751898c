"""kernel, Table 1: who decodes best, on all data and on little?

The comparison: test R² in both directions at the end of the training for a linear RNN, a scaled
convolution and a plain one, and whether the paper's ordering holds: the RNN is like the scaled
convolution, both win on limited data, the plain one wins on all of it. The paper's numbers stand
beside ours on the paper's recording alone.
"""

import csv
import io
from collections.abc import Sequence

import numpy as np
import xarray

from tacit.draw import Axis, Figure, Line, Mark, Panel, Points, Text
from tacit.experiments import Claims, Finding
from tacit.experiments.kernel.decoding import (
    COLOURS,
    DIRECTIONS,
    MODELS,
    PAPERS,
    PORTIONS,
    DecodingExperiment,
)

TICKS = {"whole": "all", "minutes": "4.5 min", "share": "9%"}
WHOLE = {"rnn": (0.6462, 0.5911), "scaled": (0.6442, 0.5860), "plain": (0.6565, 0.6027)}
LIMITED = {"rnn": (0.6043, 0.4257), "scaled": (0.6046, 0.4234), "plain": (0.5856, 0.3918)}
PAPER = {"whole": WHOLE, "minutes": LIMITED, "share": LIMITED}  # Table 1: R² in x and y
LIKE = 0.0051  # the largest of the four differences between RNN and scaled convolution there
WIDTH = 1000  # the paper's
LONG = ("synthetic", PAPERS)  # as long as the paper's
HEAD = ("recording", "training data", "direction", *MODELS.values())


class Table1(DecodingExperiment):
    """Decoding hand velocity: final R² of an RNN and two convolutions, beside the paper's."""

    id, figure = "kernel/table1", "Table 1"
    finding = Finding(
        "On a synthetic recording of the paper's size the scaled convolution wins on limited data, "
        "as in the paper's table: its R² is {x|holds} (x) and {y|holds} (y) above the plain one's.",
        "More data favour the plain convolution, by {more|holds} (x); whether it wins on all of "
        "them depends on when training stops, which the paper does not say.",
        "At the paper's width the RNN's R² is the scaled convolution's to {like|.2g|holds} (x).",
        x="synthetic, minutes, x: scaled convolution wins",
        y="synthetic, minutes, y: scaled convolution wins",
        more="synthetic, x: more data favour the plain convolution",
        like="synthetic, whole, x: RNN like scaled",
    )

    presets = {
        "smoke": dict(portion="minutes", seed=range(2), width=40, steps=(0, 30)),
        "quick": dict(portion=("whole", "minutes"), width=200, steps=(0, 400), seed=range(12)),
        "paper": dict(recording=("synthetic", "m1"), steps=(0, 100, 400, 1000)),
    }

    def scores(
        self, runs: xarray.Dataset, recording: str, portion: str, direction: str
    ) -> dict[str, np.ndarray]:
        """R² of each model at the end of the training, block by block.

        Seeds that test the same block of the recording are one sample: their mean.
        """
        case = dict(recording=recording, portion=portion, direction=direction)
        final = runs["r2"].isel(step=-1).sel(case)
        by_block = final.groupby(runs["seed"] % self.blocks).mean()
        return {name: by_block.sel(model=name).values for name in MODELS}

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim = Claims()
        for recording in self.recording:
            for number, direction in enumerate(DIRECTIONS):
                leads = {}
                for portion in self.portion:
                    scores = self.scores(runs, recording, portion, direction)
                    leads[portion] = scores["plain"] - scores["scaled"]
                    self._claim(claim, scores, recording, portion, number)
                if len(leads) > 1 and "whole" in leads:
                    little = next(portion for portion in leads if portion != "whole")
                    claim.median(
                        f"{recording}, {direction}: more data favour the plain convolution",
                        leads["whole"] - leads[little],
                        at_least=0.0,
                        most=self.blocks,
                        says=f"On {recording} in {direction}, block by block, the plain "
                        f"convolution's R² less the scaled one's is larger on {PORTIONS['whole']} "
                        f"({np.median(leads['whole']):.4f}) than on {PORTIONS[little]} "
                        f"({np.median(leads[little]):.4f}).",
                        place=_place(recording, "section 5.2: less variance, more bias"),
                    )
        return claim

    def _claim(
        self,
        claim: Claims,
        scores: dict[str, np.ndarray],
        recording: str,
        portion: str,
        number: int,
    ) -> None:
        """What the paper says of one row of its table."""
        direction, place = DIRECTIONS[number], _place(recording, "Table 1")
        better, worse = ("plain", "scaled") if portion == "whole" else ("scaled", "plain")
        case = f"{recording}, {portion}, {direction}"
        data = (
            f"On {recording}, {PORTIONS[portion]} in {direction}, after {max(self.steps):,} steps"
        )
        told = "; ".join(f"{w} {np.median(scores[name]):.3f}" for name, w in MODELS.items())
        if self.width >= WIDTH:  # a narrower one is further from its limit, like n^(−½)
            claim.median(
                f"{case}: RNN like scaled",
                abs(scores["rnn"] - scores["scaled"]),
                at_most=LIKE,
                most=self.blocks,
                says=f"{data} at n = {self.width:,}, R² of RNN and scaled convolution differ by at "
                f"most {{bound}}, the largest of the paper's four differences. {told}.",
                place=place,
            )
        # How much data is all of it? Only recordings of the paper's length are asked.
        if portion != "whole" or recording in LONG:
            claim.median(
                f"{case}: {better} convolution wins",
                scores[better] - scores[worse],
                at_least=0.0,
                most=self.blocks,
                says=f"{data}, the {better} convolution's R² is above the {worse} one's. {told}.",
                place=place,
            )
        if recording == PAPERS:
            theirs = {name: PAPER[portion][name][number] for name in MODELS}
            paper = "; ".join(f"{MODELS[name]} {value}" for name, value in theirs.items())
            claim.median(
                f"{case}: the paper's numbers",
                np.max([abs(scores[name] - theirs[name]) for name in MODELS], axis=0),
                at_most=0.05,
                most=self.blocks,
                says=f"{data}, R² of all three models is the paper's to {{bound}}: {paper}. "
                f"{told}.",
                place=place,
            )

    def rows(self, runs: xarray.Dataset) -> list[tuple[str, ...]]:
        """The table: our medians over the seeds, and the paper's rows under those of S1."""
        found = []
        for recording in self.recording:
            for portion in self.portion:
                for number, direction in enumerate(DIRECTIONS):
                    scores = self.scores(runs, recording, portion, direction)
                    head = (recording, TICKS[portion], direction)
                    found.append((*head, *(f"{np.median(one):.4f}" for one in scores.values())))
                    if recording == PAPERS:
                        paper = PAPER[portion]
                        theirs = (f"{paper[name][number]:.4f}" for name in MODELS)
                        found.append((f"{recording} (paper)", *head[1:], *theirs))
        return found

    def tables(self, runs: xarray.Dataset) -> dict[str, str]:
        """The table as files by name: for a paper and for a spreadsheet."""
        rows = self.rows(runs)
        return {"table1.tex": as_latex(HEAD, rows), "table1.csv": as_csv(HEAD, rows)}

    def draw(self, runs: xarray.Dataset) -> Figure:
        ticks = {float(place): TICKS[portion] for place, portion in enumerate(self.portion)}
        x = Axis("training data", ticks=ticks, limits=(-0.6, len(ticks) - 0.4))
        panels = [
            Panel(
                f"{recording}, direction {direction}",
                x,
                Axis("R² on test data"),
                [
                    mark
                    for place, portion in enumerate(self.portion)
                    for name, ours in self.scores(runs, recording, portion, direction).items()
                    for mark in _beside(
                        name,
                        place,
                        ours,
                        PAPER[portion][name][number] if recording == PAPERS else None,
                    )
                ],
            )
            for recording in self.recording
            for number, direction in enumerate(DIRECTIONS)
        ]
        open_ones = "; open: the paper's" if PAPERS in self.recording else ""
        return Figure(
            "Who decodes best, on all data and on little",
            panels,
            columns=2,
            caption=f"{self.caption()} Medians over the blocks that the {len(self.seed)} seeds "
            f"hold out, with their quartiles, after {max(self.steps):,} steps, n = "
            f"{self.width:,}{open_ones}. {self.ordering(runs)}",
        )

    def ordering(self, runs: xarray.Dataset) -> str:
        """Whether the paper's ordering holds, in a sentence."""
        asked = [claim for claim in self.claims(runs) if "wins" in claim.name]
        words = [f"{claim.name.split(':')[0]} {claim.verdict}" for claim in asked]
        return f"The paper's ordering of scaled and plain convolution: {'; '.join(words)}."


def _place(recording: str, papers: str) -> str:
    return papers if recording == PAPERS else f"ours: {papers}, on another recording"


def as_csv(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The table with commas between its cells."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows((head, *rows))
    return text.getvalue()


def as_latex(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A `tabular` with the rules of the package booktabs."""
    special = {"_": r"\_", "%": r"\%", "&": r"\&", "#": r"\#", "$": r"\$"}
    lines = [
        " & ".join("".join(special.get(sign, sign) for sign in cell) for cell in row) + r" \\"
        for row in (head, *rows)
    ]
    columns = "l" * (len(head) - len(MODELS)) + "r" * len(MODELS)
    inside = [r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule"]
    return "\n".join([rf"\begin{{tabular}}{{{columns}}}", *inside, r"\end{tabular}", ""])


def _beside(name: str, place: int, ours: np.ndarray, theirs: float | None) -> list[Mark]:
    """Our median, drawn and in words, its quartiles, and the paper's number if there is one."""
    low, middle, high = (float(q) for q in np.quantile(ours, (0.25, 0.5, 0.75)))
    colour = COLOURS[name]
    x = place + 0.31 * (colour - 1)
    marks: list[Mark] = [
        Points([x], [middle], label=MODELS[name], colour=colour, size=8.0),
        Line([x, x], [low, high], colour=colour),
        Text(x, high, f"{middle:.3f}".replace("-", "−"), anchor="above"),
    ]
    if theirs is not None:
        words = "the paper's" if colour == 0 else None
        marks.append(
            Points([x], [theirs], label=words, colour=colour, marker="D", filled=False, size=8.0)
        )
    return marks
