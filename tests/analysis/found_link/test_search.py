"""The head to show first: planted links, heads of position and sinks, and judged texts."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from core.analysis.corpus.sample import sample_sentences
from core.analysis.found_link import RANDOM_LINKS, FoundLink, find_link
from core.analysis.found_link.words import read_words
from core.model import Trace, load, trace_text, untrained_twin
from core.model.interventions.reference import reference_texts
from core.model.text.inputs import encode
from tests.analysis.traces import crossing, plain_tokens, spelled, trace_with_attention

if TYPE_CHECKING:
    from pathlib import Path

    from core.model import LoadedModel

SENTENCE = "[CLS] the dog saw a book and we all said that it was good [SEP]"
IT, DOG, BOOK, WAS = 11, 2, 5, 12


def even(layers: int = 1, heads: int = 2, text: str = SENTENCE) -> np.ndarray:
    size = len(text.split())
    return np.full((layers, heads, size, size), 1 / size, dtype=np.float32)


def plant(weights: np.ndarray, query: int, key: int, weight: float) -> None:
    """Let one row of one head (token, token) give `weight` to the key, and the rest to all."""
    weights[query] = (1 - weight) / (weights.shape[1] - 1)
    weights[query, key] = weight


def found(weights: np.ndarray, text: str = SENTENCE) -> FoundLink:
    link = find_link(trace_with_attention(weights, spelled(text)))
    assert link is not None
    return link


def test_a_pronouns_noun_comes_before_a_stronger_link_of_other_words() -> None:
    weights = even(2, 3)
    plant(weights[1, 2], IT, BOOK, 0.6)
    plant(weights[0, 0], 13, DOG, 0.9)  # "good" to "dog"
    link = found(weights)
    assert (link.layer, link.head, link.query, link.key, link.why) == (1, 2, IT, BOOK, "pronoun")
    assert link.weight == pytest.approx(0.6, abs=1e-5)
    assert link.uniform == pytest.approx(1 / 15)
    assert link.mean < 0.1


def test_a_head_that_looks_six_tokens_back_from_everywhere_joins_no_words() -> None:
    weights = even()
    for query in range(7, 14):
        plant(weights[0, 0], query, query - 6, 0.95)
    assert found(weights).why == "previous"
    plant(weights[0, 1], IT, BOOK, 0.5)  # less, but of this pair alone
    link = found(weights)
    assert (link.head, link.query, link.key) == (1, IT, BOOK)


def test_a_noun_that_gets_much_from_every_token_is_a_sink() -> None:
    weights = even()
    for query in range(15):
        plant(weights[0, 0], query, BOOK, 0.9)
    assert found(weights).why == "previous"


def test_verbs_neighbours_specials_and_nouns_after_the_pronoun_are_no_antecedents() -> None:
    for query, key in ((IT, 3), (IT, 9), (IT, 0), (IT, 14), (BOOK, 3), (3, BOOK + 1)):
        weights = even()
        plant(weights[0, 0], query, key, 0.9)
        assert found(weights).why == "previous", (query, key)
    text = "[CLS] it is a very good old and long book [SEP]"
    weights = even(text=text)
    plant(weights[0, 0], 1, 9, 0.9)
    assert found(weights, text).why == "previous"


def test_several_heads_outvote_one_odd_head() -> None:
    weights = even(1, 4)
    plant(weights[0, 0], IT, DOG, 0.7)
    for head in (1, 2, 3):
        plant(weights[0, head], IT, BOOK, 0.6)
    assert found(weights).key == BOOK


def test_a_text_without_prose_names_the_head_that_looks_back() -> None:
    text = "12 + 30 = 42 ; 7 * 6 = 42"
    weights = even(2, 2, text)
    for query in range(1, 11):
        plant(weights[1, 0], query, query - 1, 0.8)
    plant(weights[0, 0], 6, 0, 0.99)
    link = found(weights, text)
    assert (link.layer, link.head, link.why) == (1, 0, "previous")
    assert link.query - link.key == 1
    assert link.mean == pytest.approx(0.8, abs=1e-4)
    assert not link.joins_words


def test_one_word_has_no_link() -> None:
    for text in ("[CLS] book [SEP]", "[CLS] capy ##bara [SEP]", "x"):
        assert find_link(trace_with_attention(even(text=text), spelled(text))) is None


def test_words_of_two_sentences_may_be_joined() -> None:
    text = "[CLS] the leaves fall in the autumn [SEP] they have a new colour and foliage [SEP]"
    weights = even(text=text)
    plant(weights[0, 1], 2, 14, 0.8)
    link = found(weights, text)
    assert (link.query, link.key, link.why) == (2, 14, "words")


def test_across_texts_the_key_is_of_the_other_text() -> None:
    trace = crossing(3, keys=("he", "walks", "the", "dog", "[SEP]"), dim=4)
    strong = replace(trace, queries=trace.queries * 8)
    link = find_link(strong)
    assert link is not None
    assert link.why == "across"
    assert trace.tokens[link.query].display == "runs"
    assert strong.key_tokens[link.key].display in {"walks", "dog"}
    assert link.weight == strong.attention(link.layer, link.head)[link.query, link.key]


def test_a_text_of_repeated_words_still_names_a_head() -> None:
    tokens = plain_tokens("book", "book", "book", "book")
    weights = np.full((1, 1, 4, 4), 0.25, np.float32)
    link = find_link(trace_with_attention(weights, tokens))
    assert link is not None
    assert not link.joins_words


LONG = (
    "We took a walk along the river after lunch. The water was high, and it carried branches past"
    " the old mill. My sister stopped to look at a heron, which stood in the reeds and did not"
    " move. Then she took a picture of it with her new camera. The path turned away from the bank"
    " and went up through the fields, where a farmer was mending his fence. He waved at us, and we"
    " waved back. After an hour we came to a village with a small church. The door was open, so we"
    " went in and sat down, because our feet were tired. "
)
WORDS = ["walk", "then", "river", "stone", "bread", "light", "green", "table", "under", "cloud"]
# What a person judged worth saying of bundled/minilm: who attends to whom, and why it is said.
JUDGED = {
    "Oh, this book? I've enjoyed it.": ("pronoun", "it", "book"),
    "My friend told me about this class and I love it so far!": ("pronoun", "it", "class"),
    "The trophy does not fit in the suitcase because it is too big.": ("pronoun", "it", "trophy"),
    "The animal didn't cross the street because it was too tired.": ("pronoun", "it", "animal"),
    "The dog barked because it was hungry.": ("pronoun", "it", "dog"),
    "The cat sat on the mat because it was tired.": ("pronoun", "it", "cat"),
    "She bought a car and drove it home.": ("pronoun", "it", "car"),
    "The teacher smiled when she saw the drawing.": ("pronoun", "she", "teacher"),
    "John gave Mary a book because she liked reading.": ("pronoun", "she", "mary"),
    "The children were tired, so they went to bed early.": ("pronoun", "they", "children"),
    "The keys to the cabinet are on the table, but nobody can find them.": (
        "pronoun",
        "them",
        "keys",
    ),
    "Who wrote the first letter, and where did they send it?": ("pronoun", "it", "letter"),
    "Nobody has ever seen the monster, but everybody is afraid of it.": (
        "pronoun",
        "it",
        "monster",
    ),
    "I love pizza 🍕 and 🙂 it makes me happy": ("pronoun", "it", "pizza"),
    "THE BOOK IS GREAT AND I LOVE IT": ("pronoun", "it", "book"),
    "Melt the butter, add the flour and stir until it thickens.": ("pronoun", "it", "butter"),
    LONG: ("pronoun", "she", "sister"),
    LONG * 3: ("pronoun", "she", "sister"),
    "The quick brown fox jumps over the lazy dog.": ("words", "dog", "fox"),
    "Cats chase mice while dogs sleep in the warm kitchen.": ("words", "dogs", "cats"),
    "The rose is red, the violet's blue, the honey's sweet, and so are you.": (
        "words",
        "sweet",
        "honey",
    ),
}
# Texts of which only a head that follows position can be told, and what is odd about each.
ODD = [
    "Hello world",
    "book book book book book",
    "?!... --- ,,, ;;",
    "1 2 3 4 5 6 7 8 9 10",
    "12 + 30 = 42, and 7 * 6 = 42 too.",
    "def add(a, b):\n    return a + b\n\nprint(add(1, 2))",
    "for (int i = 0; i < n; i++) { sum += values[i]; }",
    "Der Hund hat die Katze gesehen, weil er wach war.",
    "Le chat dort sur le canapé parce qu'il est fatigué.",
    "我喜欢这本书，因为它很有趣。",
    "אני אוהב את הספר הזה כי הוא מעניין",
    "Я люблю эту книгу, потому что она интересная.",
    "See https://example.com/a/b?c=d&e=f for more, or mail me@example.org.",
    "asdf qwer zxcv hjkl uiop bnm",
    "To be, or not to be, that is the question.",
    "It is raining in London today.",
    " ".join(WORDS[i * i * i % 7] for i in range(320)),
    " ".join(WORDS[i * i * 3 % 101 % 10] for i in range(320)),
    " ".join(str(i * 37 % 101) for i in range(200)),
]


loaded = cache(load)


def on(model: str, text: str, pair: str | None = None) -> tuple[Trace, FoundLink | None]:
    trace = trace_text(loaded(model), text, pair, 1024)
    return trace, find_link(trace)


@pytest.mark.parametrize("text", JUDGED, ids=lambda text: text[:24])
def test_the_claim_on_a_judged_text(text: str) -> None:
    trace, link = on("bundled/minilm", text)
    assert link is not None
    query, key = trace.tokens[link.query].display, trace.key_tokens[link.key].display
    assert (link.why, query, key) == JUDGED[text]
    weight = trace.attention(link.layer, link.head)[link.query, link.key]
    assert link.weight == pytest.approx(float(weight))
    assert link.weight > link.mean + 0.15


def test_the_head_of_the_first_sentence_is_the_known_one() -> None:
    _, link = on("bundled/minilm", "Oh, this book? I've enjoyed it.")
    assert link is not None
    assert (link.layer, link.head, round(link.weight, 2)) == (3, 1, 0.93)


def test_leaves_and_foliage_are_joined_across_sentences() -> None:
    pair = ("leaves fall in autumn", "autumn is marked by colorful foliage")
    trace, link = on("bundled/minilm", *pair)
    assert link is not None
    words = [trace.tokens[position].display for position in (link.query, link.key)]
    assert words == ["leaves", "foliage"]


@pytest.mark.parametrize("model", ["bundled/minilm", "bundled/gpt2-novels"])
@pytest.mark.parametrize("text", ODD, ids=lambda text: text[:24])
def test_of_an_odd_text_only_position_is_told(model: str, text: str) -> None:
    trace, link = on(model, text)
    assert link is not None
    assert link.why == "previous"
    assert link.query - link.key == 1
    back = np.diagonal(trace.attention(link.layer, link.head), -1)
    assert link.mean == pytest.approx(float(back.mean()), abs=1e-4)


@pytest.mark.parametrize("text", ["book", "🙂", "a"])
def test_of_one_word_nothing_is_told(text: str) -> None:
    for model in ("bundled/minilm", "bundled/gpt2-novels"):
        assert on(model, text)[1] is None


@pytest.mark.parametrize("text", [*JUDGED, *ODD], ids=lambda text: text[:24])
def test_the_small_model_never_claims_a_neighbour_or_a_special_token(text: str) -> None:
    trace, link = on("bundled/gpt2-novels", text)
    assert link is not None
    ends = [trace.tokens[position] for position in (link.query, link.key)]
    assert not any(token.special for token in ends)
    if link.joins_words:
        assert 2 <= abs(link.query - link.key) <= 30
        assert all(token.display.isalpha() for token in ends)


def test_nearly_all_sentences_of_the_sample_corpus_are_recognised_however_tokens_cut_them() -> None:
    sentences = sample_sentences()
    for model in ("bundled/minilm", "bundled/gpt2-novels"):
        tokens = (encode(loaded(model), text, None, None).tokens for text in sentences)
        recognised = sum(read_words(each).prose for each in tokens)
        assert recognised >= 0.95 * len(sentences), model


def _llama(folder: Path) -> LoadedModel:
    """A network of LLaMA's kind that reads words as GPT-2 does."""
    novels = load("bundled/gpt2-novels")
    novels.tokenizer.save_pretrained(folder)
    sizes = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12}
    tokens = {"vocab_size": novels.network.config.vocab_size, "bos_token_id": 0, "eos_token_id": 0}
    LlamaForCausalLM(LlamaConfig(intermediate_size=768, **sizes, **tokens)).save_pretrained(folder)
    return load(str(folder))


@pytest.mark.slow
@pytest.mark.parametrize("spread", RANDOM_LINKS)
def test_random_weights_join_words_as_often_as_is_said(spread: float, tmp_path: Path) -> None:
    """A pair near a threshold may fall on its other side on another processor."""
    joined = texts = 0
    for model in (load("bundled/minilm"), load("bundled/gpt2-novels"), _llama(tmp_path)):
        for seed in range(5):
            twin = untrained_twin(model, seed)
            generator = torch.Generator().manual_seed(seed)
            with torch.no_grad():
                for weight in twin.network.parameters():
                    if weight.dim() > 1:
                        weight.copy_(torch.randn(weight.shape, generator=generator) * spread)
            links = [find_link(trace_text(twin, text)) for text in reference_texts()[::6]]
            joined += sum(link is not None and link.joins_words for link in links)
            texts += len(links)
    assert texts == RANDOM_LINKS[spread][1]
    assert abs(joined - RANDOM_LINKS[spread][0]) <= 4
