"""The anomaly page in process; its numbers are those of NumPy on the model's own attention."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from core.analysis.anomalies import FLAGS
from core.screens.anomalies import source
from tests.opening import open_app
from tests.pages.conftest import BOOK, alerts, charts, said, sent

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

SHORT = "The cat sat on it."


def listed(app: AppTest) -> list[str]:
    """The heads that have a card, as people write them."""
    return re.findall(r"^\*\*(L\d+ H\d+)\*\* · z = ", said(app), re.MULTILINE)


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
        assert flag.unit


def test_a_flag_has_its_reason_and_the_sentence_of_one_head_its_numbers() -> None:
    first, share = "0.85", "0.08"
    null = (
        "85 % of its attention goes to values that are nearly zero (under a tenth of the head's"
        " median length)"
    )
    app = open_app("anomalies")
    table = next(each.value for each in app.dataframe if "reasons" in each.value)
    (reasons,) = table["reasons"][(table["layer"] == 3) & (table["head"] == 8)]
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

SENTENCES = (
    "The cat sat on the mat by the door and slept.",
    "She said that he was late again, and that it did not matter.",
)


def test_the_sample_corpus_is_measured_sentence_by_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(source, "sample_sentences", lambda: SENTENCES)
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
