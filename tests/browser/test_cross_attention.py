"""Cross attention in the three views: a short text on the left, a longer one on the right."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import expect

from core.model import load, trace_text
from core.vocabulary import labels_of
from tests.browser.conftest import Open, follow

if TYPE_CHECKING:
    from pathlib import Path

    from core.model import Trace

WORDS, TARGET = "The cat sat on the mat, and slept.", "Where is it"
WHE, LAST = 2, 19  # positions from 0: of a query, and of a key where there is no query


@pytest.fixture(scope="module")
def folder(answering_bart: Path) -> str:
    return str(answering_bart)


@pytest.fixture(scope="module")
def trace(folder: str) -> Trace:
    return trace_text(load(folder), WORDS, target=TARGET).of_type("cross")


@pytest.fixture(scope="module")
def link(folder: str) -> str:
    texts = f"text={quote(WORDS)}&decoder={quote(TARGET)}"
    return f"model={quote(folder, safe='')}&{texts}&attention=cross"


def test_the_head_view_reads_the_weights_of_each_column(
    goto: Open, link: str, trace: Trace
) -> None:
    page = goto(f"/head_view?{link}&layer=2&heads=3")
    weights = trace.attention(1, 2)
    columns = [page.locator(f".column.{side} .token") for side in ("queries", "keys")]
    for column, tokens in zip(columns, (trace.tokens, trace.key_tokens), strict=True):
        expect(column).to_have_text(list(labels_of(tokens)))
    columns[0].nth(WHE).hover()
    best = int(weights[WHE].argmax())
    sentence = page.locator(".sentence")
    strongest = f"{trace.key_tokens[best].display} {weights[WHE, best]:.3f}"
    expect(sentence).to_contain_text(f"Whe attends to {strongest}")
    columns[1].nth(LAST).click()
    most = trace.tokens[int(weights[:, LAST].argmax())].display
    expect(sentence).to_contain_text(f"</s> gets {weights[:, LAST].max():.3f} from {most}")
    follow(page, f"to={LAST + 1}(&|$)")
    columns[0].nth(WHE).hover()
    tip = page.locator(".tip")
    expect(tip).to_contain_text(f"Whe → {trace.key_tokens[LAST].display}")
    expect(tip).to_contain_text(f"{weights[WHE, LAST]:.5f}"[:6])
    columns[1].nth(1).focus()
    page.keyboard.press("Delete")
    follow(page, "without_keys=2(&|$)")
    expect(columns[1]).to_have_count(19)
    expect(columns[0]).to_have_count(7)


def test_a_tile_of_the_model_view_names_both_lists_and_opens_its_head(
    goto: Open, link: str, trace: Trace
) -> None:
    page = goto(f"/model_view?{link}")
    weights = trace.attention(0, 1)
    query, key = (int(each) for each in np.unravel_index(weights.argmax(), weights.shape))
    cell = page.locator('.cell[data-row="0"][data-column="1"]')
    names = f"{trace.tokens[query].display} to {trace.key_tokens[key].display}"
    label = f"Layer 1, head 2. Strongest pair: {names}, {weights[query, key]:.3f}"
    expect(cell).to_have_attribute("aria-label", label)
    cell.hover()
    expect(page.locator(".panel .from").first).to_have_text(trace.tokens[query].display)
    expect(page.locator(".panel .to").first).to_have_text(trace.key_tokens[key].display)
    cell.click()
    follow(page, r"head_view\?.*attention=cross")
    expect(page.locator(".column.keys .token")).to_have_count(20)


def test_a_row_of_the_neuron_view_takes_a_pair_of_both_lists_apart(
    goto: Open, link: str, trace: Trace
) -> None:
    page = goto(f"/neuron_view?{link}&layer=2&head=3&query={WHE + 1}")
    expect(page.locator(".row")).to_have_count(20)
    row = page.locator(f'.row[aria-rowindex="{LAST + 3}"]')
    expect(row.locator(".asking")).to_have_text("")
    scores, weights = trace.scores(1, 2)[WHE], trace.attention(1, 2)[WHE]
    row.locator(".label").click()
    follow(page, f"key_token={LAST + 1}(&|$)")
    score = f"{scores[LAST]:.2f}".replace("-", "−")
    numbers = f"score {score}, attention {weights[LAST]:.3f}"
    expect(page.locator(".sentence")).to_contain_text(f"Whe → {trace.key_tokens[LAST].display}")
    expect(page.locator(".sentence")).to_contain_text(numbers)
    page.locator('.row[aria-rowindex="9"] .asking').click()
    follow(page, "query=7(&|$)")
    expect(page.locator(".asked .q")).to_have_text("it")
