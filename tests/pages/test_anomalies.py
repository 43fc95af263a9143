"""The anomaly page in process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.analysis.anomalies import anomaly_table, corpus_table, flagged, measure_heads
from core.model import load, trace_text
from core.model.weights.output_projection import transformed_norms
from core.model.weights.query_key import weight_similarity
from core.screens.anomalies import source
from tests.pages.conftest import alerts

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from streamlit.testing.v1 import AppTest

BOOK = "Oh, this book? I've enjoyed it."
PARTS = ["flags", "norms", "first", "moved", "states"]


def said(app: AppTest) -> str:
    return "\n".join(str(text.value) for text in (*app.main.markdown, *app.main.caption))


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """What the page should be showing for the bundled model."""
    model = load("bundled/minilm")
    trace = trace_text(model, BOOK)
    return anomaly_table(trace, transformed_norms(model, trace), weight_similarity(model))


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(
    "text",
    ["x", "it it it", "<b>x</b> $x$ :red[x]", "😀 مرحبا", "=cmd()|' /C calc'!A0", "book " * 200],
)
def test_every_view_takes_every_text(
    open_app: Callable[..., AppTest], part: str, text: str
) -> None:
    app = open_app("anomalies", anomaly=part, text=text, latent="1", flag="column sink")
    assert not app.exception
    assert "nan" not in said(app).replace("finance", "")


def test_flagged_heads_are_listed_by_severity_with_their_reasons(
    open_app: Callable[..., AppTest], table: pd.DataFrame
) -> None:
    app, odd = open_app("anomalies"), flagged(table)
    text = said(app)
    assert f"**{len(odd)} of 72 heads** have a flag on this text" in text
    names = [f"**L{one.layer} H{one.head}**" for one in odd.itertuples()]
    places = [text.index(name) for name in names[:6]]
    assert places == sorted(places)
    assert names[6] not in text
    assert odd["reasons"].iloc[0].split("; ")[0] in text


def test_all_flagged_heads_are_listed_on_request(
    open_app: Callable[..., AppTest], table: pd.DataFrame
) -> None:
    app = open_app("anomalies", every="1")
    for one in flagged(table).itertuples():
        assert f"**L{one.layer} H{one.head}**" in said(app)
    assert app.query_params["every"] == "1"


@pytest.mark.parametrize("flag", ["norm disparity", "clouds apart", "column sink"])
def test_a_flag_that_no_head_has_is_said_plainly_with_definition_source_and_threshold(
    open_app: Callable[..., AppTest], flag: str
) -> None:
    text = said(open_app("anomalies", flag=flag))
    assert f"No head of this model has {flag} on this text" in text
    assert "−token" not in text  # the sign of a number is no hyphen, and a hyphen no sign
    for heading in ("**Definition:**", "**Source:**", "**Threshold:**"):
        assert heading in text


def test_what_attention_determines_is_counted_apart_from_what_c_may_change(
    open_app: Callable[..., AppTest], table: pd.DataFrame
) -> None:
    sinks = sum("first-token sink" in flags for flags in table["flags"])
    lines = said(open_app("anomalies")).split("\n")
    attention = next(line for line in lines if line.startswith("**Attention and values**"))
    assert f"first-token sink {sinks}" in attention
    assert "what the model's attention itself determines" in attention
    space = next(line for line in lines if line.startswith("**Queries and keys**"))
    assert "may change these without changing one attention weight" in space
    assert "none has norm disparity or clouds apart" in space
    app = open_app("anomalies", flag="any flag of queries and keys")
    assert "**No head of this model has** a flag of queries and keys" in said(app)
    assert app.query_params["flag"] == "any flag of queries and keys"


def test_a_head_that_looks_one_token_back_is_no_entropy_collapse(
    open_app: Callable[..., AppTest], table: pd.DataFrame
) -> None:
    one = table[(table["layer"] == 1) & (table["head"] == 3)].iloc[0]
    assert one["entropy"] < 0.1
    assert one["offset_attention"] > 0.9
    text = said(open_app("anomalies", flag="entropy collapse"))
    assert "No head of this model has entropy collapse on this text" in text
    assert f"between {table['entropy'].min():.2f} and {table['entropy'].max():.2f}" in text


def test_a_text_that_is_too_short_flags_no_head_and_says_so(
    open_app: Callable[..., AppTest], table: pd.DataFrame
) -> None:
    app = open_app("anomalies", text="The cat sat on it.")
    assert "**Too short to say.** On 8 tokens" in "".join(each.value for each in app.info)
    assert "have a flag" not in said(app)
    assert "**No head" not in said(app)
    alike = sum("alike weights" in flags for flags in table["flags"])
    assert f"**Weights** (whatever the text): alike weights {alike}." in said(app)
    app = open_app("anomalies", text="The cat sat on it.", flag="first-token sink")
    assert "**First-token sink: too short to say.** Attention to the first token" in said(app)
    for part in ("first", "norms"):
        app = open_app("anomalies", text="The cat sat on it.", anomaly=part)
        assert "Too short to say" in said(app) + "".join(each.value for each in app.info)
        assert not app.exception


def test_a_head_opens_in_the_head_view(open_app: Callable[..., AppTest]) -> None:
    app = open_app("anomalies", text=BOOK, flag="first-token sink", every="1")
    app.button(key="open_3_10_head_view").click().run()
    assert not app.exception
    assert [title.value for title in app.title] == ["Head view"]
    assert (app.query_params["layer"], app.query_params["heads"]) == ("3", "10")


def test_a_head_opens_in_query_key_space(open_app: Callable[..., AppTest]) -> None:
    app = open_app("anomalies", anomaly="moved", layer="4", head="2")
    app.button(key="open_4_2_query_key").click().run()
    assert not app.exception
    assert [title.value for title in app.title] == ["Queries and keys"]
    shown = (app.query_params["part"], app.query_params["layer"], app.query_params["head"])
    assert shown == ("picture", "4", "2")


def test_the_sentence_gives_attention_and_what_it_carries(
    open_app: Callable[..., AppTest], table: pd.DataFrame
) -> None:
    one = table[(table["layer"] == 3) & (table["head"] == 8)].iloc[0]
    text = said(open_app("anomalies", anomaly="moved", layer="3", head="8"))
    assert (
        f"puts **{one['first_attention']:.2f}** on the first token, `[CLS]`, which then carries"
        f" **{one['first_contribution']:.2f}** of what is moved"
    ) in text
    assert one["first_attention"] > 0.8
    assert one["first_contribution"] < 0.2
    # What null attention is of, in the page's words and computed apart.
    model = load("bundled/minilm")
    trace = trace_text(model, BOOK)
    lengths = transformed_norms(model, trace)
    assert lengths is not None
    relative = lengths[2, 7] / np.median(lengths[2, 7])
    weights = trace.attention(2, 7).mean(axis=0)
    assert f"average {(weights * np.minimum(relative, 1)).sum():.2f} of the head's median" in text
    nothing = weights[relative < 0.1].sum()
    assert nothing > 0.5
    assert f"{nothing:.2f} of its attention moves next to nothing: values under a tenth" in text


def test_a_hidden_first_token_is_counted(open_app: Callable[..., AppTest]) -> None:
    app = open_app("anomalies", anomaly="moved", layer="3", head="8", latent="1")
    assert "The first token is hidden, and with it 0.85 of all attention" in said(app)
    assert app.query_params["latent"] == "1"
    app = open_app("anomalies", anomaly="moved", layer="3", head="8")
    assert "is hidden" not in said(app)


def test_the_first_token_is_told_by_layer(open_app: Callable[..., AppTest]) -> None:
    text = said(open_app("anomalies", anomaly="first"))
    assert "42 of 72 heads rest on the first token" in text
    assert "L3 H10 gives it 0.94, an even head 0.08" in text


def test_no_massive_activation_is_said_plainly(open_app: Callable[..., AppTest]) -> None:
    text = said(open_app("anomalies", anomaly="states"))
    assert "This model shows no massive activation on this text" in text
    assert "Sun et al. 2024" in text


def test_the_furthest_lengths_are_named_where_none_is_odd(open_app: Callable[..., AppTest]) -> None:
    app = open_app("anomalies", anomaly="norms")
    assert "The furthest is L1 H12: its keys are 1.9 times as long as its queries" in said(app)
    assert (app.query_params["layer"], app.query_params["head"]) == ("1", "12")


@pytest.mark.parametrize("part", PARTS)
def test_examples_lead_to_a_view_of_this_page(open_app: Callable[..., AppTest], part: str) -> None:
    app = open_app("anomalies", anomaly=part)
    app.session_state["anomalies_presets"] = True
    app.run()
    buttons = [each for each in app.button if str(each.key).startswith("anomalies_preset_")]
    assert len(buttons) == 5
    for index in range(5):
        app.button(key=f"anomalies_preset_{index}").click().run()
        assert not app.exception
        assert app.query_params["anomaly"] == ["moved", "moved", "first", "norms", "states"][index]


@pytest.mark.parametrize(
    "key", ["anomaly", "flag", "lengths", "counted", "size", "latent", "layer"]
)
def test_what_a_link_cannot_ask_for_is_told(open_app: Callable[..., AppTest], key: str) -> None:
    part = {"lengths": "norms", "counted": "first", "size": "states", "latent": "moved"}
    part |= {"layer": "moved", "flag": "flags"}
    app = open_app("anomalies", **{"anomaly": part.get(key, "flags"), key: "<b>99"})
    assert not app.exception
    assert f"This link asks for {key}" in alerts(app)


def test_the_whole_state_is_in_the_link(open_app: Callable[..., AppTest]) -> None:
    asked = {"anomaly": "norms", "lengths": "difference", "layer": "2", "head": "5"}
    app = open_app("anomalies", **asked)
    assert asked.items() <= app.query_params.items()


# ---- the sample corpus --------------------------------------------------------------------------

SENTENCES = (
    "The cat sat on the mat by the door and slept.",
    "She said that he was late again, and that it did not matter.",
)


def test_the_sample_corpus_is_measured_sentence_by_sentence(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "sample_sentences", lambda: SENTENCES)
    model = load("bundled/minilm")
    traces = [trace_text(model, text) for text in SENTENCES]
    odd = flagged(
        corpus_table(
            [
                measure_heads(each, transformed_norms(model, each), weight_similarity(model))
                for each in traces
            ],
            exact=True,
            separators=["[SEP]"],
        )
    )
    tokens = sum(len(each.tokens) for each in traces)
    app = open_app("anomalies", source="corpus")
    assert not app.exception
    where = f"the sample corpus (2 sentences, {tokens} tokens)"
    assert f"**{len(odd)} of 72 heads** have a flag on {where}" in said(app)
    for part in ("norms", "first"):
        app = open_app("anomalies", source="corpus", anomaly=part)
        assert not app.exception
        assert "nan" not in said(app)


def test_what_one_head_moves_is_of_the_typed_text_only(open_app: Callable[..., AppTest]) -> None:
    app = open_app("anomalies", source="corpus", anomaly="moved")
    assert not app.exception
    assert [each.key for each in app.segmented_control] == ["anomaly"]
