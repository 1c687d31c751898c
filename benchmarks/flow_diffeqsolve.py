"""Gradient flow of the 2,400 completions of each depth, against `diffeqsolve` under `vmap`.

The same lanes, vector field, solver, tolerances, controller and stopping event. `diffeqsolve` under
`vmap` computes all lanes until the last has ended; here those that have ended are taken out.
"""

from typing import Any

import numpy as np

from benchmarks._completions import ATOL, DEPTHS, GOAL, RTOL, as_lanes, completions
from benchmarks._measure import best_of, cpu_seconds, pin, report

ATTEMPTS = 10_000


def ours(lanes: Any) -> Any:
    import diffrax

    from tacit.descent import GradientFlow, Stop, Unrolled, descend

    method = GradientFlow(Unrolled(diffrax.Tsit5()), rtol=RTOL, atol=ATOL)
    return descend(*lanes, method, stop=Stop(ATTEMPTS, loss=GOAL), progress=False)


def theirs(lanes: Any) -> Any:
    """A compiled `diffeqsolve` over all lanes, to be called without arguments."""
    import diffrax
    import jax
    import jax.numpy as jnp

    models, problems = (each.tree for each in lanes)

    def solve(model: Any, problem: Any) -> tuple[Any, Any]:
        def downhill(t: Any, y: Any, args: Any) -> Any:
            return jax.tree.map(lambda g: -g, problem.loss_and_gradient(y)[1])

        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(downhill),
            diffrax.Tsit5(),
            0.0,
            jnp.inf,
            None,
            model,
            stepsize_controller=diffrax.PIDController(rtol=RTOL, atol=ATOL, pcoeff=0.3, icoeff=0.4),
            event=diffrax.Event(lambda t, y, args, **_: problem.loss(y) <= GOAL),
            max_steps=ATTEMPTS,
            adjoint=diffrax.ForwardMode(),  # nothing is differentiated: the cheapest loop
            throw=False,
        )
        return jax.tree.map(lambda leaf: leaf[-1], solution.ys), solution.stats["num_steps"]

    run = jax.jit(jax.vmap(solve))

    def call() -> tuple[Any, np.ndarray]:
        with jax.enable_x64(True):
            end, steps = run(models, problems)
            return jax.block_until_ready(end), np.asarray(steps)

    return call


def main() -> None:
    pin()
    for depth in DEPTHS:
        lanes = as_lanes(completions(depth))
        cold = cpu_seconds(lambda lanes=lanes: ours(lanes))
        warm = best_of(lambda lanes=lanes: ours(lanes), 3)
        result = ours(lanes)
        call = theirs(lanes)
        peer_cold = cpu_seconds(call)
        peer = best_of(call)
        end, steps = call()
        gap = max(
            float(np.abs(np.asarray(a) - np.asarray(b)).max())
            for a, b in zip(result.model.tree.factors, end.factors, strict=True)
        )
        report(
            f"flow of {len(steps):,} completions 2 × 2 of depth {depth} to a loss of {GOAL:g}",
            cold=cold,
            warm=warm,
            peers={"diffeqsolve under vmap": peer},
            peer_cold=round(peer_cold, 3),
            outcomes=result.outcomes,
            attempts={"ours": int(result.steps.sum()), "diffeqsolve": int(steps.sum())},
            **{"largest difference of the end points": gap},
        )


if __name__ == "__main__":
    main()
