"""Words that look like a page: words in every view and on every page, on a phone too."""

from __future__ import annotations

import json
from urllib.parse import urlencode

import numpy as np
import pytest
from playwright.sync_api import expect

from core.analysis.rollout import follow_paths
from core.components.contexts import Context, ContextGroup, show_contexts
from core.components.paths import show_paths
from core.ui.words.pages import TEXT_PAGES
from tests.analysis.traces import plain_tokens, random_weights
from tests.browser import views
from tests.browser.conftest import Open
from tests.browser.views import file_of, sent_by, trace_of
from tests.looks.visit import wait_until_drawn
from tests.opening import visits

HOSTILE = "</script><img src=x onerror=alert(1)>"
WORDS = (HOSTILE, "$x$", ":red[x]", "مرحبا", "<b>it</b>")
TRACE = trace_of(plain_tokens(*WORDS))
PATHS = follow_paths(random_weights(3, 2, 1, 5)[:, 0], 0)
PATHS_FILE = file_of("paths", sent_by(show_paths, TRACE, PATHS, {}, on_pick=print))
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
    "paths": (PATHS_FILE, ".source >> nth=0", ".tip"),
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
BY_DAY = {"home", "anomalies"}
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


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(each.name, marks=[] if each.name in BY_DAY else [pytest.mark.nightly])
        for each in TEXT_PAGES
        if each.name != "atlas"
    ],
)
def test_hostile_text_is_words_on_every_page_that_scrolls_only_down(goto: Open, name: str) -> None:
    text = " ".join([*WORDS, "`code` ![](http://a.b/c.png) 😀 it it"])
    for link in (link for page, link in visits("text") if page == name and "source" not in link):
        page = goto(f"/{name}?{urlencode({**link, 'text': text})}", width=390, height=844)
        wait_until_drawn(page)
        expect(page.get_by_label("Text", exact=True)).to_have_value(text)
        main = page.get_by_test_id("stMain")
        made = "img[src], :not(.katex-display) > .katex, script, a[href*='a.b'], b:text('it')"
        assert main.locator(made).count() == 0  # the page's own formulas are displayed
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, link
        assert main.evaluate("node => node.scrollWidth - node.clientWidth") <= 0, link
