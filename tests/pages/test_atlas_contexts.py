"""Contexts of a head on the atlas page, in process."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.atlas.one_head import draw_sentences
from core.model import load, trace_text
from core.screens.atlas.head import contexts
from tests.pages.atlases import LINES, opened, small
from tests.pages.conftest import pick, said

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.atlas import Atlas
    from core.components.contexts import ContextGroup

pytestmark = pytest.mark.slow


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[ContextGroup]]:
    """The contexts of every report that was drawn."""
    drawn: list[Sequence[ContextGroup]] = []
    monkeypatch.setattr(contexts, "show_contexts", lambda groups, **_: drawn.append(groups))
    return drawn


@pytest.mark.usefixtures("clouds")
def test_there_are_contexts_of_every_tenth_with_the_models_own_attention(
    shown: list[Sequence[ContextGroup]],
) -> None:
    app = opened(small(), part="one", layer="4", head="2")
    assert not shown
    app.toggle(key="dossier").set_value(True).run()
    assert not app.exception
    assert app.query_params["dossier"] == "1"
    groups = shown[-1]
    assert [group.title.split(":")[0].split(",")[0] for group in groups] == [
        f"Decile {number}" for number in range(10, 0, -1)
    ]
    for context in groups[0].contexts:
        trace = trace_text(load("bundled/minilm"), LINES[context.number - 1])
        assert list(context.tokens) == [token.display for token in trace.tokens]
        np.testing.assert_allclose(context.weights, trace.attention(3, 1)[context.query], atol=1e-5)
    assert re.search(r"; 2 of [\d,]+ contexts from each tenth", said(app))


@pytest.mark.usefixtures("clouds")
def test_sentences_are_run_once_for_all_heads(
    monkeypatch: pytest.MonkeyPatch, shown: list[Sequence[ContextGroup]]
) -> None:
    runs = []

    def counted(atlas: Atlas) -> list[int]:
        runs.append(atlas)
        return draw_sentences(atlas)

    monkeypatch.setattr(contexts, "draw_sentences", counted)
    app = opened(small(), part="one", dossier="1")
    pick(app, head="5")
    pick(app, layer="2")
    assert len(shown) == 3
    assert len(runs) == 1
