"""connectivity/fig4 and figs4: which laws and which failures their claims let pass."""

import numpy as np
import pytest
import xarray

from tacit.experiments.connectivity.fig4 import QUANTITIES, Fig4
from tacit.experiments.connectivity.figs4 import FigS4
from tacit.theory.connectivity import shuffled_loss

STRENGTHS = (0.0, 0.2, 0.4, 0.6, 0.8)
POWERS = dict(zip(QUANTITIES, (-2.0, -1.0, 1.0), strict=True))  # of β, at first order


def networks(powers=POWERS, *, shuffled=shuffled_loss, larger=0.3):
    """Ten networks whose numbers are powers of β, larger ones by `larger` for the large target."""
    fig4, rng = Fig4(target=(0.5, 2.0), g=STRENGTHS, seed=range(10)), np.random.default_rng(0)
    g = np.array(STRENGTHS)
    beta = np.repeat(1 / (1 - g[:, None] ** 2), 10, axis=1)
    beta = beta * np.exp(0.02 * rng.normal(size=beta.shape))
    dims, values = ("target", "g", "seed"), {}
    for name in QUANTITIES:
        rows = [beta ** (powers[name] + extra * np.sign(POWERS[name])) for extra in (0, larger)]
        values[name] = values[f"flow_{name}"] = values[f"limit_{name}"] = (dims, np.stack(rows))
    lost = np.repeat([[shuffled(each)] for each in STRENGTHS], 10, axis=1)
    for name in ("shuffled_loss", "removed_loss"):
        values[name] = (dims, np.stack([lost, lost + 0.1]))
    values["beta"] = (dims, np.stack([beta, beta]))
    values["outcome"] = (dims, np.full((2, len(g), 10), "converged"))
    return fig4, xarray.Dataset(values, {"target": [0.5, 2.0], "g": g, "seed": range(10)})


def verdicts(fig4, runs):
    return {claim.name: claim.verdict for claim in fig4.claims(runs)}


def test_the_powers_of_first_order_pass():
    found = verdicts(*networks())
    assert {name for name, verdict in found.items() if verdict != "holds"} <= {
        "shuffling, g from 0.3 to 0.7, ẑ = 2"
    }


@pytest.mark.parametrize("name", QUANTITIES)
@pytest.mark.parametrize("off", [-2, -1, 1, 2])
def test_other_powers_do_not(name, off):
    found = verdicts(*networks({**POWERS, name: POWERS[name] + off}))
    assert found[f"{QUANTITIES[name]}, exponent, ẑ = 0.5"] == "fails"


@pytest.mark.parametrize("name", QUANTITIES)
def test_nor_does_no_dependence_at_all(name):
    found = verdicts(*networks({**POWERS, name: 0.0}))
    assert found[f"{QUANTITIES[name]}, exponent, ẑ = 0.5"] == "fails"


def test_larger_targets_must_be_faster_and_flows_be_followed():
    fig4, runs = networks(larger=-0.3)
    found = verdicts(fig4, runs)
    assert {name: v for name, v in found.items() if "more so" in name} == {
        f"{QUANTITIES[name]}, more so for larger targets": "fails"
        for name in ("learning_time", "change_norm")
    }
    runs["flow_change_norm"] = runs["change_norm"] * runs["beta"] ** 0.2
    found = verdicts(fig4, runs)
    assert found["norm of ΔW at the end, exponent of its exact flow, ẑ = 0.5"] == "fails"


@pytest.mark.parametrize("shuffled", [lambda g: 1.0, lambda g: 1e-3, lambda g: g**8])
def test_a_loss_after_shuffling_of_another_size_fails(shuffled):
    fig4, runs = networks(shuffled=shuffled)
    assert verdicts(fig4, runs)["shuffling, g from 0.3 to 0.7, ẑ = 0.5"] == "fails"


@pytest.mark.parametrize(("jump", "expected"), [(0.5, "holds"), (0.0, "fails")])
def test_slow_networks_were_not_thrown_off(jump, expected):
    figs4 = FigS4(target=4.0, g=0.8, seed=range(10), epochs=40)
    loss = np.tile(np.linspace(1, 0.6, 41), (1, 1, 10, 1))
    loss[..., 20:] += jump
    dims = ("target", "g", "seed")
    runs = xarray.Dataset(
        {
            "fate": (dims, np.full((1, 1, 10), "stuck")),
            "outcome": (dims, np.full((1, 1, 10), "stopped")),
            "loss": ((*dims, "step"), loss),
            "crossing": (dims, np.full((1, 1, 10), np.inf)),
            "peak": (dims, np.zeros((1, 1, 10))),
        },
        {"target": [4.0], "g": [0.8], "seed": range(10), "step": range(41)},
    )
    claims = figs4.claims(runs)
    assert claims["failed, ẑ = 4, g = 0.8"].verdict == "holds"
    assert claims["thrown off, ẑ = 4, g = 0.8"].verdict == expected
    slow = 10 if expected == "fails" else 0
    assert figs4._slow(runs) == f"{slow} of these 10 never jumped and are slow"
