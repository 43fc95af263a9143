"""Home in process: the claim, the way to its head, and the line from tokens to attention."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.model import load, trace_text
from tests.model.families import FAMILIES, build
from tests.opening import open_app
from tests.pages.conftest import BOOK, PAIR, alerts, said, sent

if TYPE_CHECKING:
    from pathlib import Path


def test_the_claim_names_a_pronoun_and_its_noun_and_opens_that_head_with_the_pair_held() -> None:
    app = open_app("home")
    text = said(app)
    assert (
        "**Layer 4, head 2 gives 0.93 of the attention of** `it` **to** `book`: a pronoun that"
        " looks back at a noun, 6 tokens away." in text
    )
    assert "It is not a matter of position" in text
    app.button(key="home_open_head").click().run()
    assert [title.value for title in app.title] == ["Head view"]
    state = {"layer": "4", "heads": "2", "from": "11"}
    assert state.items() <= app.query_params.items()


def test_the_cards_hold_the_models_own_numbers() -> None:
    trace = trace_text(load("bundled/minilm"), BOOK)
    cards = sent(open_app("home"), "cards")
    assert cards["tokens"] == [token.display for token in trace.tokens]
    assert cards["pair"] == [10, 4]
    query, key = cards["query"], cards["key"]
    # The page's are of the trace that comes with the app: another machine's rounding.
    np.testing.assert_allclose(query, trace.queries[3, 1, 10], atol=1e-5)
    np.testing.assert_allclose(key, trace.keys[3, 1, 4], atol=1e-5)
    product = float(query.astype(np.float64) @ key)
    assert cards["lines"] == [
        ["query · key", f"{product:.2f}"],
        ["divided by √32", f"{product / 32**0.5:.2f}"],
    ]
    row = trace.attention(3, 1)[10]
    label, weight, is_key = cards["weights"][0]
    assert (label, is_key) == ("book", True)
    assert weight == pytest.approx(float(row[4]))
    assert sum(weight for _, weight, _ in cards["weights"]) == pytest.approx(1, abs=1e-5)
    assert cards["weights"][-1][0] == "9 others"


UNRECOGNISED = "this text was not recognised as English sentences"
NO_PRONOUN = "There is no pronoun to look back, and no two words"


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("1 2 3 4 5 6 7 8 9 10", UNRECOGNISED),
        ("It is raining in London today.", "No pronoun looks back at a noun, and no two words are"),
        ("Leaves fall.", f"{NO_PRONOUN} are joined clearly beyond what"),
        ("Zoë's ferret devoured figs.", f"{NO_PRONOUN} of one token are joined clearly beyond"),
        ("word " * 700, UNRECOGNISED),
    ],
)
def test_an_odd_or_long_text_gets_a_sentence_about_position(text: str, claim: str) -> None:
    app = open_app("home", text=text)
    assert claim in said(app)
    assert "head 3 gives" in said(app)
    assert "of a token's attention to the token before it, on average" in said(app)
    assert "above 0.50, the threshold of a head that follows position" in said(app)
    assert "longer sentence" not in said(app) + alerts(app)
    assert "not a matter of position" not in said(app)


def test_a_short_sentence_joins_its_words() -> None:
    text = said(open_app("home", text="Cats chase mice."))
    assert "attention of** `cats` **to** `mice`: two words of one sentence, 2 tokens away" in text


def test_a_head_below_the_threshold_is_not_said_to_follow_position() -> None:
    """On the default sentence the head that gives most to the token before gives 0.34 of it."""
    text = said(open_app("home", model="bundled/gpt2-novels", text=BOOK))
    assert "below 0.50, the threshold of a head that follows position; no head gives more" in text
    assert UNRECOGNISED not in text
    assert "No pronoun looks back at a noun, and no two words of one token are joined" in text


def test_the_card_of_attention_says_what_the_head_does_with_it() -> None:
    sentence = sent(open_app("home"), "cards")["cards"][-1]["sentence"]
    assert "shares of 1; with them the head averages the values" in sentence


def test_terms_of_reach_say_what_the_layers_of_this_model_do(tmp_path: Path) -> None:
    def notes(**state: str) -> dict[str, str]:
        badges = open_app("home", **state).markdown
        return {each.value: each.help for each in badges if "attention]" in each.value}

    reach = notes()
    assert reach[":gray-badge[global attention]"].endswith("in this model: layers 1–6.")
    assert reach[":gray-badge[local attention]"].endswith("in this model: no layer.")
    folder = str(build(FAMILIES["modernbert"], tmp_path))
    reach = notes(model=folder, text=BOOK)
    assert reach[":gray-badge[global attention]"].endswith("in this model: layers 1 and 3.")
    assert "in this model: layer 2, at most 4 tokens away." in reach[":gray-badge[local attention]"]


def test_one_word_is_told_what_is_missing_and_offers_no_head() -> None:
    app = open_app("home", text="book")
    assert "One word has no other word to attend to." in said(app)
    assert not [button for button in app.button if button.key == "home_open_head"]


def test_two_sentences_are_joined_by_a_word_of_each() -> None:
    app = open_app("home", **PAIR)
    assert "attention of** `leaves` **to** `foliage`: two words of your two sentences." in said(app)


def test_a_long_text_shows_the_tokens_around_the_pair() -> None:
    text = "The water was high. " * 6 + "My sister saw a heron and then she took a picture of it."
    cards = sent(open_app("home", text=text), "cards")
    assert cards["tokens"][0] == "…"
    assert len(cards["tokens"]) < 20
    query, key = (cards["tokens"][place] for place in cards["pair"])
    assert (query, key) == ("she", "sister")


def test_what_the_vocabulary_lacks_is_explained_once_on_every_page() -> None:
    note = "`🙂` is not in this model's vocabulary, so the model sees `[UNK]` in its place."
    text = "I like 🙂 and you like 🙂 too"
    for page in ("home", "heatmap", "vectors"):
        assert said(open_app(page, text=text)).count(note) == 1
    both = said(open_app("home", text="a 🙂 is not a 🍕 at all"))
    assert "`🙂` and `🍕` are not in this model's vocabulary" in both
    assert "vocabulary, so" not in said(open_app("home"))
    assert "vocabulary, so" not in said(open_app("home", model="bundled/gpt2-novels", text=text))
