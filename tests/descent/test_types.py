"""What a type checker sees: the package is marked as typed, problems follow the protocols."""

import importlib.resources
import typing

import pytest

from tacit import problems
from tacit.descent import BoundedCurvature, LeastSquares, Problem, Stochastic, descend


def test_the_package_is_marked_as_typed():
    assert importlib.resources.files("tacit").joinpath("py.typed").is_file()


@pytest.mark.parametrize(
    ("problem", "protocol", "methods"),
    [
        (problems.PopulationLoss, Problem, {"loss"}),
        (problems.PopulationLoss, LeastSquares, {"loss", "residuals"}),
        (problems.SampledLoss, Stochastic, {"loss", "stochastic"}),
        (problems.CentredResponse, BoundedCurvature, {"loss", "downhill"}),
    ],
)
def test_our_problems_offer_what_the_protocols_name(problem, protocol, methods):
    named = {name for name in dir(protocol) if not name.startswith("_")}
    assert named == methods
    assert all(hasattr(problem, name) for name in named)


def test_one_model_and_lanes_are_told_apart():
    single_or_lanes = [
        typing.get_type_hints(one)["return"] for one in typing.get_overloads(descend)
    ]
    assert len(set(map(str, single_or_lanes))) == 2
