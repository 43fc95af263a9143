"""Coreference of heads: hand-made heads, a literal loop, what positions give, bundled models."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.analysis.coreference import Resolved, best_head, coreference_table, resolve
from core.analysis.corpus.sample import (
    Sentence,
    marked_sets,
    read_pair,
    read_sentence,
    sample_corpus,
)
from core.model import Trace, load, trace_by_length, trace_text
from core.model.trace import Token
from tests.analysis.traces import causal, trace_with_attention

pytestmark = pytest.mark.slow

LINE = "The [dog] and [Eve] saw the [car] because {it=dog} barked."
WORDS = ["The", "d", "og", "and", "Eve", "saw", "the", "car", "because", "it", "barked", "."]
DOG, EVE, CAR = [1, 2], [4], [7]


def sentence(line: str = LINE) -> Sentence:
    return read_sentence(line, "lists")


def tokens_of(text: str, words: list[str]) -> tuple[Token, ...]:
    """These words, or pieces of words, with their places in the text."""
    tokens, start = [], 0
    for position, word in enumerate(words):
        start = text.index(word, start)
        span = (start, start + len(word))
        start = span[1]
        special = False
        tokens.append(Token(word, word, position, special, 0, position, position, span))
    return tuple(tokens)


def trace_of(weights: np.ndarray) -> Trace:
    """A trace of the words above whose heads have these weights, (layer, head, token, token)."""
    return trace_with_attention(weights, tokens_of(sentence().text, WORDS))


def looking(*places: tuple[list[int], float]) -> np.ndarray:
    """One head in one layer that attends so from every token, equally to all others."""
    row = np.zeros(len(WORDS))
    for positions, share in places:
        row[positions] = share / len(positions)
    rest = row == 0
    row[rest] = (1 - row.sum()) / rest.sum()
    return np.broadcast_to(row, (1, 1, len(WORDS), len(WORDS)))


@pytest.mark.parametrize(
    ("places", "hit"),
    [
        (((DOG, 0.5), (EVE, 0.3)), True),
        (((DOG, 0.3), (EVE, 0.5)), False),
        (((DOG, 0.5), (EVE, 0.5)), False),  # a tie is no answer
        (((DOG, 0.5), (EVE, 0.4)), True),  # 0.25 on each piece of "dog": pieces count together
        (((DOG, 0.2), (CAR, 0.6)), False),
    ],
)
def test_the_noun_that_gets_most_is_the_answer(
    places: tuple[tuple[list[int], float], ...], hit: bool
) -> None:
    resolved = resolve(trace_of(looking(*places)), sentence())
    assert resolved.hits.tolist() == [[[hit]]]
    assert resolved.nearest.tolist() == [False]
    assert resolved.first.tolist() == [True]
    assert resolved.uniform.tolist() == [pytest.approx(1 / 3)]


def test_a_noun_that_a_causal_model_has_not_seen_does_not_count() -> None:
    later = sentence("The dog and {she=Eve} saw the [car] because it barked; [Eve].")
    tokens = tokens_of(later.text, ["The", "dog", "and", "she", "saw", "car", "Eve"])
    trace = trace_with_attention(np.full((1, 1, 7, 7), 1 / 7), tokens)
    assert len(resolve(trace, later).mentions) == 1
    assert len(resolve(causal(trace), later).mentions) == 0


def test_texts_without_marks_have_no_table() -> None:
    resolved = resolve(trace_of(looking((DOG, 0.5))), sentence("The dog saw Eve."))
    assert resolved.mentions == ()
    assert resolved.hits.shape == (0, 1, 1)
    with pytest.raises(ValueError, match="no pronoun"):
        coreference_table([resolved])


def test_a_pronoun_that_was_cut_off_does_not_count() -> None:
    cut = trace_with_attention(np.full((1, 1, 5, 5), 0.2), tokens_of(sentence().text, WORDS[:5]))
    assert resolve(cut, sentence()).mentions == ()


@pytest.mark.parametrize("model", ["bundled/minilm", "bundled/gpt2-novels"])
def test_every_head_is_judged_as_a_literal_loop_judges_it(model: str) -> None:
    loaded = load(model)
    for each in [s for s in sample_corpus() if s.mentions][::40]:
        trace = trace_text(loaded, each.text)
        resolved = resolve(trace, each)
        assert list(resolved.mentions) == [m for m in each.mentions if len(m.candidates) > 1]
        attention = trace.attention()

        def places(span: tuple[int, int], trace: Trace = trace) -> list[int]:
            return [
                token.position
                for token in trace.tokens
                if not token.special and set(range(*token.span)) & set(range(*span))
            ]

        for number, mention in enumerate(resolved.mentions):
            rows = places(mention.pronoun)
            for head in np.ndindex(*trace.shape[:2]):
                shares = [
                    np.mean([sum(attention[(*head, i, j)] for j in places(noun)) for i in rows])
                    for noun in mention.candidates
                ]
                right = shares.pop(mention.antecedent)
                assert resolved.hits[(number, *head)] == (right > max(shares))


PAIR = "The [dog] and the [eel] left because {it=dog|eel} was <hot|wet>."
EARLY = "The [dog] <bit|hid> the [eel] because {it=dog|eel} was angry."


def pair_traces(line: str, wanted: tuple[str, str]) -> list[tuple[Trace, Sentence]]:
    """Both halves, with one head that looks at these nouns from everywhere."""
    halves = []
    for half, noun in zip(read_pair(line, "lists", 0), wanted, strict=True):
        names = half.text.rstrip(".").split()
        weights = np.full((1, 1, len(names), len(names)), 0.01)
        weights[..., names.index(noun)] = 1 - 0.01 * (len(names) - 1)
        halves.append((trace_with_attention(weights, tokens_of(half.text, names)), half))
    return halves


@pytest.mark.parametrize(
    ("wanted", "share", "right", "wrong"),
    [
        (("dog", "eel"), 1.0, 1, 0),
        (("eel", "dog"), 0.0, 0, 1),
        (("dog", "dog"), 0.5, 0, 0),  # by position, or by the noun: half of every pair
        (("eel", "eel"), 0.5, 0, 0),
    ],
)
def test_only_a_head_that_heeds_the_word_is_right_for_more_than_half_of_a_pair(
    wanted: tuple[str, str], share: float, right: int, wrong: int
) -> None:
    row = coreference_table([resolve(*half) for half in pair_traces(PAIR, wanted)]).iloc[0]
    assert row["coreference"] == share
    assert (row["both_right"], row["both_wrong"]) == (right, wrong)
    assert (row["nearest"], row["first"], row["chance"]) == (0.5, 0.5, 0.5)
    assert (row["pronouns"], row["groups"]) == (2, 1)
    assert np.isnan(row["low"])  # one pair says nothing about others
    assert not row["better"]


@pytest.mark.parametrize(("line", "counted"), [(PAIR, 0), (EARLY, 1)])
def test_a_causal_model_gets_the_pairs_whose_word_it_has_read(line: str, counted: int) -> None:
    for trace, half in pair_traces(line, ("dog", "eel")):
        assert len(resolve(causal(trace), half).mentions) == counted


def test_the_halves_of_a_pair_are_one_group_and_any_other_text_is_its_own() -> None:
    halves = [resolve(*half) for half in pair_traces(PAIR, ("dog", "eel"))]
    alone = resolve(trace_of(looking((DOG, 0.5))), sentence())
    row = coreference_table([alone, *halves, alone]).iloc[0]
    assert (row["pronouns"], row["groups"]) == (4, 3)


def random_heads(texts: int, heads: int, right: float | None) -> list[Resolved]:
    """Texts with one pronoun and two nouns; heads pick at random, the last right so often."""
    generator = np.random.default_rng(4)
    base = resolve(trace_of(looking((DOG, 0.5))), sentence())
    resolved = []
    for place in range(texts):
        antecedent = place % 2
        mention = replace(base.mentions[0], candidates=((4, 7), (12, 15)), antecedent=antecedent)
        picks = generator.integers(0, 2, (1, 1, heads)).astype(np.int8)
        if right is not None:
            hit = generator.random() < right
            picks[0, 0, -1] = antecedent if hit else 1 - antecedent
        resolved.append(
            replace(
                base,
                mentions=(mention,),
                picks=picks,
                nearest=np.array([antecedent == 1]),
                first=np.array([antecedent == 0]),
                uniform=np.array([0.5]),
            )
        )
    return resolved


def test_the_luckiest_of_many_heads_is_not_called_better() -> None:
    resolved = random_heads(60, 300, None)
    table = coreference_table(resolved)
    assert table["coreference"].max() > 0.65  # the luckiest
    assert (table["over_nearest_low"] > 0).any()  # and each alone would have been believed
    assert not table["better"].any()
    best = best_head(resolved)
    assert best is not None
    assert best.share.low < 0.5 < best.share.high


def test_a_head_that_is_right_is_called_better_and_chosen_on_both_halves() -> None:
    resolved = random_heads(60, 300, 0.95)
    table = coreference_table(resolved)
    assert table.index[table["better"]].tolist() == [299]
    best = best_head(resolved)
    assert best is not None
    assert best.heads == ((0, 299), (0, 299))
    assert best.share.mean == pytest.approx(table["coreference"].iloc[299])
    assert best.over["nearest"].low > 0


def resolved_by(model: str, sentences: tuple[Sentence, ...]) -> list[Resolved]:
    texts = [each.text for each in sentences]
    traces = trace_by_length(load(model), texts)
    return [resolve(trace, sentences[index]) for index, trace in traces]


def test_minilm_beats_positions_on_the_sample_corpus_and_the_novels_model_does_not() -> None:
    """Facts of the bundled models, as ranges: L4 H2 0.75 against 0.41."""
    sample = marked_sets()["sample"]
    table = coreference_table(resolved_by("bundled/minilm", sample))
    best = table.sort_values("coreference", ascending=False).iloc[:3]
    heads = set(zip(best["layer"], best["head"], strict=True))
    assert heads == {(4, 2), (3, 5), (2, 4)}
    row = best.iloc[0]
    assert row["pronouns"] >= 200
    assert 0.35 < row["nearest"] < 0.5
    assert 0.7 < row["coreference"] < 0.8
    assert row["over_nearest_low"] > 0.2
    assert row["better"]
    assert not coreference_table(resolved_by("bundled/gpt2-novels", sample))["better"].any()


@pytest.mark.parametrize("model", ["bundled/minilm", "bundled/gpt2-novels"])
def test_where_only_meaning_decides_no_head_of_the_bundled_models_beats_positions(
    model: str,
) -> None:
    """L4 H2: 132 of 256; the best head, judged on other pairs than chose it: 0.50."""
    resolved = resolved_by(model, marked_sets()["pairs"])
    table = coreference_table(resolved)
    assert table[["nearest", "first"]].eq(0.5).all(axis=None)
    assert table["coreference"].between(0.4, 0.6).all()
    assert not table["better"].any()
    best = best_head(resolved)
    assert best is not None
    assert best.share.low < 0.5 < best.share.high
    heeded = table["both_right"] + table["both_wrong"]
    assert (heeded < table["groups"] / 3).all()  # most pairs get one answer for both halves
