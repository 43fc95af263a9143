"""Coreference of heads: a hand-made head, a literal loop, Wilson's interval, the bundled models."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest

from core.analysis.coreference import coreference_table, resolve, wilson_interval
from core.analysis.sample_corpus import Sentence, read_sentence, sample_corpus
from core.model import Trace, load, trace_text
from core.model.trace import Layer, Token

LINE = "The [dog] and [Eve] saw the [car] because {it=dog} barked."
WORDS = ["The", "d", "og", "and", "Eve", "saw", "the", "car", "because", "it", "barked", "."]
NOT_SPECIAL = False
DOG, EVE, CAR = [1, 2], [4], [7]


def sentence(line: str = LINE) -> Sentence:
    return read_sentence(line, "lists")


def trace_of(
    weights: np.ndarray, *, tokens: tuple[Token, ...] | None = None, causal: bool = False
) -> Trace:
    """A trace of the words above whose heads have these weights, (layer, head, token, token)."""
    layers, heads, size, _ = weights.shape
    # Keys are the unit vectors, so that queries are the logits.
    keys = np.broadcast_to(np.eye(size, dtype=np.float32), (layers, heads, size, size))
    with np.errstate(divide="ignore"):
        logits = np.maximum(np.log(weights), -60).astype(np.float32)
    mask = np.where(np.tri(size, dtype=bool), 0, -np.inf).astype(np.float32) if causal else None
    rules = tuple(Layer(1.0, mask) for _ in range(layers))
    return Trace("made", tokens or words(), logits, keys, keys, rules, causal=causal)


def words() -> tuple[Token, ...]:
    """The tokens of the sentence above."""
    text, tokens, start = sentence().text, [], 0
    for position, word in enumerate(WORDS):
        start = text.index(word, start)
        span = (start, start + len(word))
        start = span[1]
        tokens.append(Token(word, word, position, NOT_SPECIAL, 0, position, position, span))
    return tuple(tokens)


def looking(*places: tuple[list[int], float]) -> np.ndarray:
    """One head in one layer that attends so from every token; the rest is spread evenly."""
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
    found = resolve(trace_of(looking(*places)), sentence())
    assert found.hits.tolist() == [[[hit]]]
    assert found.nearest.tolist() == [False]
    assert found.chance.tolist() == [pytest.approx(1 / 3)]


def test_a_noun_that_a_causal_model_has_not_seen_does_not_count() -> None:
    later = sentence("The dog and {she=Eve} saw the [car] because it barked; [Eve].")
    assert len(later.mentions) == 1
    text = later.text
    tokens = tuple(
        Token(word, word, i, NOT_SPECIAL, 0, i, i, (text.index(word), text.index(word) + len(word)))
        for i, word in enumerate(["The", "dog", "and", "she", "saw", "car", "Eve"])
    )
    even = np.full((1, 1, 7, 7), 1 / 7)
    for causal, counted in ((False, 1), (True, 0)):
        trace = trace_of(even, tokens=tokens, causal=causal)
        assert len(resolve(trace, later).mentions) == counted


def test_texts_without_marks_have_no_table() -> None:
    found = resolve(trace_of(looking((DOG, 0.5))), sentence("The dog saw Eve."))
    assert found.mentions == ()
    assert found.hits.shape == (0, 1, 1)
    with pytest.raises(ValueError, match="no pronoun"):
        coreference_table([found])


def test_a_pronoun_that_was_cut_off_does_not_count() -> None:
    whole = trace_of(looking((DOG, 0.5)))
    cut = replace(
        whole,
        tokens=whole.tokens[:5],
        queries=whole.queries[:, :, :5],
        kv_keys=whole.kv_keys[:, :, :5],
        kv_values=whole.kv_values[:, :, :5],
    )
    assert resolve(cut, sentence()).mentions == ()


@pytest.mark.parametrize("model", ["bundled/minilm", "bundled/gpt2-novels"])
def test_every_head_is_judged_as_a_literal_loop_judges_it(model: str) -> None:
    loaded = load(model)
    for each in [s for s in sample_corpus() if s.mentions][::23]:
        trace = trace_text(loaded, each.text)
        found = resolve(trace, each)
        mentions = [m for m in each.mentions if len(m.candidates) > 1]
        assert list(found.mentions) == mentions
        attention = trace.attention()
        places: dict[str, list[int]] = {}
        for token in trace.tokens:
            for start, end in [s for m in mentions for s in (m.pronoun, *m.candidates)]:
                overlap = range(max(start, token.span[0]), min(end, token.span[1]))
                if overlap and not token.special:
                    places.setdefault(each.text[start:end], []).append(token.position)
        for number, mention in enumerate(mentions):
            rows = sorted(set(places[each.text[slice(*mention.pronoun)]]))
            names = [each.text[slice(*span)] for span in mention.candidates]
            for layer, head in np.ndindex(*trace.shape[:2]):
                got = [
                    np.mean(
                        [
                            sum(attention[layer, head, i, j] for j in sorted(set(places[name])))
                            for i in rows
                        ]
                    )
                    for name in names
                ]
                target = got.pop(mention.antecedent)
                assert found.hits[number, layer, head] == (target > max(got))


def test_wilsons_interval_is_scipys() -> None:
    shares = np.array([0.0, 0.2, 0.55, 1.0])
    low, high = wilson_interval(shares, 20)
    for share, lower, upper in zip(shares, low, high, strict=True):
        known = binomtest(round(share * 20), 20).proportion_ci(method="wilson")
        assert lower == pytest.approx(known.low, abs=1e-12)
        assert upper == pytest.approx(known.high, abs=1e-12)


def test_minilm_has_heads_that_resolve_pronouns_and_the_novels_model_has_none() -> None:
    """Facts of the bundled models, as ranges: L4 H2 0.75 against 0.41."""
    rows = {}
    marked = [s for s in sample_corpus() if s.mentions]
    for name in ("bundled/minilm", "bundled/gpt2-novels"):
        model = load(name)
        found = [resolve(trace_text(model, each.text), each) for each in marked]
        table = coreference_table(found).to_dict("records")
        rows[name] = {(int(row["layer"]), int(row["head"])): row for row in table}
    minilm = rows["bundled/minilm"]
    assert int(minilm[4, 2]["pronouns"]) >= 200
    assert 0.35 < float(minilm[4, 2]["nearest"]) < 0.5
    best = sorted(minilm, key=lambda head: -float(minilm[head]["coreference"]))[:3]
    assert set(best) == {(4, 2), (3, 5), (2, 4)}
    assert 0.7 < float(minilm[4, 2]["coreference"]) < 0.8
    assert minilm[4, 2]["better"]
    assert float(minilm[4, 2]["hard"]) > 0.75
    assert not any(row["better"] for row in rows["bundled/gpt2-novels"].values())
