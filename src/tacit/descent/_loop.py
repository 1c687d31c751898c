"""The loop as the host sees it: segments until every lane has ended."""

import dataclasses
import time
from collections.abc import Hashable, Mapping
from typing import NamedTuple

import jax
import numpy as np

from tacit._types import Array, PyTree
from tacit.descent._blocks import block_size, row_count
from tacit.descent._checkpoint import Keeper, flat, unflat
from tacit.descent._plan import Packing, Plan, ProgramCosts
from tacit.descent._programs import PROGRAMS_KEPT, Recent, run_compiled
from tacit.descent._progress import Progress
from tacit.descent._result import Statistics
from tacit.descent._result_builder import EMPTY, ResultBuilder
from tacit.descent._segment import LaneInputs, Program, run_segment
from tacit.descent._start import start_lanes
from tacit.descent._stop import Outcome
from tacit.descent._trial import errors_of_the_method

LARGE = 8192  # parameters of one model from which it runs alone: twice the work weighs more
_COSTS: Recent[ProgramCosts] = Recent(PROGRAMS_KEPT)


@dataclasses.dataclass(frozen=True)
class Batch:
    """All lanes of one descent, before their first step."""

    kind: Hashable  # static_kind(program)
    program: Program
    params: PyTree
    inputs: LaneInputs
    hyperparameters: Mapping[str, np.ndarray]

    @property
    def count(self) -> int:
        """The number of lanes."""
        return self.inputs.goal.size


class Rows(NamedTuple):
    """What the first segment computes, row by row."""

    members: np.ndarray  # which lane sits in which row; EMPTY: none, the row stands still
    params: PyTree
    inputs: LaneInputs


def first_rows(batch: Batch) -> Rows:
    """Every lane in a row; a small model that runs alone has two, see `_plan.buckets`.

    Many lanes have empty rows behind them, so that other numbers of lanes have the same program.
    """
    params, inputs, count = batch.params, batch.inputs, batch.count
    members = np.arange(count)
    if count == 1 and sum(leaf.size for leaf in jax.tree.leaves(params)) <= LARGE:
        members = np.array([0, 0])
    elif (rows := row_count(params)) > count:
        members = np.concatenate([members, np.full(rows - count, EMPTY)])
    else:
        return Rows(members, params, inputs)
    return Rows(members, _take(params, members), _take_inputs(batch.program, inputs, members))


def run_lanes(
    batch: Batch,
    rows: Rows,
    limits: dict[str, Array],
    record_steps: np.ndarray,
    record_times: np.ndarray | None,
    show: Progress,
    keeper: Keeper | None = None,
) -> tuple[ResultBuilder, Statistics]:
    """Segments until every lane has ended; ended ones are taken out when the rest fit a bucket."""
    began = time.perf_counter()
    kind, program, count = batch.kind, batch.program, batch.count
    members, params, inputs = rows
    budget = int(limits["steps"])
    builder = ResultBuilder(count, record_steps.size)
    hyperparameters = {name: values[members] for name, values in batch.hyperparameters.items()}
    lanes = start_lanes(kind, program, params, inputs, hyperparameters, empty=members == EMPTY)
    plan = Plan(budget, record_steps)
    packing = Packing(
        _COSTS.get((jax.tree.structure((program, inputs)), plan.pauses), ProgramCosts)
    )
    clock, sizes, segments, lane_steps = 0, set(), 0, 0
    stored = None if keeper is None else keeper.load()
    if stored is not None:
        clock, plan.recorded = int(stored["clock"]), int(stored["recorded"])
        members = stored["members"]
        inputs = _take_inputs(program, batch.inputs, members)
        lanes = jax.device_put(unflat("lanes", stored, lanes), may_alias=False)
        builder.restore(stored, lanes, program.method.report(lanes.state))
    while True:
        pauses, due = plan.segment(clock)
        sizes.add(members.size)
        segment_began = time.perf_counter()
        before = np.asarray(lanes.status) == Outcome.running
        bounds = {**limits, "due": jax.device_put(np.int32(due))}
        fixed = program, inputs, bounds, jax.device_put(pauses)
        with errors_of_the_method():
            lanes, now, seen = run_segment(kind, fixed, lanes, jax.device_put(np.int32(clock)))
        status = np.asarray(lanes.status)
        seconds = time.perf_counter() - segment_began
        if packing.learn(members.size, int(now) - clock, seconds):
            plan.learn(int(now) - clock, seconds)
        lane_steps += int(before.sum()) * (int(now) - clock)
        clock, segments = int(now), segments + 1
        running = status == Outcome.running
        builder.add_records(members, seen, due, ended=not running.all())
        done = count - np.unique(members[running]).size
        show(
            done=done,
            lanes=count,
            step=min(clock, budget),
            steps=budget,
            loss=np.asarray(lanes.loss),
        )
        if not running.any():
            builder.add_lanes(members, lanes, program.method.report(lanes.state))
            break
        block = block_size(lanes.params)
        computed = min(members.size, -(-int(running.sum()) // block) * block)  # rows, not lanes
        bucket = packing.bucket(computed, int(running.sum()), clock)
        if bucket < computed:
            ended = _take(lanes, np.flatnonzero(~running))
            builder.add_lanes(members[~running], ended, program.method.report(ended.state))
            # Ended lanes fill the bucket up; they stand still.
            kept = np.argsort(~running, kind="stable")[:bucket]
            members = members[kept]
            lanes, inputs = _take(lanes, kept), _take_inputs(program, inputs, kept)
        if keeper is not None and keeper.due():
            place = {"clock": clock, "recorded": plan.recorded, "members": members}
            state = flat("lanes", lanes) | builder.stored()
            keeper.save({name: np.asarray(value) for name, value in place.items()} | state)
    if record_times is not None:
        builder.add_timed_records(
            record_times,
            lambda params: run_compiled(_measured, kind, (program, params, batch.inputs)),
        )
    return builder, Statistics(time.perf_counter() - began, segments, len(sizes), lane_steps)


def _measured(fixed: tuple[Program, PyTree, LaneInputs]) -> dict[str, PyTree]:
    program, params, inputs = fixed
    return program.measured_at_times(params, inputs)


def _take(tree: PyTree, rows: np.ndarray) -> PyTree:
    """Some rows of every array, by way of the host: no program is compiled for it."""
    return jax.tree.map(lambda leaf: jax.device_put(np.asarray(leaf)[rows]), tree)


def _take_inputs(program: Program, inputs: LaneInputs, rows: np.ndarray) -> LaneInputs:
    problem = inputs.problem if program.problem_axis is None else _take(inputs.problem, rows)
    rest = _take(dataclasses.replace(inputs, problem=None), rows)
    return dataclasses.replace(rest, problem=problem)
