"""The lines that give the model and the trace: the same for every page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.model.catalog import Modality
from core.model.trace import Trace
from core.ui.cache import MAX_TOKENS, TraceKey
from core.ui.python import MODEL, Call, Constant, Each, Variable, call, each_of, made

OWN_IMAGE = "your-image.png"  # a file that only the visitor has


def note_model(name: str, modality: Modality = "text") -> None:
    """The model on screen, as the variable `model`."""
    made("model", None, lambda: _load(name, modality))


def note_trace(key: TraceKey, trace: Trace) -> Trace:
    """The trace on screen, as the variable `trace`, with its model."""
    note_model(key.model, key.modality)
    return made("trace", trace, lambda: _text(key) if key.image is None else _image(key))


def _load(name: str, modality: Modality) -> Call:
    from core.model import load

    named = None if modality == "text" else modality  # the default is not written
    return call(load, name, modality=named)


def _text(key: TraceKey) -> Call:
    from core.model import trace_text

    decoded = key.attention_type in {"decoder", "cross"}
    options: dict[str, Any] = {} if key.attention_type is None else {"decode": decoded}
    if key.languages is not None:
        options["languages"] = key.languages
    run = call(trace_text, MODEL, key.text, key.pair, MAX_TOKENS, key.target, **options)
    return call(Trace.of_type, run, key.attention_type) if decoded else run


def _image(key: TraceKey) -> Call:
    from core.model import trace_image

    sides = None if key.size is None else (key.size, key.size)
    return call(trace_image, MODEL, image_of(key), sides)


def image_of(key: TraceKey) -> Call:
    """The image on screen: a sample, or a file that only the visitor has."""
    from core.model import open_image
    from core.model.box import BOX, open_box

    if key.image in BOX:
        return call(open_box, key.image)
    return call(getattr, call(open_image, call(Path.read_bytes, call(Path, OWN_IMAGE))), "image")


def traces_of_box(size: int | None, model: Variable = MODEL) -> Each:
    """The traces of all sample images, one at a time; `size` is the side in pixels."""
    from core.model import trace_image
    from core.model.box import open_box

    sides = None if size is None else (size, size)
    box = Constant("core.model.box", "BOX")
    return each_of(
        "name", box, lambda name: call(trace_image, model, call(open_box, name), sides), lazy=True
    )
