"""Which heads look from a pronoun to the noun it stands for.

After Clark et al. 2019, section 4.2: a head resolves a pronoun when, of all candidate nouns, it
attends most to the antecedent. They count the whole mention's head word; so does this. The rule to
beat is "the nearest candidate before the pronoun".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from core.analysis.sample_corpus import Mention, Sentence, Span
    from core.model.trace import Token, Trace

LEVEL_Z = 1.959963984540054  # of a 95 % interval


@dataclass(frozen=True, eq=False)
class Resolved:
    """What every head did with the pronouns of one text.

    Attributes
    ----------
    mentions : those that count: with two candidates or more in sight.
    hits : boolean (mention, layer, head), whether the antecedent got more than any other.
    nearest : boolean (mention,), whether the nearest candidate before it is the antecedent.
    chance : (mention,), one over the number of candidates.
    """

    mentions: tuple[Mention, ...]
    hits: NDArray[np.bool_]
    nearest: NDArray[np.bool_]
    chance: NDArray[np.float64]


def resolve(trace: Trace, sentence: Sentence) -> Resolved:
    """What every head does with the pronouns of the sentence.

    Attention from a pronoun is the mean over its tokens, attention to a noun the sum over its own.
    A causal model sees only the candidates before the pronoun. Pronouns that were cut off, have
    fewer than two candidates left, or stand for a noun out of sight, do not count. One layer's
    attention is in memory at a time.
    """
    counted = [
        (mention, seen)
        for mention in sentence.mentions
        if len(seen := _in_sight(trace, mention)) > 1 and mention.antecedent in seen
    ]
    layers, heads = trace.shape[:2]
    hits = np.zeros((len(counted), layers, heads), dtype=np.bool_)
    for layer in range(layers if counted else 0):
        weights = trace.attention(layer)  # (head, token, token)
        for place, (mention, seen) in enumerate(counted):
            rows = weights[:, _tokens_of(trace.tokens, mention.pronoun)].mean(axis=1)
            to = np.stack(
                [
                    rows[:, _tokens_of(trace.tokens, mention.candidates[each])].sum(axis=-1)
                    for each in seen
                ]
            )
            right = seen.index(mention.antecedent)
            hits[place, layer] = to[right] > np.delete(to, right, axis=0).max(axis=0)
    return Resolved(
        tuple(mention for mention, _ in counted),
        hits,
        np.array([mention.nearest == mention.antecedent for mention, _ in counted], np.bool_),
        np.array([1 / len(seen) for _, seen in counted], np.float64),
    )


def coreference_table(resolved: Sequence[Resolved]) -> pd.DataFrame:
    """A row a head over all pronouns of these texts.

    Returns
    -------
    Columns `layer` and `head` (1-based), `coreference` (the share of pronouns resolved), `low` and
    `high` (95 % Wilson interval, of that head alone: the best of many is also the luckiest), `hard`
    (the share of those that do not stand for the nearest noun), `better` (whether `low` is above
    the share of the nearest-noun rule), and, the same in every row, `nearest` (that share),
    `chance` and `pronouns`.

    Raises
    ------
    ValueError
        When no pronoun counts.
    """
    count = sum(len(each.mentions) for each in resolved)
    if not count:
        raise ValueError("no pronoun with two candidates is marked in these texts")
    hits = np.concatenate([each.hits for each in resolved])
    easy = np.concatenate([each.nearest for each in resolved])
    share, nearest = hits.mean(axis=0), float(easy.mean())
    low, high = wilson_interval(share, count)
    hard = np.full(share.shape, np.nan) if easy.all() else hits[~easy].mean(axis=0)
    layer, head = np.indices(share.shape).reshape(2, -1)
    return pd.DataFrame(
        {
            "layer": layer + 1,
            "head": head + 1,
            "coreference": share.ravel(),
            "low": low.ravel(),
            "high": high.ravel(),
            "hard": hard.ravel(),
            "better": low.ravel() > nearest,
            "nearest": nearest,
            "chance": float(np.concatenate([each.chance for each in resolved]).mean()),
            "pronouns": count,
        }
    )


def wilson_interval(
    share: NDArray[np.float64], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bounds of the 95 % interval of a share of `count` trials (Wilson 1927)."""
    z = LEVEL_Z
    middle = share + z**2 / (2 * count)
    half = z * np.sqrt(share * (1 - share) / count + z**2 / (4 * count**2))
    return (middle - half) / (1 + z**2 / count), (middle + half) / (1 + z**2 / count)


def _in_sight(trace: Trace, mention: Mention) -> list[int]:
    """The candidates that have tokens and may be seen from the pronoun; none if it has no token."""
    if not _tokens_of(trace.tokens, mention.pronoun):
        return []
    return [
        number
        for number, span in enumerate(mention.candidates)
        if _tokens_of(trace.tokens, span) and not (trace.causal and span > mention.pronoun)
    ]


def _tokens_of(tokens: Sequence[Token], span: Span) -> list[int]:
    """Positions of the tokens that have a character of the span."""
    return [
        token.position
        for token in tokens
        if not token.special and token.span[0] < span[1] and token.span[1] > span[0]
    ]
