"""Load a transformer and trace its attention. torch is imported when first needed."""

from core.model.budget import Chosen, Estimate, choose_texts, estimate_texts
from core.model.catalog import CATALOG, DEFAULT_MODEL, ModelSpec
from core.model.errors import ModelError
from core.model.loaded import LoadedModel
from core.model.loading import load
from core.model.repeated import trace_repeated
from core.model.trace import Token, Trace
from core.model.tracing import trace_by_length, trace_corpus, trace_text

__all__ = [
    "CATALOG",
    "DEFAULT_MODEL",
    "Chosen",
    "Estimate",
    "LoadedModel",
    "ModelError",
    "ModelSpec",
    "Token",
    "Trace",
    "choose_texts",
    "estimate_texts",
    "load",
    "trace_by_length",
    "trace_corpus",
    "trace_repeated",
    "trace_text",
]
