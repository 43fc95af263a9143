"""Which words of a text are related, by the network's own input embeddings.

Two words are related when the cosine of their embeddings, each less the mean of the vocabulary's
words, exceeds that of all but one in a thousand random pairs of the vocabulary. The mean is what
all embeddings share: the median cosine of two random words is 0.01 in bundled/minilm and 0.32 in
bundled/gpt2-novels, and 0.00 in both without it. The threshold is then 0.29 and 0.52; "leaves" and
"foliage" have 0.46, "doctor" and "nurse" 0.35, "it" and "book" 0.04 (bundled/minilm).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from core.analysis.arrays import Bools, Floats, cosines
from core.analysis.english import FUNCTION_WORDS
from core.model.trace import Array, Token

ONE_PAIR_IN = 1000  # random pairs of vocabulary words exceeds the threshold


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """What two random words of a network's vocabulary have in common."""

    mean: Floats  # of their input embeddings, float64 (dim,)
    threshold: float  # the cosine that one random pair in `ONE_PAIR_IN` exceeds without the mean
    words: int  # how many were sampled


@dataclass(frozen=True, eq=False)
class RelatedWords:
    """The related words of a text."""

    pairs: Bools  # boolean (token, token), symmetric, never on the diagonal
    cosines: Floats  # of the pairs, in the order of ``np.argwhere(pairs)``, (pair,)
    counted: Bools  # which tokens can be related at all, boolean (token,)
    split: int  # how many words are left out because the vocabulary has them only in pieces
    threshold: float  # the cosine that related words exceed


def measure_vocabulary(sample: Array) -> Vocabulary:
    """The mean and the threshold, from the embeddings of a sample of words, (word, dim).

    All pairs of the sample count: two million of 2,000 words. On bundled/minilm, four samples of
    that size gave thresholds from 0.288 to 0.295.
    """
    vectors = sample.astype(np.float64)
    mean = vectors.mean(axis=0)
    pairs = cosines(vectors - mean)[np.triu_indices(len(vectors), 1)]
    threshold = float(np.quantile(pairs, 1 - 1 / ONE_PAIR_IN)) if pairs.size else 1.0
    return Vocabulary(mean, threshold, len(sample))


def related_words(
    tokens: tuple[Token, ...], embeddings: Array, vocabulary: Vocabulary
) -> RelatedWords:
    """Pairs of positions whose words are related.

    Only words that are one token, all letters and not function words count: a piece such as "##age"
    is not a word, and the mean of a word's pieces says little about it ("cap ##y ##bara" has 0.01
    with "book", and 0.24 with "rode ##nt"). The same word elsewhere, in upper or lower case, is the
    same word and not a related one. `embeddings` are those of the tokens, (token, dim).
    """
    pieces = Counter(token.word for token in tokens)
    counted = np.array(
        [
            not token.special and pieces[token.word] == 1 and _is_content(token.display)
            for token in tokens
        ]
    )
    split = {token.word for token in tokens if not token.special and pieces[token.word] > 1}
    names = np.array([token.display.casefold() for token in tokens], dtype=np.object_)
    other = np.asarray(names[:, None] != names[None, :], dtype=np.bool_)
    similar = cosines(embeddings - vocabulary.mean)
    pairs = (similar > vocabulary.threshold) & other & counted[:, None] & counted
    return RelatedWords(pairs, similar[pairs], counted, len(split), vocabulary.threshold)


def closest_pairs(
    tokens: tuple[Token, ...], words: RelatedWords, *, across: bool
) -> list[tuple[int, int, float]]:
    """Positions and cosine of every two related words, the closest first, each two words once.

    With `across` only words of different sentences count.
    """
    where = np.argwhere(words.pairs)
    first: dict[frozenset[str], tuple[int, int, float]] = {}
    for nth in np.argsort(-words.cosines, kind="stable"):
        one, other = (int(position) for position in where[nth])
        if one < other and (not across or tokens[one].segment != tokens[other].segment):
            names = frozenset(tokens[place].display.casefold() for place in (one, other))
            first.setdefault(names, (one, other, float(words.cosines[nth])))
    return list(first.values())


def _is_content(word: str) -> bool:
    """Whether it names something: all letters, not a function word, not a single ASCII letter."""
    single = len(word) == 1 and word.isascii()
    return word.isalpha() and not single and word.casefold() not in FUNCTION_WORDS
