"""The neuron view's queries: pointed at, kept, all at once, of a pair of sentences."""

from __future__ import annotations

from urllib.parse import quote

from numpy.testing import assert_allclose
from playwright.sync_api import Page, expect

from core.model import load, trace_text
from core.vocabulary import labels_of
from tests.browser.conftest import TEXT, Open, count_messages, follow, reload, settle
from tests.browser.test_neuron_view import BOOK, asking, numbers, row

LEAVES, COLOURS = "leaves fall in autumn", "autumn is marked by colorful foliage"
PAIR = f"/neuron_view?text={quote(LEAVES)}&pair={quote(COLOURS)}&layer=3&head=5"
ALL = f"{BOOK}&query=all"


def drawn(page: Page) -> str:
    """Which queries have their lines drawn, once they are."""
    lines = page.locator("canvas.lines")
    expect(lines).not_to_have_attribute("data-drawn", "no")
    return str(lines.get_attribute("data-drawn"))


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
    of_all = trace.attention(2, 4)[1]
    assert int(of_all.argmax()) not in sides[1]  # it is left out
    name = labels_of(trace.tokens)[int(of_all.argmax())]
    expect(page.locator(".sentence")).to_contain_text(
        f"leaves → {strongest} (the strongest of those shown; {name} has {of_all.max():.3f})"
    )
    page.get_by_role("button", name="B→B").click()  # leaves is left out: the query is let go
    page.wait_for_url(lambda url: {"query=all", "filter=bb"} <= set(url.split("&")))
    settle(page)
    assert drawn(page) == "all"
