"""Data sets by canonical address and checksum, or a copy at hand (`TACIT_DATA`)."""

from tacit.data._motor_cortex import M1_FLINT, Recording, motor_cortex
from tacit.data._source import DataMissingError, Source

__all__ = ["M1_FLINT", "DataMissingError", "Recording", "Source", "motor_cortex"]
