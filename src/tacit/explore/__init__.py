"""The explorer: a local page on which theory answers at once as sliders move."""

from tacit.explore._section import Answer, Section
from tacit.explore._sections import SECTIONS
from tacit.explore._server import Explorer
from tacit.explore._slider import Slider

__all__ = ["SECTIONS", "Answer", "Explorer", "Section", "Slider"]
