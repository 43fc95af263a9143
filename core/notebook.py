"""Views in notebooks: of traces and tables, which show themselves, and of anybody's arrays."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from core import VERSION
from core.analysis.attention_table import AttentionTable
from core.analysis.layer_payload import LayerPayload, drawn_size
from core.analysis.model_map import ModelMap, model_map
from core.analysis.strongest_link import find_link
from core.components.export import standalone_page
from core.components.head_view import ATTENTION, HeadView, pack_head_view
from core.components.model_view import Appearance, view_data
from core.components.table import Cells, pack_table
from core.figures.palette import token_colours
from core.model.trace import Layer, Token, Trace

_MAX_BYTES = 12_000_000  # of a head view: beyond, it holds one layer
_FRAME = '<iframe srcdoc="{}" sandbox="allow-scripts allow-downloads" style="{}"></iframe>'
_STYLE = "border: 0; width: 100%; height: 640px"


@dataclass(frozen=True)
class View:
    """A view that a notebook shows in a frame; `page` is its HTML file, which opens offline."""

    page: str

    def _repr_html_(self) -> str:
        return _FRAME.format(html.escape(self.page), _STYLE)


class _Known(Layer):
    """A layer whose mask is the logarithm of its attention; rows need not add up to one."""

    def weights(self, scores: Any, *_: Any, **__: Any) -> Any:  # noqa: ANN401 - as in Layer
        return np.exp(scores)


def head_view(attention: Any, tokens: Sequence[str], layer: int = 0) -> View:  # noqa: ANN401
    """The heads of one layer as lines, at first of `layer` (from 0); above 12 MB, of it alone.

    `attention` holds weights after softmax, (layer, head, token, token): an array, a tensor, or a
    list of one per layer, also as (1, head, token, token). Raises `ValueError` for other shapes.
    """
    return _head_view(_trace_of(attention, tokens), layer)


def model_view(attention: Any, tokens: Sequence[str]) -> View:  # noqa: ANN401
    """All heads of all layers as tiles; arguments and errors as for :func:`head_view`."""
    trace = _trace_of(attention, tokens)
    shown = cast("ModelMap", model_map(trace))  # there are tokens
    return _view("model_view", view_data(shown, trace, Appearance()), "Model view")


def view_of(shown: Trace | AttentionTable) -> View:
    """The heatmap of a table, or the head view of a trace, with the strongest link of a text."""
    if isinstance(shown, AttentionTable):
        return _view("table", pack_table(shown, Cells()), f"Attention {shown.where}")
    link = find_link(shown) if shown.input.has_words else None
    return _head_view(shown, 0) if link is None else _head_view(shown, link.layer, link.head + 1)


def _head_view(trace: Trace, layer: int, *heads: int) -> View:
    shown = str(trace.layer_labels[layer])
    view: dict[str, Any] = {"layer": shown, "heads": heads, "from": [], "to": []}
    view |= {"pairs": "all", "weigh": ATTENTION.value, "hide": False}
    colours = {theme: token_colours(trace.shape[1], theme) for theme in ("light", "dark")}
    every = range(trace.shape[0])
    sent = every if sum(drawn_size(trace, each) for each in every) <= _MAX_BYTES else (layer,)
    layers = {each: LayerPayload.drawn(trace, each) for each in sent}
    data = pack_head_view(trace, layers, ATTENTION.value, HeadView(view, 0, [ATTENTION], colours))
    return _view("head_view", data, f"Head view {trace.model}")


def _view(name: str, data: bytes, title: str) -> View:
    return View(standalone_page(name, data, title, "", facts={"headscope": VERSION}))


def _trace_of(attention: Any, tokens: Sequence[str]) -> Trace:  # noqa: ANN401
    """A trace with this attention, whose queries and keys are zero."""
    count = len(tokens)
    tensors = (
        each.detach().float().cpu() if hasattr(each, "detach") else each for each in attention
    )
    layers = [np.asarray(each, dtype=np.float32) for each in tensors]
    layers = [each[0] if each.ndim == 4 and len(each) == 1 else each for each in layers]
    shapes = {each.shape for each in layers}
    if len(shapes) != 1 or not count or {each[1:] for each in shapes} != {(count, count)}:
        wanted = f"(head, {count}, {count}), with as many heads in all"
        raise ValueError(f"layers are {sorted(shapes)}; with {count} tokens, each must be {wanted}")
    weights = np.stack(layers)
    if not (weights.min() >= 0 and weights.max() <= 1 + 1e-3):
        raise ValueError("attention must lie between 0 and 1, as it does after softmax")
    with np.errstate(divide="ignore"):
        own = tuple(_Known(1.0, mask) for mask in np.log(weights))
    zeros = np.zeros((*weights.shape[:3], 1), dtype=np.float32)
    named = tuple(Token(each, each, 0, False, 0, at, at) for at, each in enumerate(tokens))  # noqa: FBT003
    return Trace("", named, zeros, zeros, zeros, own, causal=not np.triu(weights, 1).any())
