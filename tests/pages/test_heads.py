"""The entries "head patterns" and "unusual heads" in process, and the screen that they share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core.analysis.anomalies import MEASURES, HeadMeasure
from core.model import LoadedModel, Trace, load, trace_text
from core.screens.heads import measured
from core.ui import corpus_walk
from tests.opening import open_app
from tests.pages.conftest import SENTENCES, alerts, charts, numbers, said, sent, table_of

Files = dict[str, Callable[[], str]]

pytestmark = pytest.mark.usefixtures("small_corpora")


def table(app: AppTest) -> pd.DataFrame:
    return next(frame.value for frame in app.dataframe if "reasons" in frame.value)


@pytest.fixture
def steepness(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A measure that somebody adds: one record with its function."""

    def measure(trace: Trace) -> np.ndarray:
        return np.add.outer(10.0 * np.arange(trace.shape[0]), np.arange(trace.shape[1]))

    record = HeadMeasure("steepness of a head", "degrees", bounds=(0.0, 61.0), function=measure)
    monkeypatch.setitem(MEASURES, "steepness", record)
    measured.measured_text.clear()
    yield "steepness"
    measured.measured_text.clear()
    corpus_walk._places.clear()


@pytest.mark.usefixtures("few_effects")
@pytest.mark.parametrize("entry", ["patterns", "anomalies", "effect"])
def test_an_added_measure_is_shown_and_saved(entry: str, steepness: str, files: Files) -> None:
    app = open_app(entry, layer="4", head="2", x=steepness, y="entropy")
    chosen = "7" if entry == "anomalies" else "31"  # L1 H8, which is unusual, or that of the link
    assert f"| steepness of a head | {chosen} |" in said(app)
    expected = [10.0 * layer + head for layer, head in np.ndindex(6, 12)]
    assert table(app)["steepness"].tolist() == expected
    assert table_of(files)["steepness"].tolist() == expected
    scatter = charts(app)[-1]
    assert scatter["layout"]["xaxis"]["title"]["text"] == "steepness of a head"
    drawn = [numbers(trace["x"]) for trace in scatter["data"] if "customdata" in trace]
    assert sorted(np.concatenate(drawn)) == sorted(expected)
    assert alerts(app) == ""


def test_a_measure_that_is_added_is_on_the_map_and_measured_over_a_corpus(steepness: str) -> None:
    app = open_app("patterns", score=steepness, source="corpus")
    marker = charts(app)[0]["data"][0]["marker"]
    assert (marker["colorbar"]["title"]["text"], marker["cmax"]) == ("degrees", 61)
    cells = numbers(charts(app)[0]["data"][0]["customdata"])
    np.testing.assert_allclose(cells[:, 2], 10 * (cells[:, 0] - 1) + cells[:, 1] - 1)
    assert "5 sentences" in said(app)


@pytest.mark.usefixtures("few_effects")
def test_all_entries_say_the_same_of_a_head() -> None:
    """Its pattern, what is odd about it, and its effect, once that has been measured."""
    link = {"layer": "1", "head": "8", "text": "the old man met a dog , and then the man left ."}
    effect = open_app("effect", **link)
    page = said(effect)
    (odd,) = set(re.findall(r"\*\*Opposite weights:\*\* [^.]*\.\d+\.", page))
    pattern = next(each for each in page.splitlines() if "**L1 H8" in each and "threshold" in each)
    for entry in ("patterns", "anomalies"):
        effect.switch_page(f"pages/{entry}.py").run().run()
        assert odd in said(effect)
        assert pattern in said(effect)
        assert "**Effect:** replaced by its mean, the sentence vector changes by" in said(effect)


NULL = (
    "85 % of its attention goes to values that are nearly zero (under a tenth of the head's median"
    " length)"
)


def test_look_at_this_head_opens_it() -> None:
    app = open_app("patterns", layer="2", head="9")
    app.button(key="patterns_look").click().run()
    assert "L2 H9: next token." in said(app)
    state = {"part": "one", "layer": "2", "head": "9"}
    assert state.items() <= app.query_params.items()


@pytest.mark.parametrize("words", [9, 10])
def test_a_text_that_is_too_short_names_no_pattern_and_says_so(words: int) -> None:
    """Ten words and two special tokens are twelve; one word fewer is too short."""
    text = " ".join(
        ["the", "old", "cat", "saw", "a", "small", "dog", "near", "the", "house"][:words]
    )
    app = open_app("patterns", text=text, layer="1", head="3")
    short = words == 9
    assert ("**Too short to say.** Your text (11 tokens)" in alerts(app)) is short
    assert ("L1 H3: too short to say." in said(app)) is short
    assert ("heads follow a pattern**" in said(app)) is not short
    assert (set(table(app)["class"]) == {"too short to say"}) is short
    app = open_app("anomalies", text=text)
    assert ("**Too short to say.** With 11 tokens" in said(app) + alerts(app)) is short
    assert ("(too short to say more)" in said(app)) is short


@pytest.mark.slow
def test_the_corpus_is_measured_once_with_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    sentences = (*SENTENCES, "A sentence of this test.")
    monkeypatch.setattr(measured, "sample_sentences", lambda: sentences)
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
    monkeypatch.setattr(measured, "sample_sentences", lambda: sentences)
    monkeypatch.setattr(corpus_walk, "trace_by_length", counting([], stop_at=3))
    app = open_app("patterns", source="corpus")  # stops by itself, as a click stops a run
    app.button(key="heads_cancel").click().run()
    assert app.query_params["source"] == "text"
    assert "44 of 72 heads follow a pattern" in said(app)


def counting(counted: list[int], stop_at: int = 99) -> Callable[..., Iterator[tuple[int, Trace]]]:
    """Stands in for trace_by_length; notes each text, and may stop the page after some."""

    def run(model: LoadedModel, texts: list[str]) -> Iterator[tuple[int, Trace]]:
        import streamlit

        for index, text in enumerate(texts):
            if len(counted) == stop_at:
                streamlit.stop()
            counted.append(index)
            yield index, trace_text(model, text)

    return run


def test_the_title_answers_and_unusual_means_one_thing() -> None:
    """One of 72 heads is an outlier; 54 are past a threshold, which makes none unusual."""
    app = open_app("anomalies")
    assert charts(app)[0]["data"][0]["marker"]["colorbar"]["title"]["text"] == "robust z"
    assert "**L1 H8** · z = 4.2" in said(app)
    assert "**Opposite weights:** the weights of queries and keys correlate at −0.48." in said(app)
    assert re.findall(r"^\*\*(L\d+ H\d+)\*\* · z = ", said(app), re.MULTILINE) == ["L1 H8"]
    assert "53 more: see the table." in said(app)
    (reasons,) = table(app)["reasons"][table(app)["head"] == "L3 H8"]
    reason = "0.85 of its attention rests on the first token (uniform baseline: 0.08), which"
    assert f"{reason} accounts for 0.08 of what the head moves" in reasons
    assert NULL in reasons.replace("\N{NO-BREAK SPACE}", " ")
    flags = {"all measures", "first-token sink (42)", "null attention (36)"}
    assert flags <= set(app.selectbox(key="flag").options)


def test_an_unusual_head_is_drawn_in_its_card_as_the_head_view_draws_it() -> None:
    app = open_app("anomalies")
    drawn = sent(app, "head_view")
    assert (drawn["view"]["layer"], drawn["view"]["heads"], drawn["bare"]) == ("1", [8], True)
    app.button(key="open_1_8_head_view").click().run()
    assert [each.value for each in app.title] == ["Head view"]
    assert (app.query_params["layer"], app.query_params["heads"]) == ("1", "8")


def test_without_the_first_token_what_one_head_moves_has_the_same_colours() -> None:
    app = open_app("anomalies", source="corpus", anomaly="moved", latent="1")
    assert "source" not in {each.key for each in app.segmented_control}  # of the typed text alone
    first, second = (chart["data"][0] for chart in charts(app))
    assert first["zmax"] == second["zmax"]
