"""Views as files: what their pages would send, and a note of what they report."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import pytest

from core.analysis.attention_table import attention_table
from core.analysis.layer_payload import LayerPayload
from core.analysis.model_map import model_map
from core.analysis.neuron import read_head
from core.analysis.strongest_link import FoundLink, find_link, strongest_links
from core.components.arcs import ArcsView, pack_arcs
from core.components.export import standalone_page
from core.components.head_view import ATTENTION, HeadView, pack_head_view
from core.components.model_view import Appearance, view_data
from core.components.neuron_view import NeuronState, packed
from core.components.patches import PatchesView, pack_patches
from core.components.points import Arrow, show_planes
from core.components.table import Cells, show_table
from core.figures.palette import palette, token_colours
from core.model.bundled import first
from tests.analysis.traces import random_trace, spelled

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray
    from playwright.sync_api import Page

    from core.analysis.attention_table import Values
    from core.model.trace import Token, Trace

_IGNORE = "const ignore = () => {}"
_NOTE = """window.told = []
const ignore = (_, { at, serial, ...report }) => window.told.push(report)"""
BOOK = first.first_of(first.TEXT).trace  # of "Oh, this book? I've enjoyed it.", as pages draw it
WEIGHTS = BOOK.attention(3, 1)
NAMES = [token.display for token in BOOK.tokens]
IT, BOOK_AT = 10, 4  # positions from 0
_IS_TOLD = """(part) => Object.entries(part).every(
  ([name, value]) => JSON.stringify(window.told.at(-1)?.[name]) === JSON.stringify(value)
)"""


def trace_of(
    tokens: str | tuple[Token, ...], layers: int = 2, heads: int = 3, dim: int = 8
) -> Trace:
    """Random attention between these tokens; a text is spelled, between [CLS] and [SEP]."""
    if isinstance(tokens, str):
        tokens = spelled(f"[CLS] {tokens} [SEP]")
    return replace(random_trace(5, layers, heads, len(tokens), dim), tokens=tokens)


def file_of(name: str, data: bytes) -> str:
    """A component as its page shows it, which notes what it reports."""
    page = standalone_page(name, data, "Title", "A note")
    assert _IGNORE in page
    return page.replace(_IGNORE, _NOTE).replace("standalone: true", "standalone: false")


def told(page: Page) -> list[dict[str, Any]]:
    """What the view has reported so far."""
    reports: list[dict[str, Any]] = page.evaluate("window.told")
    return reports


def await_report(page: Page, **part: object) -> None:
    """Wait until the last report holds this."""
    page.wait_for_function(_IS_TOLD, arg=part)


def table_file(
    trace: Trace, layer: int = 0, head: int = 0, values: Values = "attention", **cells: Any
) -> str:
    table = attention_table(trace, layer, head, values=values)
    return file_of("table", sent_by(show_table, table, cells=Cells(**cells), on_hold=print))


def head_view_file(
    trace: Trace, found: FoundLink | None = None, pinned: Sequence[int] = (), **view: Any
) -> str:
    """All layers, with a query `pinned`; `view` is what differs from all lines of the last one."""
    labels = trace.layer_labels
    usual = {"layer": str(labels[-1]), "heads": [], "pairs": "all", "weigh": ATTENTION.value}
    facts = HeadView(
        {**usual, "hide": False, "from": [*pinned], "to": [], **view},
        1,
        [ATTENTION],
        {theme: token_colours(trace.shape[1], theme) for theme in ("light", "dark")},
        None if found is None else asdict(found) | {"layer": labels[found.layer]},
    )
    layers = {layer: LayerPayload.drawn(trace, layer) for layer in range(trace.shape[0])}
    return file_of("head_view", pack_head_view(trace, layers, ATTENTION.value, facts))


def model_view_file(trace: Trace, **look: Any) -> str:
    shown = model_map(trace)
    assert shown is not None
    return file_of("model_view", view_data(shown, trace, Appearance(**look)))


def neuron_view_file(trace: Trace, layer: int, head: int, query: int | None, **state: Any) -> str:
    one, payload = read_head(trace, layer, head), LayerPayload.of(trace, layer, head)
    data = packed(one, payload, trace.tokens, trace.source, NeuronState(query, **state), 1)
    return file_of("neuron_view", data)


def arcs_file(trace: Trace) -> str:
    found = find_link(trace)
    assert found is not None
    view = {"layer": str(found.layer + 1), "head": found.head + 1, "cell": []}
    layers = {layer: LayerPayload.of(trace, layer) for layer in range(trace.shape[0])}
    facts = ArcsView(view, 1, found, ", as Home says.", strongest_links(trace))
    return file_of("arcs", pack_arcs(trace, layers, facts))


def planes_file(points: NDArray[Any], labels: Sequence[str], held: Sequence[int] = ()) -> str:
    arrows = [Arrow(label, "#117766", label) for label in labels]
    titles = [f"Layer {plane + 1}" for plane in range(len(points))]
    shares = ["50 %"] * len(points)
    sent = sent_by(show_planes, points, arrows, titles, shares, held=held, on_pick=print)
    return file_of("points", sent)


def patches_file(trace: Trace, **view: Any) -> str:
    usual = {"layer": "2", "head": "3", "patch": "none", "direction": "from", "only_patches": False}
    patches, both = trace.patches, palette("dark")
    assert patches is not None
    layers = {layer: LayerPayload.of(trace, layer) for layer in range(trace.shape[0])}
    heat = {"from": both.key, "to": both.query}
    facts = PatchesView(usual | view, 1, patches.first + 3, heat)
    return file_of("patches", pack_patches(trace, layers, facts))


def sent_by(show: Callable[..., None], *given: Any, **named: Any) -> bytes:
    """What a component is sent by the function that shows it."""
    sent: list[bytes] = []
    with pytest.MonkeyPatch.context() as patch:
        name = show.__module__.rpartition(".")[2]
        patch.setattr(f"{show.__module__}._{name}", lambda **all: sent.append(all["data"]))
        show(*given, key=name, **named)
    return sent[0]
