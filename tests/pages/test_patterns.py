"""The head patterns page in process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.model import load, trace_text
from core.screens.patterns import corpus as corpus_source
from core.ui import corpus_walk
from tests.opening import open_app
from tests.pages.conftest import SENTENCES, alerts, said

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd
    from streamlit.testing.v1 import AppTest

    from core.model import LoadedModel, Trace

pytestmark = pytest.mark.usefixtures("small_corpora")


def table(app: AppTest) -> pd.DataFrame:
    return next(frame.value for frame in app.dataframe if "above threshold" in frame.value)


# ---- every part -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("score", "caption"),
    [
        ("class", "Letters are the most specific pattern"),
        ("previous", "The uniform baseline is 0.08."),
        ("distance", "The uniform baseline is 4.31 tokens."),  # (n² − 1) / 3n
        ("entropy", "The uniform baseline is 1.00."),
        ("same_token", "Not defined here. No token occurs twice in this text."),
    ],
)
def test_the_map_is_coloured_by_pattern_or_by_a_score(score: str, caption: str) -> None:
    assert caption in said(open_app("patterns", score=score))


# ---- one text ---------------------------------------------------------------------------------


def test_minilms_previous_token_head_is_named_with_its_score_and_baseline() -> None:
    app = open_app("patterns", layer="1", head="3")
    text = said(app)
    assert "L1 H3: previous token." in text
    assert "to the token before (threshold 0.50, uniform baseline 0.08): 1.00 of the way" in text
    row = table(app).iloc[2]
    assert (row["head"], row["pattern"]) == ("L1 H3", "previous token")
    assert row["previous"] > 0.99
    assert table(app)["other_sentence"].isna().all()
    for word in (" bar ", "narrowest", "even head", "evenly", "chance", "confidence 0"):
        assert word not in text.lower()


def test_look_at_this_head_opens_it() -> None:
    app = open_app("patterns", layer="2", head="9")
    app.button(key="patterns_look").click().run()
    assert "L2 H9: next token." in said(app)
    state = {"part": "one", "layer": "2", "head": "9"}
    assert state.items() <= app.query_params.items()


def test_rollout_and_the_mean_are_shown_with_their_share_of_the_first_token() -> None:
    app = open_app("patterns", part="one", whole="rollout")
    share = "Rollout gives **0.65** to the first token: the mean over 13 of 13 tokens."
    assert f"{share} Uniform baseline: 0.08." in said(app)
    assert "Mean of everything" in said(open_app("patterns", part="one", whole="mean"))


def test_the_mathematics_names_the_patterns_in_order_and_what_is_ours() -> None:
    text = " ".join(said(open_app("patterns")).split())
    order = (
        "previous token (0.5), next token (0.5), induction (0.5), same token elsewhere (0.5),"
        " itself (0.5), first token (0.5),"
    )
    last = (
        "[SEP] and other special tokens (0.6), full stops, commas (0.6), other sentence (0.5),"
        " broad (0.78)."
    )
    assert f"over at least 6 query tokens: {order} {last}" in text
    assert r"above 3.8 nats on 128 tokens, which is 0.78 of $\ln 128$" in text
    assert 3.8 / np.log(128) == pytest.approx(0.783, abs=1e-3)
    assert "the sum of the three delimiters, which is shown but names no head" in text


def test_on_a_long_text_the_answer_is_no_hint() -> None:
    assert "13 tokens: a hint." in said(open_app("patterns"))
    assert "a hint" not in said(open_app("patterns", text="the book and the cat " * 10))


@pytest.mark.parametrize("words", [9, 10])
def test_a_text_that_is_too_short_names_no_pattern_and_says_so(words: int) -> None:
    """Ten words and two special tokens are twelve; one word fewer is too short."""
    text = "the old cat saw a small dog near the house"
    text = text if words == 10 else text.removesuffix(" house")
    app = open_app("patterns", text=text, layer="1", head="3")
    short = words == 9
    assert ("**Too short to say.** Your text (11 tokens)" in alerts(app)) is short
    assert ("L1 H3: too short to say." in said(app)) is short
    assert ("heads follow a pattern**" in said(app)) is not short
    assert (set(table(app)["pattern"]) == {"too short to say"}) is short
    assert table(app)["previous"].iloc[2] > 0.9


def test_a_pattern_with_too_few_query_tokens_names_no_head() -> None:
    app = open_app("patterns", text="it was late and then it rained on the old roof")
    assert "same token elsewhere (2 of 6)" in said(app)
    assert "same token elsewhere" not in set(table(app)["pattern"])


# ---- the sample corpus ------------------------------------------------------------------------


@pytest.mark.slow
def test_the_corpus_is_measured_once_sentence_by_sentence_with_intervals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sentences = (*SENTENCES, "A sentence of this test.")
    monkeypatch.setattr(corpus_source, "sample_sentences", lambda: sentences)
    counted: list[int] = []
    monkeypatch.setattr(corpus_walk, "trace_by_length", counting(counted))
    app = open_app("patterns", source="corpus", layer="1", head="3")
    traces = [trace_text(load("bundled/minilm"), sentence) for sentence in sentences]
    tokens = sum(len(trace.tokens) for trace in traces)
    assert f"the sample corpus (6 sentences, {tokens:,} tokens)" in said(app)
    assert "95 % interval 1.00 to 1.00" in said(app)
    assert "100 % of the resamples gave the same pattern" in said(app)
    assert table(app)["stability"].notna().all()
    assert f"sentences, {tokens} tokens). Stress" in said(
        open_app("patterns", source="corpus", part="alike")
    )
    assert sorted(counted) == list(range(6))


@pytest.mark.slow
def test_cancel_leaves_the_corpus(monkeypatch: pytest.MonkeyPatch) -> None:
    sentences = tuple(f"{sentence} Indeed." for sentence in SENTENCES)
    monkeypatch.setattr(corpus_source, "sample_sentences", lambda: sentences)
    monkeypatch.setattr(corpus_walk, "trace_by_length", counting([], stop_after=3))
    app = open_app("patterns", source="corpus")  # stops by itself, as a click stops a run
    app.button(key="patterns_cancel").click().run()
    assert app.query_params["source"] == "text"
    assert "44 of 72 heads follow a pattern" in said(app)


def counting(
    counted: list[int], stop_after: int = 99
) -> Callable[..., Iterator[tuple[int, Trace]]]:
    """Stands in for trace_by_length; notes each text, and may stop the page after some."""

    def run(model: LoadedModel, texts: list[str]) -> Iterator[tuple[int, Trace]]:
        import streamlit

        for index, text in enumerate(texts):
            if len(counted) == stop_after:
                streamlit.stop()
            counted.append(index)
            yield index, trace_text(model, text)

    return run
