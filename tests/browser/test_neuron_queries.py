"""The neuron view's queries: pointed at, kept, all at once, of a pair of sentences; its scripts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np
import pytest
from numpy.testing import assert_allclose
from playwright.sync_api import Page, expect

from core.model import load, trace_text
from tests.browser.conftest import TEXT, Open, count_messages, follow, reload, settle
from tests.browser.scripts import as_globals
from tests.browser.test_neuron_view import BOOK, asking, numbers, row, true_minus

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from playwright.sync_api import Browser

LEAVES, COLOURS = "leaves fall in autumn", "autumn is marked by colorful foliage"
PAIR = f"/neuron_view?text={quote(LEAVES)}&pair={quote(COLOURS)}&layer=3&head=5"
ALL = f"{BOOK}&query=all"
SENTENCE = re.compile(
    r"The (?:(\d+) )?largest\D* of 12 \D+ ([−\d.]+), within 10 % of ([−\d.]+), and .*there\.$"
)


def drawn(page: Page) -> str:
    """Which queries have their lines drawn, once they are."""
    lines = page.locator("canvas.lines")
    expect(lines).not_to_have_attribute("data-drawn", "no")
    return str(lines.get_attribute("data-drawn"))


def evaluate(browser: Browser, script: str, argument: object, body: str) -> Any:
    """What a function body gives in the browser, with these scripts and `given`."""
    page = browser.new_page()
    try:
        code = as_globals("neuron_view/numbers", *([script] if script else []))
        return page.evaluate(f"(given) => {{ {code}\n{body} }}", argument)
    finally:
        page.close()


def plain(array: NDArray[np.float32]) -> list[float]:
    values: list[float] = array.ravel().tolist()
    return values


def test_pointing_at_a_query_takes_it_apart_without_asking_the_server(goto: Open) -> None:
    trace = trace_text(load("bundled/minilm"), TEXT)
    page = goto(ALL)
    assert drawn(page) == "all"
    assert numbers(page, 4) == ["", "", ""]
    address = page.url
    sent = count_messages(page)
    before = page.locator(".body").bounding_box()
    for query in (3, 10):
        asking(page, query).hover()
        expect(page.locator(".asked .q")).to_have_text(trace.tokens[query].display)
        assert drawn(page) == str(query + 1)
        weights = [float(numbers(page, key)[-1]) for key in range(13)]
        assert_allclose(weights, trace.attention(3, 1)[query], atol=6e-4)
    row(page, 4).locator(".weight").hover()  # it stays while its cells are read
    expect(page.locator(".tip")).to_contain_text("attention 0.93")
    expect(page.locator(".asked .q")).to_have_text("it")
    assert page.locator(".body").bounding_box() == before  # nothing moves under the mouse
    assert sent() == 0
    assert page.url == address
    page.mouse.move(5, 5)
    expect(page.locator(".asked")).to_have_text("all queries")
    assert drawn(page) == "all"


def test_a_click_or_enter_keeps_a_query_and_another_click_or_escape_lets_it_go(goto: Open) -> None:
    page = goto(ALL)
    query = page.locator(".asked .q")
    asking(page, 10).click()
    follow(page, "query=11&")
    asking(page, 3).hover()  # shown for as long as it is pointed at
    expect(query).to_have_text("this")
    row(page, 4).locator(".weight").hover()
    expect(query).to_have_text("it")
    asking(page, 10).click()
    follow(page, "query=all&")
    page.mouse.move(5, 5)
    assert drawn(page) == "all"
    expect(page.get_by_role("combobox", name="Query token")).to_have_value("all at once")

    reload(page)
    grid = page.get_by_role("grid")
    grid.focus()
    for _ in range(4):
        grid.press("ArrowDown")
    expect(query).to_have_text("this")
    grid.press("Enter")
    follow(page, "query=4&")
    grid.focus()
    grid.press("Escape")
    follow(page, "query=all&")


def test_pairs_leave_the_tokens_of_one_sentence_on_each_side(goto: Open) -> None:
    trace = trace_text(load("bundled/minilm"), LEAVES, COLOURS)
    page = goto(f"{PAIR}&query=2")
    expect(page.locator(".row .label")).to_have_count(len(trace.tokens))
    page.get_by_role("button", name="A→B").click()
    follow(page, "filter=ab")
    sides = [[t.position for t in trace.tokens if t.segment == side] for side in (0, 1)]
    labels = page.locator(".row .label").all_inner_texts()
    queries = [text for text in page.locator(".row .asking").all_inner_texts() if text]
    assert [len(queries), len(labels)] == [len(side) for side in sides]
    assert (queries[1], labels[5]) == ("leaves", "foliage")
    weights = [float(numbers(page, key)[-1]) for key in range(len(sides[1]))]
    assert_allclose(weights, trace.attention(2, 4)[1, sides[1]], atol=6e-4)
    strongest = labels[int(trace.attention(2, 4)[1, sides[1]].argmax())]
    expect(page.locator(".sentence")).to_contain_text(f"leaves → {strongest} (the strongest key)")
    expect(page.get_by_text("is left out counts but is not shown")).to_be_visible()
    page.get_by_role("button", name="B→B").click()  # leaves is left out: the query is let go
    page.wait_for_url(lambda url: {"query=all", "filter=bb"} <= set(url.split("&")))
    settle(page)
    assert drawn(page) == "all"


@pytest.mark.parametrize("kind", ["plain", "causal", "capped", "window", "added"])
def test_scores_and_softmax_are_those_of_the_definition(browser: Browser, kind: str) -> None:
    n, d = 6, 8
    draw = np.random.default_rng(3)
    q, k = draw.normal(size=(2, n, d)).astype(np.float32)
    later = np.triu(np.ones((n, n), dtype=bool), 1)
    allowed = ~later & ~np.tril(np.ones((n, n), dtype=bool), -3)
    added = np.where(later, -1e9, draw.normal(size=(n, n))).astype(np.float32)
    head: dict[str, Any] = {"q": plain(q), "k": plain(k), "tokens": n, "dim": d, "scaling": 0.3}
    head |= {"softcap": 0.8 if kind == "capped" else None, "causal": kind == "causal"}
    if kind == "window":
        head["allowed"] = allowed.astype(int).ravel().tolist()
    if kind == "added":
        head["mask"] = plain(added)
    weights = evaluate(
        browser,
        "",
        head,
        """for (const name of ["q", "k"]) given[name] = Float32Array.from(given[name])
        return [...Array(6).keys()].map((i) => [...scoreRow(given, i).weights])""",
    )
    scores = 0.3 * (q.astype(float) @ k.astype(float).T)
    scores = 0.8 * np.tanh(scores / 0.8) if kind == "capped" else scores
    masks = {"causal": np.where(later, -np.inf, 0), "window": np.where(allowed, 0, -np.inf)}
    powers = np.exp(scores + masks.get(kind, added if kind == "added" else 0))
    assert_allclose(weights, powers / powers.sum(axis=1, keepdims=True), atol=1e-12)


@pytest.mark.parametrize("chosen", [None, 2])
def test_lines_are_the_attention_of_all_queries_or_of_the_chosen_one(
    browser: Browser, chosen: int | None
) -> None:
    tokens, dim = 6, 4
    q, k = np.random.default_rng(7).normal(0, 2, size=(2, tokens, dim)).astype(np.float32)
    head: dict[str, Any] = {"tokens": tokens, "dim": dim, "scaling": 0.5, "causal": True}
    head |= {"q": plain(q), "k": plain(k)}
    every = list(range(tokens))
    lines = evaluate(
        browser,
        "neuron_view/drawing",
        {"head": head, "view": {"queries": every, "keys": every, "query": chosen}},
        """
        const lines = []
        let from
        const row = (y) => y / 10 - 0.5
        const pen = { beginPath() {}, moveTo(x, y) { from = y }, stroke() {},
          bezierCurveTo(...to) { lines.push([row(from), row(to[5]), this.globalAlpha]) } }
        const span = { first: 0, last: 6 }
        const layout = { lead: 100, asking: 50, gap: 5, row: 10 }
        drawQueries(pen, given.head, given.view, 0, span, layout, { strong: "blue" }, Infinity)
        return lines
        """,
    )
    scores = np.where(np.tri(tokens, dtype=bool), 0.5 * (q.astype(float) @ k.T), -np.inf)
    weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    expected = {
        (i, j): weights[i, j] ** 0.65
        for i, j in np.argwhere(weights >= 0.01).tolist()
        if chosen is None or i == chosen
    }
    drawn_lines = {(round(i), round(j)): alpha for i, j, alpha in lines}
    assert drawn_lines == pytest.approx(expected, rel=1e-4)


def test_a_long_text_draws_the_lines_that_end_in_view(browser: Browser) -> None:
    tokens = 40
    head: dict[str, Any] = {"tokens": tokens, "dim": 1, "scaling": 1, "causal": False}
    head |= {"q": [0.0] * tokens, "k": [0.0] * tokens}  # uniform attention, 0.025 each
    every = list(range(tokens))
    count = evaluate(
        browser,
        "neuron_view/drawing",
        {"head": head, "view": {"queries": every, "keys": every, "query": None}},
        """
        let count = 0
        const pen = { beginPath() {}, moveTo() {}, bezierCurveTo() {}, stroke() { count++ } }
        const layout = { lead: 100, asking: 50, gap: 5, row: 10 }
        drawQueries(pen, given.head, given.view, 0, { first: 10, last: 20 }, layout, {}, Infinity)
        return count
        """,
    )
    assert count == tokens**2 - 30**2  # all but those with both ends out of view


@pytest.mark.parametrize(
    ("products", "enough"),
    [([1, 6, 3], 2), ([-1, -6, -3], 2), ([10, -4, 1], 3), ([7], 1), ([3, -3], None), ([0], None)],
)
def test_dimensions_that_make_a_score_are_counted_as_the_page_says(
    browser: Browser, products: list[float], enough: int | None
) -> None:
    head = {"q": products, "k": [1] * len(products), "tokens": 1, "dim": len(products)}
    parts = evaluate(browser, "", head, "return contributionsOf(given, 0, 0)")
    assert parts["enough"] == enough
    assert parts["total"] == sum(products)


def test_the_sum_the_sentence_states_is_within_the_share_that_it_states(browser: Browser) -> None:
    draws = np.random.default_rng(3).normal(0.3, 1, size=(200, 12)).round(3).tolist()
    sentences = evaluate(
        browser,
        "neuron_view/words",
        draws,
        """
        return given.map((products) => {
          const head = { q: products, k: products.map(() => 1), tokens: 1, dim: products.length }
          return enoughWords(head, contributionsOf(head, 0, 0))
        })
        """,
    )
    above = 0
    for products, sentence in zip(draws, sentences, strict=True):
        stated = re.search(
            r"The (?:(\d+) )?largest\D* of 12 \D+ ([−\d.]+), within 10 % of ([−\d.]+),", sentence
        )
        assert stated is not None, sentence
        count, part, whole = int(stated[1] or 1), true_minus(stated[2]), true_minus(stated[3])
        ranked = sorted(products, key=abs, reverse=True)
        assert part == pytest.approx(sum(ranked[:count]), abs=0.0051)
        assert whole == pytest.approx(sum(products), abs=0.0051)
        sums = np.cumsum(ranked)
        assert (np.abs(sums[count - 1 :] - sums[-1]) <= 0.1 * abs(sums[-1]) + 1e-9).all()
        above += abs(part) > abs(whole)
    assert above > 20  # sums that exceed the whole: "90 %" would be false of them
