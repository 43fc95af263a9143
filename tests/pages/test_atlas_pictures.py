"""The atlas's pictures in process: lines of attention, colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.model import load, trace_text
from tests.opening import open_app
from tests.pages.atlases import CAUSAL, LINES, opened, small
from tests.pages.conftest import pick, said

if TYPE_CHECKING:
    from core.components.points import AtlasCloud

SMALL = {"corpus": "sample", "budget": "1000"}


def named_lines(cloud: AtlasCloud) -> list[tuple[str, str, float]]:
    assert cloud.lines is not None
    return [
        (cloud.labels[int(query)], cloud.labels[int(key)], float(weight))
        for query, key, weight in cloud.lines
    ]


def test_lines_lead_from_every_query_of_the_sentence_to_its_two_most_attended_keys(
    clouds: list[AtlasCloud],
) -> None:
    app = opened(small(), part="one", layer="4", head="2", stage="normalized")
    assert clouds[-1].lines is None
    app.session_state["token"] = 5
    app.run()
    trace = trace_text(load("bundled/minilm"), LINES[0])
    attention = trace.attention(3, 1)
    names = [token.display for token in trace.tokens]
    expected = set()
    for query, row in enumerate(attention):
        for key in sorted(range(len(row)), key=lambda key: -row[key])[:2]:
            expected.add((names[query], names[key], round(float(row[key]), 5)))
    got = {(query, key, round(weight, 5)) for query, key, weight in named_lines(clouds[-1])}
    assert got == expected
    assert len(named_lines(clouds[-1])) == 2 * len(names)


def test_in_a_causal_model_the_first_token_has_one_line_to_itself(clouds: list[AtlasCloud]) -> None:
    open_app("atlas", **SMALL, model=CAUSAL, part="one", token="1")
    lines = clouds[-1].lines
    assert lines is not None
    assert [line for line in lines.tolist() if line[0] == 0] == [[0, 0, 1.0]]
    assert (lines[:, 1] <= lines[:, 0]).all()


def test_where_the_model_is_not_offered_the_page_says_why_there_are_no_lines(
    clouds: list[AtlasCloud], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADSCOPE_MODELS", CAUSAL)
    app = opened(small(), part="one", token="5")
    assert clouds[-1].lines is None
    assert said(app).count("`bundled/minilm`, which this site does not offer") == 1
    assert not app.dataframe


def test_lines_follow_the_head_and_stay_within_the_sentence(clouds: list[AtlasCloud]) -> None:
    app = opened(small(), part="one", layer="4", head="2", token="14")
    before = named_lines(clouds[-1])
    pick(app, layer="3")
    assert (clouds[-1].title, app.query_params["layer"]) == ("L3 H2", "3")
    assert named_lines(clouds[-1]) != before
    sentences = np.array(clouds[-1].sentence)
    ends = np.asarray(clouds[-1].lines)[:, :2].astype(int)
    assert set(sentences[ends].ravel().tolist()) == {1}
