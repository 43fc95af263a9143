"""Load a transformer and trace its attention. torch is imported on first use.

So are the modules that load and trace: a page can draw its first picture without them.
"""

from typing import TYPE_CHECKING

from core import imported_late

if TYPE_CHECKING:
    from core.model.errors import ModelError
    from core.model.image.opening import open_image
    from core.model.interventions.heads import Effects, effects
    from core.model.opening.load import load
    from core.model.running.budget import Chosen, choose_texts, estimate_texts
    from core.model.running.images import classify, trace_image, trace_images, trace_patches
    from core.model.running.loaded import LoadedModel
    from core.model.running.repeated import trace_repeated
    from core.model.running.tracing import trace_by_length, trace_corpus, trace_text
    from core.model.running.twin import untrained_twin
    from core.model.trace import Token, Trace

__all__ = [
    "Chosen",
    "Effects",
    "LoadedModel",
    "ModelError",
    "Token",
    "Trace",
    "choose_texts",
    "classify",
    "effects",
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
    "untrained_twin",
]

__getattr__ = imported_late(
    __name__,
    {
        "errors": "ModelError",
        "image.opening": "open_image",
        "interventions.heads": "Effects effects",
        "running.images": "classify trace_image trace_images trace_patches",
        "running.twin": "untrained_twin",
        "opening.load": "load",
        "running.budget": "Chosen choose_texts estimate_texts",
        "running.loaded": "LoadedModel",
        "running.repeated": "trace_repeated",
        "running.tracing": "trace_by_length trace_corpus trace_text",
        "trace": "Token Trace",
    },
)
