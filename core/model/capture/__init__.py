"""Record the queries, keys and values of every attention call of a forward pass."""

from core.model.capture.calls import Call, Change, Check, Recorder, recording
from core.model.capture.interface import IMPLEMENTATION, register_attention
from core.model.capture.reading import reader_of

__all__ = [
    "IMPLEMENTATION",
    "Call",
    "Change",
    "Check",
    "Recorder",
    "reader_of",
    "recording",
    "register_attention",
]
