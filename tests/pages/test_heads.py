"""The entries "head patterns" and "unusual heads" in process, and the screen that they share."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.analysis.anomalies import FLAGS, MEASURES, HeadMeasure
from core.model import load, trace_text
from core.screens.heads import measured
from core.ui import corpus_walk
from tests.opening import open_app
from tests.pages.conftest import BOOK, SENTENCES, alerts, charts, numbers, said, sent, table_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd
    from streamlit.testing.v1 import AppTest

    from core.model import LoadedModel, Trace

    Files = dict[str, Callable[[], str]]

pytestmark = pytest.mark.usefixtures("small_corpora")
SHORT = "The cat sat on it."
ENTRIES = ("patterns", "anomalies", "effect")


def table(app: AppTest) -> pd.DataFrame:
    return next(frame.value for frame in app.dataframe if "reasons" in frame.value)


def listed(app: AppTest) -> list[str]:
    """The heads that have a card, as people write them."""
    return re.findall(r"^\*\*(L\d+ H\d+)\*\* · z = ", said(app), re.MULTILINE)


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
@pytest.mark.parametrize("entry", ENTRIES)
def test_a_measure_that_is_added_is_on_card_scatter_table_and_file(
    entry: str, steepness: str, files: Files
) -> None:
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


def test_minilms_previous_token_head_is_named_with_its_score_and_baseline() -> None:
    app = open_app("patterns", layer="1", head="3")
    text = said(app)
    assert "L1 H3: previous token." in text
    assert "to the token before (threshold 0.50, uniform baseline 0.08): 1.00 of the way" in text
    row = table(app).iloc[2]
    assert (row["head"], row["class"]) == ("L1 H3", "previous token")
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
    assert (set(table(app)["class"]) == {"too short to say"}) is short
    assert table(app)["previous"].iloc[2] > 0.9


def test_a_pattern_with_too_few_query_tokens_names_no_head() -> None:
    app = open_app("patterns", text="it was late and then it rained on the old roof")
    assert "same token elsewhere (2 of 6)" in said(app)
    assert "same token elsewhere" not in set(table(app)["class"])


@pytest.mark.slow
def test_the_corpus_is_measured_once_sentence_by_sentence_with_intervals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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
    monkeypatch.setattr(corpus_walk, "trace_by_length", counting([], stop_after=3))
    app = open_app("patterns", source="corpus")  # stops by itself, as a click stops a run
    app.button(key="heads_cancel").click().run()
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


def test_the_title_answers_and_unusual_means_one_thing() -> None:
    app = open_app("anomalies")
    text = said(app)
    # Of 72 heads only this one is an outlier; 54 are past a threshold, which makes none unusual.
    answer = "**1 of 72 heads is unusual: L1 H8**, for its opposite weights."
    assert answer in [each.value for each in app.markdown]
    assert "Which heads are unusual" not in text
    assert text.count("unusual from") == 1
    assert charts(app)[0]["data"][0]["marker"]["colorbar"]["title"]["text"] == "robust z"
    assert "**L1 H8** · z = 4.2" in text
    reason = "**Opposite weights:** the weights of queries and keys correlate at −0.48."
    assert reason in text
    assert listed(app) == ["L1 H8"]
    assert "53 more: see the table." in text


def test_an_unusual_head_is_drawn_in_its_card_as_the_head_view_draws_it() -> None:
    app = open_app("anomalies")
    drawn = sent(app, "head_view")
    assert (drawn["view"]["layer"], drawn["view"]["heads"], drawn["bare"]) == ("1", [8], True)
    app.button(key="open_1_8_head_view").click().run()
    assert [each.value for each in app.title] == ["Head view"]
    assert (app.query_params["layer"], app.query_params["heads"]) == ("1", "8")


def test_what_a_text_decides_is_said_of_the_text() -> None:
    app = open_app("anomalies", model="bundled/gpt2-novels", text=BOOK)
    answer = "**1 of 16 heads is unusual on this text: L1 H3**, for its null attention"
    assert f"{answer} (with random weights: up to 1)." in said(app)
    assert listed(app) == ["L1 H3"]


def test_the_menu_counts_the_heads_with_each_flag_and_its_map_has_a_unit() -> None:
    app = open_app("anomalies", flag="first-token sink")
    names = next(each for each in app.selectbox if each.key == "flag").options
    assert {"all measures", "first-token sink (42)", "null attention (36)"} <= set(names)
    assert "**42 of 72 heads have first-token sink** on this text" in said(app)
    assert "determined by the model's attention itself" in said(app)
    for flag in FLAGS.values():
        assert flag.record.unit


def test_a_flag_has_its_reason_and_the_sentence_of_one_head_its_numbers() -> None:
    first, share = "0.85", "0.08"
    null = (
        "85 % of its attention goes to values that are nearly zero (under a tenth of the head's"
        " median length)"
    )
    app = open_app("anomalies")
    (reasons,) = table(app)["reasons"][table(app)["head"] == "L3 H8"]
    reason = f"{first} of its attention rests on the first token (uniform baseline: 0.08), which"
    assert f"{reason} accounts for {share} of what the head moves" in reasons
    assert null in reasons.replace("\N{NO-BREAK SPACE}", " ")
    app = open_app("anomalies", anomaly="moved", layer="3", head="8")
    sentence = f"puts **{first}** on the first token, `[CLS]`, which accounts for **{share}**"
    assert sentence in said(app)
    assert null in said(app)
    assert "is hidden" not in said(app)
    app = open_app("anomalies", anomaly="moved", layer="3", head="8", latent="1")
    assert f"The first token is hidden, and with it {first} of all attention" in said(app)
    assert app.query_params["latent"] == "1"
    first, second = (chart["data"][0] for chart in charts(app))
    assert first["zmax"] == second["zmax"]


@pytest.mark.parametrize("flag", ["norm disparity", "column sink"])
def test_a_flag_that_no_head_has_is_shown_with_definition_source_and_threshold(flag: str) -> None:
    text = said(open_app("anomalies", flag=flag))
    assert f"**None of 72 heads has {flag}** on this text" in text
    assert "−token" not in text  # the sign of a number is no hyphen, and a hyphen no sign
    for heading in ("**Definition:**", "**Source:**", "**Threshold:**"):
        assert heading in text


def test_a_head_that_looks_one_token_back_is_no_entropy_collapse() -> None:
    text = said(open_app("anomalies", flag="entropy collapse"))
    assert "**None of 72 heads has entropy collapse** on this text" in text
    assert "ranges from 0.00 to 0.89" in text  # 0.00 is L1 H3, all previous token


@pytest.mark.parametrize(
    ("link", "words"),
    [
        (
            {},
            "**1 of 72 heads is unusual: L1 H8**, for its opposite weights (too short to say more)",
        ),
        (
            {"flag": "first-token sink"},
            "**None of 72 heads has first-token sink** on this text: attention to the first token",
        ),
    ],
)
def test_a_text_that_is_too_short_flags_weights_alone_and_says_so(
    link: dict[str, str], words: str
) -> None:
    app = open_app("anomalies", text=SHORT, **link)
    text = said(app) + alerts(app)
    assert "**Too short to say.** With 8 tokens" in text
    assert "below 12 tokens only weights, which no text changes, raise a flag" in text
    assert words in text
    assert text.count("too short to say") == 1


def test_no_massive_activation_is_stated() -> None:
    text = said(open_app("anomalies", anomaly="states"))
    assert "**No massive activation on this text**" in text
    assert "Sun et al. 2024" in text


# ---- the sample corpus --------------------------------------------------------------------------

TWO_SENTENCES = (
    "The cat sat on the mat by the door and slept.",
    "She said that he was late again, and that it did not matter.",
)


def test_the_sample_corpus_is_measured_sentence_by_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(measured, "sample_sentences", lambda: TWO_SENTENCES)
    text = said(open_app("anomalies", source="corpus", flag="first-token sink"))
    assert "**29 of 72 heads have first-token sink** on the sample corpus" in text
    text = said(open_app("anomalies", source="corpus", flag="column sink"))
    assert "**None of 72 heads has column sink** on the sample corpus" in text
    assert ": it cannot be measured here" in text
    where = "on the sample corpus (2 sentences, 31 tokens)"
    assert where in said(open_app("anomalies", source="corpus"))


def test_what_one_head_moves_covers_the_typed_text_only() -> None:
    app = open_app("anomalies", source="corpus", anomaly="moved")
    assert "source" not in {each.key for each in app.segmented_control}
