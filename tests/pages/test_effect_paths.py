"""Where a token comes from: what the page says, which token it follows, and what it refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import core.analysis.rollout
from core.analysis.rollout import as_many_paths, follow_paths, uniform_mixing
from core.model import load, trace_text
from core.model.weights.mixing import token_mixing
from tests.opening import open_app
from tests.pages.conftest import BOOK, alerts, said, sent
from tests.rounding import assert_same_shares

if TYPE_CHECKING:
    from tests.conftest import FolderOf

MINILM = "bundled/minilm"


def test_the_answer_and_the_lines_are_those_of_the_analysis() -> None:
    token = 11
    app = open_app("effect", text=BOOK, part="paths", token=str(token))
    model = load(MINILM)
    trace = trace_text(model, BOOK)
    mixing = token_mixing(model, trace)
    assert mixing is not None
    paths = follow_paths(mixing, token - 1)
    control = as_many_paths(uniform_mixing(trace, mixing), token - 1, paths.count)
    assert control.count >= paths.count > 0
    assert f"the {paths.count} lines drawn account for {100 * paths.accounted:.0f} %" in said(app)
    beside = f"under uniform attention {control.count} lines: {100 * control.accounted:.0f} %"
    assert beside in said(app)
    first = int(np.argmax(paths.relevance[0]))
    name = "itself" if first == token - 1 else f"`{trace.tokens[first].display}`"
    shown = f"comes from {name} ({100 * paths.relevance[0, first]:.0f} %)"
    assert f"**`{trace.tokens[token - 1].display}` {shown}" in said(app)
    data = sent(app, "paths")
    assert data["target"] == token - 1
    edges = np.reshape(data["edges"], (-1, 3)).astype(int)
    assert [tuple(each) for each in edges] == [tuple(each) for each in np.argwhere(paths.kept)]
    assert_same_shares(data["flows"], paths.flows[paths.kept], trace)
    assert_same_shares(data["relevance"], paths.relevance.ravel(), trace)


def test_where_no_line_can_be_drawn_no_share_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core.analysis.rollout, "LINES", 0)
    app = open_app("effect", text=BOOK, part="paths", token="10")
    assert sent(app, "paths")["edges"].size == 0
    assert "strongest flows form no whole path" in said(app)
    assert "lines drawn account for" not in said(app)


def test_it_follows_the_held_query_then_the_word_that_home_names() -> None:
    assert sent(open_app("effect", text=BOOK, part="paths"), "paths")["target"] == 10  # it
    app = open_app("effect", text=BOOK, part="paths", cell="10,5")
    assert sent(app, "paths")["target"] == 9
    app = open_app("effect", text=BOOK, part="paths", cell="10,5", token="3")
    assert sent(app, "paths")["target"] == 2
    app.session_state["text"] = "It rains in the north."
    app.run()
    assert app.session_state["token"] == []
    assert alerts(app) == ""


def test_a_link_to_a_token_that_is_not_there_is_reported() -> None:
    app = open_app("effect", text=BOOK, part="paths", token="99")
    assert "some of it is not in this text" in alerts(app)
    assert sent(app, "paths")["target"] == 10


def test_what_cannot_be_followed_is_said(folder_of: FolderOf) -> None:
    app = open_app("effect", model=str(folder_of("gemma2")), text="it rains", part="paths")
    assert "Where a token comes from cannot be said for this model" in said(app)
    assert alerts(app) == ""
