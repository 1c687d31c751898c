"""Shapes that must be equal: what would be broadcast is another loss, and nobody would see it."""

from typing import Any

import numpy as np


def same_shape(name: str, received: Any, wanted: tuple[int, ...], axes: str, remedy: str) -> None:
    """Refuse an array of another shape than the one wanted.

    Only shapes are looked at: inside a compiled program this costs nothing when it runs.
    """
    found = tuple(np.shape(received))
    if found != tuple(wanted):
        raise ValueError(
            f"{name}: received the shape {found}, it must be {axes} = {tuple(wanted)}; {remedy}"
        )


def check_target(target: Any) -> None:
    """A response (lags, outputs, inputs), or a stack of them."""
    shape = tuple(np.shape(target))
    if len(shape) < 3:
        raise ValueError(
            f"target: received the shape {shape}, it must have the axes (lags, outputs, inputs); "
            "one output of one input is target[:, None, None]"
        )


def check_response_and_mask(target: Any, mask: Any) -> None:
    """The same with a mask (lags,), or stacks of both."""
    check_target(target)
    remedy = "a mask has one number for each lag"
    same_shape("mask", mask, np.shape(target)[:-2], "the target's lags", remedy)


def check_response(received: Any, target: Any) -> None:
    """The impulse response of a model, beside the one that it is to learn."""
    remedy = "give the model the target's outputs and inputs"
    same_shape("model", received, np.shape(target), "(lags, outputs, inputs), as target is", remedy)


def check_single(response: Any) -> None:
    """The response (lags, 1, 1) of a model of one input and one output."""
    wanted = (np.shape(response)[0], 1, 1)
    same_shape("model", response, wanted, "a response (lags, 1, 1)", "give it one of each")
