"""The head patterns page in process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.analysis.coreference import best_head, coreference_table, resolve
from core.analysis.corpus.sample import Sentence, marked_sets
from core.analysis.head_patterns.naming import NAMING, THRESHOLDS
from core.analysis.head_patterns.table import SCORES
from core.model import load, trace_by_length, trace_text
from core.screens.patterns import marked, source
from core.ui import corpus_walk
from tests.pages.conftest import alerts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd
    from streamlit.testing.v1 import AppTest

    from core.analysis.coreference import Resolved
    from core.model import LoadedModel, Trace

BOOK = "Oh, this book? I've enjoyed it."
PARTS = ["heads", "one", "alike"]
SENTENCES = (
    "The cat saw the cat.",
    "She said that he was late.",
    "One, two, three.",
    "Where did the old man go?",
    "The keys to the cabinet are here.",
)


def said(app: AppTest) -> str:
    return "\n".join(str(text.value) for text in (*app.markdown, *app.caption))


def table(app: AppTest) -> pd.DataFrame:
    return next(frame.value for frame in app.dataframe if "above threshold" in frame.value)


def nothing_passes() -> dict[str, str]:
    return {f"min_{name}": "1" for name in NAMING}


@pytest.fixture
def corpus(monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """A sample corpus that is measured at once."""
    monkeypatch.setattr(source, "sample_sentences", lambda: SENTENCES)
    return SENTENCES


# ---- every part -------------------------------------------------------------------------------


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("where", ["text", "corpus"])
@pytest.mark.parametrize("text", ["x", "it it it", "<b>x</b> $x$ :red[x]", "😀 مرحبا"])
def test_every_part_takes_every_text(
    open_app: Callable[..., AppTest], corpus: tuple[str, ...], part: str, where: str, text: str
) -> None:
    app = open_app("patterns", part=part, text=text, source=where)
    assert not app.exception
    # Texts this short are said to be, where patterns would be named; nothing else is in a box.
    short = where == "text" and part == "heads" and len(text) < 12
    assert alerts(app).startswith("**Too short to say.**") is short
    assert short or alerts(app) == ""
    assert "nan" not in said(app)


@pytest.mark.parametrize("score", ["class", *SCORES])
def test_the_map_is_coloured_by_class_or_by_any_score(
    open_app: Callable[..., AppTest], score: str
) -> None:
    app = open_app("patterns", score=score)
    assert not app.exception
    if score in {"same_token", "other_sentence"}:
        assert "Not defined here" in said(app)


@pytest.mark.parametrize("pattern", ["auto", *NAMING])
@pytest.mark.parametrize("whole", ["head", "mean", "rollout"])
def test_any_matrix_stands_beside_any_pattern(
    open_app: Callable[..., AppTest], whole: str, pattern: str
) -> None:
    app = open_app("patterns", part="one", whole=whole, beside=pattern, text="it is what it is")
    assert not app.exception
    missing = pattern in {"other_sentence", "punctuation"}
    assert ("No token of this text has such a pair" in alerts(app)) is missing


# ---- one text ---------------------------------------------------------------------------------


def test_minilms_previous_token_head_is_named_with_its_number_and_chance(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app("patterns", layer="1", head="3")
    text = said(app)
    assert "L1 H3: previous token." in text
    assert "to the token before (threshold 0.50, uniform baseline 0.08): far above the" in text
    row = table(app).iloc[2]
    assert (row["head"], row["pattern"]) == ("L1 H3", "previous token")
    assert row["previous"] > 0.99
    assert row["previous_uniform"] == pytest.approx(1 / 13)


def test_the_evidence_is_token_by_token(open_app: Callable[..., AppTest]) -> None:
    app = open_app("patterns", part="one", layer="1", head="3")
    assert "the mean over 12 of 13 tokens. Uniform baseline: 0.08." in said(app)
    frame = app.dataframe[0].value
    attention = trace_text(load("bundled/minilm"), BOOK).attention(0, 2)
    assert frame["token"].tolist()[:3] == ["[CLS]", "oh", ","]
    assert np.isnan(frame["follows"].iloc[0])
    assert frame["follows"].iloc[1:].to_numpy() == pytest.approx(np.diagonal(attention, -1))
    assert frame["attends most to"].tolist()[1:4] == ["[CLS]", "oh", ","]


def test_no_head_above_the_thresholds_is_said(open_app: Callable[..., AppTest]) -> None:
    app = open_app("patterns", layer="1", head="3", **nothing_passes())
    assert "No head passes a threshold" in alerts(app)
    assert "L1 H3** follows no pattern above its threshold. Nearest: previous token" in said(app)
    assert set(table(app)["pattern"]) == {"no pattern"}


def test_a_threshold_moves_the_classes_and_the_link_and_can_be_put_back(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app("patterns")
    before = table(app)["pattern"].tolist()
    app.number_input(key="min_first").set_value(0.9).run()
    assert not app.exception
    assert app.query_params["min_first"] == "0.9"
    assert table(app)["pattern"].tolist() != before
    app.button(key="patterns_reset").click().run()
    assert table(app)["pattern"].tolist() == before
    assert app.query_params["min_first"] == f"{THRESHOLDS['first']:g}"


def test_a_second_sentence_makes_the_other_sentence_measurable(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app("patterns", text="leaves fall", pair="autumn leaves")  # too short to name by
    assert table(app)["other_sentence"].notna().all()
    assert table(open_app("patterns"))["other_sentence"].isna().all()


def test_chance_beside_each_score_can_be_hidden(open_app: Callable[..., AppTest]) -> None:
    app = open_app("patterns", chance="0")
    assert not any(str(name).endswith("_uniform") for name in table(app).columns)
    assert sum(str(name).endswith("_uniform") for name in table(open_app("patterns"))) == len(
        SCORES
    )


def test_look_at_this_head_opens_it(open_app: Callable[..., AppTest]) -> None:
    app = open_app("patterns", layer="2", head="9")
    app.button(key="patterns_look").click().run()
    assert not app.exception
    assert app.query_params["part"] == "one"
    assert (app.query_params["layer"], app.query_params["head"]) == ("2", "9")
    assert "The pattern: next token" in said(app)


def test_rollout_and_the_mean_are_named_by_the_same_rules(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app("patterns", part="one", whole="rollout", beside="self")
    assert "Rollout: first token**, 0.65 where uniform attention would give 0.08" in said(app)
    app = open_app("patterns", part="one", whole="mean")
    assert "Mean of everything" in said(app)


def test_the_nearest_heads_are_listed_with_their_distances(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app("patterns", part="alike", layer="1", head="3")
    frame = app.dataframe[0].value
    assert len(frame) == 10
    assert frame["distance"].is_monotonic_increasing
    assert "L1 H3" not in frame["head"].tolist()
    assert "stress 0." in said(app)


def test_the_mathematics_names_the_classes_in_the_order_they_are_tried(
    open_app: Callable[..., AppTest],
) -> None:
    order = "previous token, next token, induction, same token elsewhere, itself, first token,"
    last = "[SEP] and other special tokens, full stops, commas, other sentence, broad."
    said_plainly = " ".join(said(open_app("patterns")).split())
    assert f"over at least 6 query tokens: {order} {last}" in said_plainly


# ---- links ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "parameters"),
    [
        ("heads", {"score": "entropy", "chance": "0", "min_broad": "0.9"}),
        ("one", {"whole": "rollout", "beside": "self"}),
        ("alike", {"layer": "2", "head": "5"}),
        ("pronouns", {"layer": "2", "head": "5", "marked": "sample"}),
    ],
)
def test_a_link_is_the_whole_state(
    open_app: Callable[..., AppTest], part: str, parameters: dict[str, str]
) -> None:
    app = open_app("patterns", part=part, **parameters)
    assert not app.exception
    assert alerts(app) == ""
    assert app.query_params["part"] == part
    assert {key: app.query_params[key] for key in parameters} == parameters


OF_PART = {"beside": "one", "whole": "one", "marked": "pronouns"}  # others are of the first part


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("part", "<b>"),
        ("source", "internet"),
        ("score", "beauty"),
        ("min_first", "7"),
        ("min_first", "nan"),
        ("beside", "none"),
        ("whole", "all"),
        ("head", "99"),
        ("marked", "<b>"),
    ],
)
def test_what_a_link_cannot_ask_for_is_told(
    open_app: Callable[..., AppTest], key: str, value: str
) -> None:
    app = open_app("patterns", **{key: value})
    if key in OF_PART:  # a control is asked about where it stands
        assert alerts(app) == ""
        app.session_state["part"] = OF_PART[key]
        app.run()
    assert not app.exception
    assert f"This link asks for {key}" in alerts(app)


def test_a_sentence_that_the_corpus_does_not_have_is_told(
    open_app: Callable[..., AppTest], corpus: tuple[str, ...]
) -> None:
    app = open_app("patterns", part="one", source="corpus", sentence="6")
    assert not app.exception
    assert "This link asks for sentence" in alerts(app)
    app = open_app("patterns", part="one", source="corpus", sentence="5")
    assert alerts(app) == ""
    assert app.query_params["sentence"] == "5"
    assert "cabinet" in app.dataframe[0].value["token"].tolist()


# ---- the sample corpus ------------------------------------------------------------------------


def test_the_corpus_is_measured_sentence_by_sentence_with_intervals(
    open_app: Callable[..., AppTest], corpus: tuple[str, ...]
) -> None:
    app = open_app("patterns", source="corpus", layer="1", head="3")
    assert not app.exception
    model = load("bundled/minilm")
    traces = [trace_text(model, sentence) for sentence in corpus]
    tokens = sum(len(trace.tokens) for trace in traces)
    assert f"the sample corpus (5 sentences, {tokens:,} tokens)" in said(app)
    assert "95 % interval 1.00 to 1.00" in said(app)
    assert "It was the head's pattern again in 100% of the resamples" in said(app)
    values = np.concatenate([np.diagonal(trace.attention(0, 2), -1) for trace in traces])
    assert table(app)["previous"].iloc[2] == pytest.approx(values.mean(), abs=1e-5)
    assert table(app)["stability"].notna().all()


def test_a_corpus_is_measured_once(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "sample_sentences", lambda: SENTENCES[:2])
    counted: list[int] = []
    monkeypatch.setattr(corpus_walk, "trace_by_length", counting(counted))
    open_app("patterns", source="corpus")
    assert sorted(counted) == [0, 1]
    app = open_app("patterns", source="corpus", part="alike")
    assert not app.exception
    assert sorted(counted) == [0, 1]


def test_cancel_leaves_the_corpus_and_what_was_measured_is_kept(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    sentences = tuple(f"{sentence} Indeed." for sentence in SENTENCES)
    monkeypatch.setattr(source, "sample_sentences", lambda: sentences)
    counted: list[int] = []
    monkeypatch.setattr(corpus_walk, "trace_by_length", counting(counted, stop_after=3))
    app = open_app("patterns", source="corpus")  # stops by itself, as a click stops a run
    assert len(counted) == 3
    app.button(key="patterns_cancel").click().run()
    assert not app.exception
    assert app.query_params["source"] == "text"
    assert "left after 3 of 5 sentences" in said(app)
    monkeypatch.setattr(corpus_walk, "trace_by_length", counting(counted))
    app.segmented_control(key="source").set_value("corpus").run()
    assert not app.exception
    assert "5 sentences" in said(app)
    assert len(counted) == 5  # two more, and none again
    traces = [trace_text(load("bundled/minilm"), sentence) for sentence in sentences]
    values = np.concatenate([trace.attention(1, 4)[:, 0] for trace in traces])
    assert table(app)["first"].iloc[16] == pytest.approx(values.mean(), abs=1e-5)


def counting(
    counted: list[int], stop_after: int = 99
) -> Callable[..., Iterator[tuple[int, Trace]]]:
    """Stands in for trace_by_length; notes each text, and may stop the page after some."""

    def run(model: LoadedModel, texts: list[str]) -> Iterator[tuple[int, Trace]]:
        import streamlit

        for place, text in enumerate(texts):
            if len(counted) == stop_after:
                streamlit.stop()
            counted.append(place)
            yield place, trace_text(model, text)

    return run


# ---- presets ----------------------------------------------------------------------------------


@pytest.mark.parametrize("index", range(7))
def test_presets_lead_to_pages_that_work(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch, index: int
) -> None:
    monkeypatch.setattr(source, "sample_sentences", lambda: SENTENCES)
    monkeypatch.setattr(marked, "marked_sets", few_marked)
    app = open_app("patterns")
    app.session_state["patterns_presets"] = True
    app.run()
    button = app.button(key=f"patterns_preset_{index}").click()
    button.run()
    assert not app.exception
    assert alerts(app) == ""


# ---- too short ----------------------------------------------------------------------------------


def test_a_text_that_is_too_short_names_no_pattern_and_says_so(
    open_app: Callable[..., AppTest],
) -> None:
    """Ten words and two special tokens are twelve; one word fewer is too short."""
    words = "the old cat saw a small dog near the house"
    app = open_app("patterns", text=words)
    assert alerts(app) == ""
    assert "heads** follow a pattern" in said(app)
    app = open_app("patterns", text=words.rpartition(" ")[0], layer="1", head="3")
    assert "**Too short to say.** Your text (11 tokens)" in alerts(app)
    assert "L1 H3: too short to say." in said(app)
    assert "heads** follow a pattern" not in said(app)
    assert set(table(app)["pattern"]) == {"too short to say"}
    assert table(app)["previous"].iloc[2] > 0.9


def test_a_pattern_with_too_few_query_tokens_is_named_as_such(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app("patterns", text="it was late and then it rained on the old roof")
    assert "same token elsewhere (2 of 6)" in said(app)
    assert "same token elsewhere" not in set(table(app)["pattern"])


# ---- words --------------------------------------------------------------------------------------


def test_one_term_for_one_thing(open_app: Callable[..., AppTest]) -> None:
    """The project's glossary: threshold, uniform baseline, head pattern."""
    for part in PARTS:
        text = said(open_app("patterns", part=part)).lower()
        for word in (" bar ", "narrowest", "even head", "evenly", "chance", "confidence 0"):
            assert word not in text, (part, word)


def test_a_score_near_its_threshold_is_called_just_above(open_app: Callable[..., AppTest]) -> None:
    app = open_app("patterns", layer="1", head="3", min_previous="0.99")
    share = (float(table(app)["previous"].iloc[2]) - 0.99) / 0.01
    assert share > 0.5
    assert f"far above the threshold ({share:.2f} of the way to 1)" in said(app)
    first = table(app)
    above = first["above threshold"].where(first["pattern"] == "first token").to_numpy()
    near = int(np.nanargmin(above))
    layer, head = divmod(near, 12)
    app = open_app("patterns", layer=str(layer + 1), head=str(head + 1))
    least = float(above[near])
    assert least < 0.1
    assert f"just above the threshold ({least:.2f})" in said(app)


def test_what_follows_clark_et_al_and_what_is_ours_is_said(
    open_app: Callable[..., AppTest],
) -> None:
    text = " ".join(said(open_app("patterns")).split())
    assert "full stops and commas each tested against 0.6 (their code)" in text
    assert r"above 3.8 nats on 128 tokens, which is 0.78 of $\ln 128$" in text
    assert 3.8 / np.log(128) == pytest.approx(0.783, abs=1e-3)
    assert "Ours are: that broad is 0.78 of the most that a text of any length allows" in text
    assert "the sum of the three delimiters, which is shown but names no head" in text
    assert "**Coreference** (Clark et al. 2019, section 4.3)" in text


# ---- coreference --------------------------------------------------------------------------------


def few_marked() -> dict[str, tuple[Sentence, ...]]:
    """Twelve pairs, and twenty sentences of the sample corpus."""
    sets = marked_sets()
    return {"pairs": sets["pairs"][:24], "sample": sets["sample"][:20]}


def resolved_of(name: str) -> list[Resolved]:
    model = load("bundled/minilm")
    return [resolve(trace_text(model, each.text), each) for each in few_marked()[name]]


def test_coreference_says_of_both_sets_what_positions_and_the_best_head_give(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(marked, "marked_sets", few_marked)
    app = open_app("patterns", part="pronouns", layer="2", head="4", marked="pairs")
    text = said(app)
    app = open_app("patterns", part="pronouns", layer="2", head="4", marked="sample")
    assert not app.exception
    text += said(app).replace("\\", "")
    for name, words in (
        ("pairs", "24 pronouns in 12 pairs"),
        ("sample", " pronouns, 20 sentences"),
    ):
        resolved = resolved_of(name)
        row, best = coreference_table(resolved).iloc[0], best_head(resolved)
        assert words in text
        rules = f"for {row['nearest']:.2f}, the first for {row['first']:.2f}, guessing for"
        assert f"The nearest noun is right {rules} {row['chance']:.2f}" in text
        assert best is not None
        interval = f"**{best.share.mean:.2f} ({best.share.low:.2f} to {best.share.high:.2f})**"
        assert f"chosen on one half, judged on the other) for {interval}" in text
    row = coreference_table(resolved_of("sample")).iloc[12 + 3]
    right = round(row["coreference"] * row["pronouns"])
    share = f"{row['coreference']:.2f} ({row['low']:.2f} to {row['high']:.2f})"
    assert (
        f"**L2 H4** picks the antecedent for {right} of {row['pronouns']} pronouns, {share}" in text
    )
    assert "handed the **apprentice** a chisel and told **him** to" in text


def test_pairs_show_in_which_a_head_heeds_the_word(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(marked, "marked_sets", few_marked)
    app = open_app("patterns", part="pronouns", layer="4", head="2")
    assert app.query_params["marked"] == "pairs"
    row = coreference_table(resolved_of("pairs")).iloc[3 * 12 + 1]
    heeded = row["both_right"] + row["both_wrong"]
    assert f"heeds the word that differs in {heeded} of 12 pairs" in said(app)
    assert f"Both sentences right: {row['both_right']}" in said(app)
    assert f"In the other {12 - heeded} of 12 pairs" in said(app)


def test_where_no_head_beats_positions_the_page_says_exactly_that(
    open_app: Callable[..., AppTest],
) -> None:
    """On all pairs and all marked sentences of the sample corpus, by the model that opens first."""
    app = open_app("patterns", part="pronouns")
    pairs, sample = (
        coreference_table(
            [
                resolve(trace, sentences[place])
                for place, trace in trace_by_length(
                    load("bundled/minilm"), [each.text for each in sentences]
                )
            ]
        )
        for sentences in marked_sets().values()
    )
    assert not pairs["better"].any()
    beating = int(sample["better"].sum())
    assert "Where only meaning decides, no head is demonstrably right more often" in said(app)
    assert "(best head 0.50, nearest noun 0.50; corrected for the choice among 72)" in said(app)
    assert f"On the sample corpus {beating} of 72 heads are (best head 0.7" in said(app)
    assert "grammar may be all that these heads follow" in said(app)


def test_cancel_leaves_the_pronouns(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        marked, "marked_sets", lambda: {name: each[1:] for name, each in few_marked().items()}
    )
    monkeypatch.setattr(corpus_walk, "trace_by_length", counting([], stop_after=3))
    app = open_app("patterns", part="pronouns")
    app.button(key="pronouns_cancel").click().run()
    assert not app.exception
    assert app.query_params["part"] == "heads"


def test_a_model_that_sees_no_marked_pronoun_says_so(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(marked, "marked_sets", lambda: {"pairs": (Sentence("A cat.", "it"),)})
    app = open_app("patterns", part="pronouns")
    assert any("no marked pronoun" in info.value for info in app.info)
