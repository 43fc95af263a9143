"""Which head of a model to show first on a text: one that joins two words for what they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from core.analysis.arrays import Bools, Floats, Indices
from core.analysis.found_link.position import key_leads, leads
from core.analysis.found_link.words import Words, read_words
from core.analysis.head_patterns.search import find_heads
from core.analysis.pairs import permitted, permitted_pairs
from core.model.trace import Array, Trace

Why = Literal["pronoun", "words", "across", "previous", "next"]

MIN_DISTANCE, MAX_DISTANCE = 2, 30  # tokens: neighbours attend to each other in almost every model
# The least that a pair has: of attention, and beyond what its position and its key get anyway.
_LEAST = {"pronoun": (0.4, 0.15), "words": (0.4, 0.25), "across": (0.3, 0.15)}
_FEW_KEYS = 3  # the first queries of a causal model have little choice
# For how many sentences networks of BERT, GPT-2 and LLaMA join two words, five seeds each, their
# weights drawn with that spread (standard deviation): a test counts them again.
RANDOM_LINKS = {0.02: (0, 120), 0.2: (80, 120)}
_WITNESSES = 3  # heads that speak for a pair, so that one odd head does not decide


@dataclass(frozen=True)
class FoundLink:
    """A head, given from 0, and the two tokens it joins.

    Attributes
    ----------
    query, key : positions; the key is one of `trace.key_tokens`.
    weight : attention of the query to the key.
    why : "pronoun" for a pronoun and a noun before it, "words" for two words of a sentence or of
        two sentences, "across" for words of two texts in cross attention. Where no two words are
        joined for what they are, "previous" or "next": the head that gives most to the token before
        or after, and its strongest pair.
    mean : what the head gives to such pairs on average: to other tokens at this distance or this
        key from other tokens, whichever is more; of "previous" and "next", to the token before.
    uniform : what the query would give to the key if it attended equally to all; of "previous" and
        "next" the mean of that.
    """

    layer: int
    head: int
    query: int
    key: int
    weight: float
    why: Why
    mean: float
    uniform: float

    @property
    def joins_words(self) -> bool:
        """Whether the head follows the words, not their positions."""
        return self.why not in {"previous", "next"}


def find_link(trace: Trace) -> FoundLink | None:
    """The head to show first, or None where no token of the text has another to attend to.

    A pronoun and a noun before it come first, then two content words of one sentence or of two
    sentences, both in English prose only; then the head that follows position most. Special tokens,
    punctuation, neighbours, sinks and heads that follow position are never taken for words that are
    joined. One layer's attention, 4 bytes x heads x tokens squared, is in memory at a time.
    """
    words, others = read_words(trace.tokens), read_words(trace.key_tokens)
    if trace.source is not None:
        different = np.array(words.names)[:, None] != np.array(others.names)
        return _strongest(
            trace, words, others, words.content[:, None] & others.content & different, "across"
        )
    if words.prose:
        found = _strongest(trace, words, words, _pronoun_pairs(words), "pronoun") or _strongest(
            trace, words, words, _word_pairs(trace, words), "words"
        )
        if found is not None:
            return found
    return _positional(trace, words)


def _pronoun_pairs(words: Words) -> Bools:
    """From a pronoun to the likely nouns before it, in its sentence or the one before."""
    back = _distances(words)
    sentences = words.sentence[:, None] - words.sentence
    near = (back >= MIN_DISTANCE) & (back <= MAX_DISTANCE) & (sentences <= 1)
    return np.asarray(words.pronouns[:, None] & words.nouns & near, np.bool_)


def _word_pairs(trace: Trace, words: Words) -> Bools:
    """From a content word to a likely noun of its sentence, or of the other sentence."""
    segments = np.array([token.segment for token in trace.tokens])
    apart = np.abs(_distances(words))
    together = (words.sentence[:, None] == words.sentence) & (apart >= MIN_DISTANCE)
    near = (together | (segments[:, None] != segments)) & (apart <= MAX_DISTANCE)
    names = np.array(words.names)
    different = names[:, None] != names
    return np.asarray(words.content[:, None] & words.nouns & near & different, np.bool_)


def _distances(words: Words) -> Indices:
    """How many tokens the key stands before the query, (token, token)."""
    positions = np.arange(len(words.names))
    return positions[:, None] - positions


def _strongest(
    trace: Trace,
    words: Words,
    others: Words,
    pairs: Bools,
    why: Literal["pronoun", "words", "across"],
) -> FoundLink | None:
    """The pair with the best witnesses, and the head in which it leads most."""
    queries, keys = np.nonzero(pairs)
    if not len(queries):
        return None
    counted = words.ordinary, others.ordinary
    least_weight, least_lead = _LEAST[why]
    every = [_leads(trace, layer, counted, queries, keys) for layer in range(trace.shape[0])]
    best = [_best(weights, lead, least_weight, least_lead) for weights, lead in every]
    witnesses = np.sort(np.concatenate([each.witnesses for each in best]), axis=0)
    support = witnesses[-_WITNESSES:].sum(axis=0)
    passing = np.stack([each.leads for each in best])  # (layer, pair)
    support[passing.max(axis=0) < 0] = -1
    pair = int(support.argmax())
    if support[pair] < 0:
        return None
    layer = int(passing[:, pair].argmax())
    head = int(best[layer].heads[pair])
    mean = float(every[layer][0][head, pair]) - float(passing[layer, pair])
    return _link(trace, (layer, head), (int(queries[pair]), int(keys[pair])), why, mean)


@dataclass(frozen=True, eq=False)
class _Best:
    """Of one layer, for each pair."""

    leads: Floats  # of the head that leads most of those with enough attention, or -1, (pair,)
    heads: Indices  # which head that is
    witnesses: Floats  # the largest leads of any heads, (witness, pair)


def _leads(
    trace: Trace, layer: int, counted: tuple[Bools, Bools], queries: Indices, keys: Indices
) -> tuple[Array, Floats]:
    """Attention on the pairs, and what is beyond position, in each head, (head, pair)."""
    weights = trace.attention(layer)
    if trace.source is None:
        lead = leads(weights, permitted_pairs(trace, layer), counted, queries, keys)
    else:
        lead = key_leads(weights, counted, queries, keys)
    return weights[:, queries, keys], np.nan_to_num(lead, nan=-1.0)


def _best(weights: Array, lead: Floats, least_weight: float, least_lead: float) -> _Best:
    passing = np.where((weights >= least_weight) & (lead >= least_lead), lead, -1.0)
    witnesses = np.sort(np.maximum(lead, 0), axis=0)[-_WITNESSES:]
    return _Best(passing.max(axis=0), passing.argmax(axis=0), witnesses)


def _positional(trace: Trace, words: Words) -> FoundLink | None:
    """The head that gives most to the token before or after, at a strong pair: of whole words, of a
    query with a choice, as far as such a pair gets the head's mean.
    """
    beside = words.ordinary[1:] & words.ordinary[:-1]
    if not beside.any() or len({token.word for token in trace.tokens} - {-1}) < 2:
        return None
    ways: tuple[Why, Why] = ("previous", "next")
    searches = {way: find_heads(trace, way) for way in ways}
    why = max(ways, key=lambda way: next(iter(searches[way].ranked()), (0, 0, -1.0))[2])
    layer, head, mean = searches[why].ranked()[0]
    offset = -1 if why == "previous" else 1
    given = np.diagonal(trace.attention(layer, head), offset)
    choice = np.arange(len(beside)) >= (_FEW_KEYS if trace.causal else 0)
    whole = beside & words.whole[1:] & words.whole[:-1]
    shown = [np.where(each, given, -1.0) for each in (whole & choice, whole, beside)]
    first = int(next((each for each in shown if each.max() >= mean), shown[-1]).argmax())
    query, key = (first + 1, first) if why == "previous" else (first, first + 1)
    return _link(trace, (layer, head), (query, key), why, mean, searches[why].uniform)


def _link(
    trace: Trace,
    place: tuple[int, int],
    pair: tuple[int, int],
    why: Why,
    mean: float,
    uniform: float | None = None,
) -> FoundLink:
    """The record of a pair in a head; without `uniform` it is what each visible key would get."""
    (layer, head), (query, key) = place, pair
    weight = float(trace.attention(layer, head)[query, key])
    if uniform is None:
        uniform = 1 / int(permitted(trace, layer, head)[query].sum())
    return FoundLink(layer, head, query, key, weight, why, mean, uniform)
