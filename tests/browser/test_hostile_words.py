"""Tokens that look like a page: words in every view, wherever the view shows them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
from playwright.sync_api import expect

from core.analysis.rollout import follow_paths
from core.components.contexts import Context, ContextGroup, show_contexts
from core.components.paths import PathsView, show_paths
from tests.analysis.traces import plain_tokens, random_weights
from tests.browser import views
from tests.browser.views import file_of, sent_by, trace_of

if TYPE_CHECKING:
    from tests.browser.conftest import Open

HOSTILE = "</script><img src=x onerror=alert(1)>"
WORDS = (HOSTILE, "$x$", ":red[x]", "مرحبا", "<b>it</b>")
TRACE = trace_of(plain_tokens(*WORDS))
PATHS = follow_paths(random_weights(3, 2, 1, 5)[:, 0], 0)
CONTEXT = Context(WORDS, np.full(5, 0.2), 0, 1, 7)
CHIPS = [
    {"label": each, "text": each, "id": 1, "special": False, "segment": 0, "word": i}
    for i, each in enumerate(WORDS)
]
# Of each view: its file, what is pointed at in it, and what then shows the first word.
VIEWS = {
    "table": (views.table_file(TRACE), ".cell >> nth=1", ".sentence"),
    "head view": (
        views.head_view_file(TRACE, pinned=[1]),
        ".keys .token >> nth=0",
        ".tip, .sentence",
    ),
    "model view": (views.model_view_file(TRACE), ".cell >> nth=2", ".panel .pairs"),
    "neuron view": (views.neuron_view_file(TRACE, 0, 0, 0), ".row .weight >> nth=0", ".tip"),
    "arcs": (views.arcs_file(TRACE), ".word >> nth=0", ".claim"),
    "planes": (
        views.planes_file(np.vstack([np.zeros((1, 2)), np.eye(2), -np.eye(2)])[None], WORDS),
        "canvas",
        ".tip",
    ),
    "paths": (
        file_of("paths", sent_by(show_paths, PathsView(TRACE, PATHS, {}), on_pick=print)),
        ".source >> nth=0",
        ".tip",
    ),
    "contexts": (
        file_of("contexts", sent_by(show_contexts, [ContextGroup(HOSTILE, [CONTEXT])])),
        "body",
        "body",
    ),
    "chips": (
        file_of("chips", b"").replace(
            "data: bytes", "data: " + json.dumps(CHIPS).replace("<", "\\u003c")
        ),
        ".chip >> nth=0",
        ".chip",
    ),
}
IS_WHOLE = """nodes => nodes.every((node) => node.getBoundingClientRect().right <= 390
  && (node.className !== "chip" || node.scrollWidth <= node.clientWidth + 1))"""


def test_hostile_tokens_are_words_in_every_view_and_none_is_cut(open_file: Open) -> None:
    for name, (text, target, shown) in VIEWS.items():
        page = open_file(text, width=390)
        page.locator(target).first.hover(force=True)
        expect(page.locator(shown).filter(has_text=HOSTILE).first, name).to_be_visible()
        assert page.locator("img, b:text('it')").count() == 0, name
        for part in (".chip", ".weight", ".vector", ".word", ".square"):
            assert page.locator(part).evaluate_all(IS_WHOLE), (name, part)
