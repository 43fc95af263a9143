"""The head patterns page in process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.analysis.coreference import coreference_table, resolve
from core.analysis.head_classes import CLASSES, THRESHOLDS
from core.analysis.pattern_table import SCORES
from core.analysis.sample_corpus import sample_corpus
from core.model import load, trace_text
from core.ui import corpus_walk
from core.ui.patterns import source
from tests.pages.conftest import alerts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd
    from streamlit.testing.v1 import AppTest

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
    return next(frame.value for frame in app.dataframe if "confidence" in frame.value)


def nothing_passes() -> dict[str, str]:
    return {f"min_{name}": "1" for name in CLASSES}


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
    assert alerts(app) == ""
    assert "nan" not in said(app)


@pytest.mark.parametrize("score", ["class", *SCORES])
def test_the_map_is_coloured_by_class_or_by_any_score(
    open_app: Callable[..., AppTest], score: str
) -> None:
    app = open_app("patterns", score=score)
    assert not app.exception
    if score in {"same_token", "other_sentence"}:
        assert "Not defined here" in said(app)


@pytest.mark.parametrize("pattern", ["auto", *CLASSES])
@pytest.mark.parametrize("whole", ["head", "mean", "rollout"])
def test_any_matrix_stands_beside_any_pattern(
    open_app: Callable[..., AppTest], whole: str, pattern: str
) -> None:
    app = open_app("patterns", part="one", whole=whole, beside=pattern, text="it is what it is")
    assert not app.exception
    missing = pattern == "other_sentence"
    assert ("No token of this text has such a pair" in alerts(app)) is missing


# ---- one text ---------------------------------------------------------------------------------


def test_minilms_previous_token_head_is_named_with_its_number_and_chance(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app("patterns", layer="1", head="3")
    text = said(app)
    assert "L1 H3: previous token." in text
    assert "gives **1.00** of its attention to the token before (bar 0.50, chance 0.08)" in text
    row = table(app).iloc[2]
    assert (row["head"], row["class"]) == ("L1 H3", "previous token")
    assert row["previous"] > 0.99
    assert row["previous_uniform"] == pytest.approx(1 / 13)


def test_the_evidence_is_token_by_token(open_app: Callable[..., AppTest]) -> None:
    app = open_app("patterns", part="one", layer="1", head="3")
    assert "the mean over 12 of 13 tokens. A head that attends evenly: 0.08." in said(app)
    frame = app.dataframe[0].value
    attention = trace_text(load("bundled/minilm"), BOOK).attention(0, 2)
    assert frame["token"].tolist()[:3] == ["[CLS]", "oh", ","]
    assert np.isnan(frame["follows"].iloc[0])
    assert frame["follows"].iloc[1:].to_numpy() == pytest.approx(np.diagonal(attention, -1))
    assert frame["attends most to"].tolist()[1:4] == ["[CLS]", "oh", ","]


def test_no_head_above_the_thresholds_is_said(open_app: Callable[..., AppTest]) -> None:
    app = open_app("patterns", layer="1", head="3", **nothing_passes())
    assert "No head passes a threshold" in alerts(app)
    assert "L1 H3** follows no pattern above its bar. Nearest: previous token" in said(app)
    assert set(table(app)["class"]) == {"no pattern"}


def test_a_threshold_moves_the_classes_and_the_link_and_can_be_put_back(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app("patterns")
    before = table(app)["class"].tolist()
    app.number_input(key="min_first").set_value(0.9).run()
    assert not app.exception
    assert app.query_params["min_first"] == "0.9"
    assert table(app)["class"].tolist() != before
    app.button(key="patterns_reset").click().run()
    assert table(app)["class"].tolist() == before
    assert app.query_params["min_first"] == f"{THRESHOLDS['first']:g}"


def test_a_second_sentence_makes_the_other_sentence_measurable(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app("patterns", text="leaves fall", pair="autumn leaves")
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
    assert "Rollout: first token**, 0.65 where even heads would give 0.08" in said(app)
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
    assert f"in this order: {order} delimiters, other sentence, broad." in said(
        open_app("patterns")
    )


# ---- links ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "parameters"),
    [
        ("heads", {"score": "entropy", "chance": "0", "min_broad": "0.9"}),
        ("one", {"whole": "rollout", "beside": "self"}),
        ("alike", {"layer": "2", "head": "5"}),
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
    ],
)
def test_what_a_link_cannot_ask_for_is_told(
    open_app: Callable[..., AppTest], key: str, value: str
) -> None:
    app = open_app("patterns", **{key: value})
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
    assert "The class came again in 100% of the resamples" in said(app)
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
    marked = next(each.text for each in sample_corpus() if each.mentions)
    monkeypatch.setattr(source, "sample_sentences", lambda: (*SENTENCES, marked))
    app = open_app("patterns")
    app.session_state["patterns_presets"] = True
    app.run()
    button = app.button(key=f"patterns_preset_{index}").click()
    button.run()
    assert not app.exception
    assert alerts(app) == ""


# ---- coreference --------------------------------------------------------------------------------


def test_coreference_needs_marked_sentences_and_says_so(open_app: Callable[..., AppTest]) -> None:
    app = open_app("patterns", part="pronouns")
    assert any("nobody has marked them" in info.value for info in app.info)
    assert app.button(key="patterns_take_corpus").label == "Measure on the sample corpus"


def test_coreference_names_the_rule_to_beat_and_what_a_head_answered(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    marked = [each for each in sample_corpus() if each.mentions][:40]
    monkeypatch.setattr(source, "sample_sentences", lambda: tuple(each.text for each in marked))
    app = open_app("patterns", part="pronouns", source="corpus", layer="2", head="4")
    assert not app.exception
    said = "\n".join(each.value for each in app.markdown)
    table = coreference_table(
        [resolve(trace_text(load("bundled/minilm"), each.text), each) for each in marked]
    )
    row = table.iloc[12 + 3]
    assert f"Of {row['pronouns']} pronouns" in said
    assert f"resolves {row['nearest']:.2f}, guessing {row['chance']:.2f}" in said
    assert f"**L2 H4** resolves {row['coreference']:.2f}" in said
    assert "handed the **apprentice** a chisel and told **him** to" in said.replace("\\", "")


def test_a_corpus_without_marks_has_no_coreference(
    open_app: Callable[..., AppTest], corpus: tuple[str, ...]
) -> None:
    assert corpus
    app = open_app("patterns", part="pronouns", source="corpus")
    assert any("no marked pronoun" in info.value for info in app.info)
