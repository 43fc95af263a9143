"""Views in notebooks, of traces and of anybody's arrays."""

from __future__ import annotations

import html
import re

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from core import notebook
from core.analysis.attention_table import attention_table
from core.notebook import head_view, model_view
from tests.analysis.traces import random_trace

WORDS = ["<script>", "cat", "slept"]
WEIGHTS = np.random.default_rng(0).dirichlet(np.ones(3), size=(2, 4, 3)).astype(np.float32)


def test_arrays_tensors_and_lists_of_layers_give_the_same_view() -> None:
    tensors = [torch.tensor(each[None], requires_grad=True) for each in WEIGHTS]
    for draw in (head_view, model_view):
        (page,) = {draw(each, WORDS).page for each in (WEIGHTS, torch.tensor(WEIGHTS), tensors)}
        assert page != draw(WEIGHTS[:, ::-1], WORDS).page


def test_weights_are_drawn_as_they_are_even_where_rows_do_not_add_up_to_one() -> None:
    part = np.tril(WEIGHTS * np.float32(0.5))
    trace = notebook._trace_of(part, WORDS)
    np.testing.assert_allclose(trace.attention(), part, rtol=1e-6)
    assert trace.causal


@pytest.mark.parametrize(
    ("attention", "says"),
    [
        (WEIGHTS[0], r"\(3, 3\).*each must be \(head, 3, 3\)"),
        ([WEIGHTS[0], WEIGHTS[1, :2]], "as many heads"),
        ([], "with 3 tokens"),
        (WEIGHTS * np.float32(np.nan), "between 0 and 1"),
    ],
)
def test_what_does_not_fit_is_named(attention: NDArray[np.float32], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        head_view(attention, WORDS)


def test_traces_and_tables_show_themselves_in_a_frame() -> None:
    trace = random_trace(5, 2, 3, 4, 8)
    for shown in (trace, attention_table(trace, 0, 0)):
        (page,) = re.findall(r'^<iframe srcdoc="([^"]*)" sandbox=', shown._repr_html_())
        assert html.unescape(page).startswith("<!doctype html>")
