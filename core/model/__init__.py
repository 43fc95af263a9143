"""Load a transformer and trace its attention. torch is imported when first needed."""

from core.model.budget import Chosen, Estimate, choose_texts, estimate_texts
from core.model.catalog import CATALOG, DEFAULT_MODEL, ModelSpec
from core.model.errors import ModelError
from core.model.image.opening import OpenedImage, open_image
from core.model.image.tracing import classify, trace_image, trace_images, trace_patches
from core.model.loaded import LoadedModel
from core.model.loading import load
from core.model.repeated import trace_repeated
from core.model.trace import Patches, Token, Trace
from core.model.tracing import trace_by_length, trace_corpus, trace_text

__all__ = [
    "CATALOG",
    "DEFAULT_MODEL",
    "Chosen",
    "Estimate",
    "LoadedModel",
    "ModelError",
    "ModelSpec",
    "OpenedImage",
    "Patches",
    "Token",
    "Trace",
    "choose_texts",
    "classify",
    "estimate_texts",
    "load",
    "open_image",
    "trace_by_length",
    "trace_corpus",
    "trace_image",
    "trace_images",
    "trace_patches",
    "trace_repeated",
    "trace_text",
]
