"""Views of a notebook as files."""

from __future__ import annotations

import numpy as np
from playwright.sync_api import expect

from core.notebook import head_view
from tests.browser.conftest import Open
from tests.browser.test_head_view import drawn, token


def test_the_head_view_of_anybodys_arrays_reads_their_weights_in_every_layer(
    open_file: Open,
) -> None:
    weights = np.full((2, 1, 2, 2), 0.5)
    weights[1, 0, 0] = 0.25, 0.625  # no more than these, as where tokens were left out
    page = open_file(head_view(weights, ["<b>", "cat"], layer=1).page)
    for layer, read in ((2, "<b> attends to cat 0.625 · <b> 0.250"), (1, "<b> 0.500")):
        drawn(page, layer)
        token(page, "queries", 0).hover()
        expect(page.locator(".sentence")).to_contain_text(read)
        page.mouse.move(5, 5)
        page.get_by_label("Previous layer").click()
