"""Record the queries, keys and values of every attention call of a forward pass."""

from core.model.capture.calls import Call, Recorder, recording
from core.model.capture.interface import IMPLEMENTATION, register
from core.model.capture.reading import read_calls, reader_of_vectors

__all__ = [
    "IMPLEMENTATION",
    "Call",
    "Recorder",
    "read_calls",
    "reader_of_vectors",
    "recording",
    "register",
]
