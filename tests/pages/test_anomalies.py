"""The anomaly page in process; its numbers beside NumPy on the model's own attention."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.model import load, trace_text
from core.model.weights.output_projection import transformed_norms
from core.screens.anomalies import source
from core.screens.anomalies.report import make_report
from core.ui import cache
from tests.opening import open_app
from tests.pages.conftest import BOOK, alerts, said

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHORT = "The cat sat on it."


@dataclass(frozen=True)
class Measured:
    """What the bundled model's heads do on one text, (layer, head) each."""

    first: NDArray[np.float64]  # mean attention to the first token
    share: NDArray[np.float64]  # its share of the summed |a_ij f(v_j)|
    null: NDArray[np.float64]  # attention times what values lack of the median length
    empty: NDArray[np.float64]  # attention to values under a tenth of it
    entropy: NDArray[np.float64]  # over ln n
    tokens: int


def measure(text: str) -> Measured:
    model = load("bundled/minilm")
    trace = trace_text(model, text)
    attention, norms = trace.attention().astype(np.float64), transformed_norms(model, trace)
    assert norms is not None
    column = attention.mean(axis=-2)
    parts = column * norms
    relative = norms / np.median(norms, axis=-1, keepdims=True)
    return Measured(
        column[..., 0],
        parts[..., 0] / parts.sum(axis=-1),
        (column * np.clip(1 - relative, 0, 1)).sum(axis=-1),
        (column * (relative < 0.1)).sum(axis=-1),
        -(attention * np.log(attention)).sum(axis=-1).mean(axis=-1) / np.log(len(trace.tokens)),
        len(trace.tokens),
    )


@pytest.fixture(scope="module")
def book() -> Measured:
    return measure(BOOK)


def test_flagged_heads_are_counted_by_kind_and_listed_by_severity(book: Measured) -> None:
    app = open_app("anomalies")
    lines = said(app).split("\n")
    attention = next(line for line in lines if line.startswith("**Attention and values**"))
    assert f"first-token sink {(book.first >= 0.5).sum()}" in attention
    assert f"null attention {(book.null >= 0.5).sum()}" in attention
    assert "determined by the model's attention itself" in attention
    space = next(line for line in lines if line.startswith("**Queries and keys**"))
    assert "can change these without changing one attention weight" in space
    assert "none has norm disparity or clouds apart" in space
    listed = [float(line.split()[-1]) for line in lines if "· severity" in line]
    assert len(listed) == 6
    assert listed == sorted(listed, reverse=True)
    app = open_app("anomalies", every="1")
    sinks = {f"L{layer + 1} H{head + 1}" for layer, head in np.argwhere(book.first >= 0.5)}
    listed_heads = {line[2:].partition("**")[0] for line in said(app).split("\n") if " · " in line}
    assert sinks <= listed_heads
    assert f"**{len(listed_heads)} of 72 heads** have a flag on this text" in said(app)
    assert app.query_params["every"] == "1"


def test_a_flag_has_its_reason_and_the_sentence_of_one_head_its_numbers(book: Measured) -> None:
    head = (2, 7)
    first, share = f"{book.first[head]:.2f}", f"{book.share[head]:.2f}"
    null = (
        f"the values it attends to average {1 - book.null[head]:.2f} of the head's median length"
        f" (longer ones count as the median), and {book.empty[head]:.2f} of its attention moves"
        " next to nothing"
    )
    app = open_app("anomalies", flag="first-token sink", every="1")
    reason = f"{first} of its attention rests on the first token (uniform baseline: 0.08), which"
    assert f"{reason} accounts for {share} of what the head moves" in said(app)
    assert f"**Null attention:** {null}" in said(app)
    app = open_app("anomalies", anomaly="moved", layer="3", head="8")
    sentence = f"puts **{first}** on the first token, `[CLS]`, which accounts for **{share}**"
    assert sentence in said(app)
    assert null in said(app)
    assert "is hidden" not in said(app)
    app = open_app("anomalies", anomaly="moved", layer="3", head="8", latent="1")
    assert f"The first token is hidden, and with it {first} of all attention" in said(app)
    assert app.query_params["latent"] == "1"


@pytest.mark.parametrize("flag", ["norm disparity", "clouds apart", "column sink"])
def test_a_flag_that_no_head_has_is_shown_with_definition_source_and_threshold(flag: str) -> None:
    text = said(open_app("anomalies", flag=flag))
    assert f"No head of this model has {flag} on this text" in text
    assert "−token" not in text  # the sign of a number is no hyphen, and a hyphen no sign
    for heading in ("**Definition:**", "**Source:**", "**Threshold:**"):
        assert heading in text


def test_a_head_that_looks_one_token_back_is_no_entropy_collapse(book: Measured) -> None:
    assert book.entropy[0, 2] < 0.1  # L1 H3, all previous token
    text = said(open_app("anomalies", flag="entropy collapse"))
    assert "No head of this model has entropy collapse on this text" in text
    assert f"ranges from {book.entropy.min():.2f} to {book.entropy.max():.2f}" in text


def test_a_kind_of_flags_can_be_looked_for() -> None:
    app = open_app("anomalies", flag="any flag of queries and keys")
    assert "**No head of this model has** a flag of queries and keys" in said(app)
    assert app.query_params["flag"] == "any flag of queries and keys"


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ({}, "**Weights** (whatever the text): alike weights 1."),
        (
            {"flag": "first-token sink"},
            "**First-token sink: too short to say.** Attention to the first token",
        ),
        ({"anomaly": "first"}, "The maximum: L"),
        ({"anomaly": "norms"}, "The most extreme is L"),
    ],
)
def test_a_text_that_is_too_short_flags_no_head_and_says_so(
    link: dict[str, str], words: str
) -> None:
    app = open_app("anomalies", text=SHORT, **link)
    text = said(app) + alerts(app)
    assert "**Too short to say.** On 8 tokens" in text
    assert words in text
    assert "have a flag" not in text
    assert "**No head" not in text


@pytest.mark.parametrize(
    ("link", "key", "title", "state"),
    [
        (
            {"flag": "first-token sink", "every": "1"},
            "open_3_10_head_view",
            "Head view",
            {"layer": "3", "heads": "10"},
        ),
        (
            {"anomaly": "moved", "layer": "4", "head": "2"},
            "open_4_2_query_key",
            "Queries and keys",
            {"part": "picture", "layer": "4", "head": "2"},
        ),
    ],
)
def test_a_head_opens_on_another_page(
    link: dict[str, str], key: str, title: str, state: dict[str, str]
) -> None:
    app = open_app("anomalies", text=BOOK, **link)
    app.button(key=key).click().run()
    assert not app.exception
    assert [each.value for each in app.title] == [title]
    assert state.items() <= app.query_params.items()


def test_attention_to_the_first_token_is_shown_by_layer(book: Measured) -> None:
    text = said(open_app("anomalies", anomaly="first"))
    means = book.first.mean(axis=1)
    assert f"{(book.first >= 0.5).sum()} of 72 heads rest on the first token" in text
    assert f"L3 H10 gives it {book.first.max():.2f} (uniform baseline 0.08)" in text
    assert f"highest in layer {means.argmax() + 1} ({means.max():.2f})" in text
    text = said(open_app("anomalies", anomaly="first", counted="moved"))
    assert "the first token's share of the lengths of everything the head moves" in text


def test_no_massive_activation_is_stated() -> None:
    text = said(open_app("anomalies", anomaly="states", size="relative"))
    assert "This model shows no massive activation on this text" in text
    assert "Sun et al. 2024" in text


def test_the_most_extreme_lengths_are_named_where_none_is_odd() -> None:
    app = open_app("anomalies", anomaly="norms")
    trace = trace_text(load("bundled/minilm"), BOOK)
    query, key = (np.linalg.norm(each[0, 11], axis=-1) for each in (trace.queries, trace.keys))
    times = f"{np.median(key) / np.median(query):.1f} times as long as its queries"
    assert f"The most extreme is L1 H12: its keys are {times}" in said(app)
    assert (app.query_params["layer"], app.query_params["head"]) == ("1", "12")


def test_the_report_escapes_the_text_and_holds_every_head() -> None:
    key = ("bundled/minilm", "<img src=x> it rains and it pours on the old house", None)
    report = make_report(cache.trace(*key), key, cache.anomalies(*key))
    assert "&lt;img src=x&gt;" in report
    assert "<img" not in report
    assert report.count('<table class="map">') == 6
    assert report.count("<dt>") == 8
    assert "L3 H10" in report


# ---- the sample corpus --------------------------------------------------------------------------

SENTENCES = (
    "The cat sat on the mat by the door and slept.",
    "She said that he was late again, and that it did not matter.",
)


def test_the_sample_corpus_is_measured_sentence_by_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(source, "sample_sentences", lambda: SENTENCES)
    texts = [measure(text) for text in SENTENCES]
    tokens = sum(text.tokens for text in texts)
    first = np.sum([text.first * text.tokens for text in texts], axis=0) / tokens
    text = said(open_app("anomalies", source="corpus", anomaly="first"))
    assert f"{(first >= 0.5).sum()} of 72 heads rest on the first token" in text
    assert f"gives it {first.max():.2f} (uniform baseline" in text
    where = f"on the sample corpus (2 sentences, {tokens} tokens)"
    assert where in said(open_app("anomalies", source="corpus"))


def test_what_one_head_moves_covers_the_typed_text_only() -> None:
    app = open_app("anomalies", source="corpus", anomaly="moved")
    assert [each.key for each in app.segmented_control] == ["anomaly"]
