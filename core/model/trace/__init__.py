"""A trace: what one forward pass of a text or an image recorded. Imports only NumPy."""

from core.model.trace.input import Input
from core.model.trace.parts import (
    Array,
    AttentionType,
    Floats,
    Layer,
    Patches,
    Token,
    default_scaling,
    softmax,
)
from core.model.trace.record import Trace, kept

__all__ = [
    "Array",
    "AttentionType",
    "Floats",
    "Input",
    "Layer",
    "Patches",
    "Token",
    "Trace",
    "default_scaling",
    "kept",
    "softmax",
]
