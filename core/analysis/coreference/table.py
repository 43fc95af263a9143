"""Which heads look from a pronoun to the noun it stands for.

After Clark et al. 2019, section 4.3: a head resolves a pronoun when, of all candidate nouns, it
attends most to the antecedent. They count the whole mention's head word; so does this. The rules to
beat go by position: the nearest candidate before the pronoun, and the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from core.analysis.coreference.grouped import Draws, draw_groups, interval, lower_bounds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from core.analysis.coreference.grouped import Estimate
    from core.analysis.corpus.sample import Mention, Sentence, Span
    from core.model.trace import Token, Trace

    Booleans = NDArray[np.bool_]
    Floats = NDArray[np.float64]

RULES = ("nearest", "first")  # by position, without a look at the words


@dataclass(frozen=True, eq=False)
class Resolved:
    """What every head did with the pronouns of one text.

    Attributes
    ----------
    mentions : those that count: with two candidates or more in sight.
    picks : int (mention, layer, head), the candidate that got most; -1 for a tie.
    nearest, first : boolean (mention,), whether the nearest candidate before the pronoun, or the
        first, is the antecedent.
    chance : (mention,), one over the number of candidates.
    pair : the minimal pair the text is one half of; None for any other.
    """

    mentions: tuple[Mention, ...]
    picks: NDArray[np.int8]
    nearest: Booleans
    first: Booleans
    chance: Floats
    pair: int | None = None

    @property
    def hits(self) -> Booleans:
        """Whether the antecedent got more than any other candidate, (mention, layer, head)."""
        right = np.array([mention.antecedent for mention in self.mentions], np.int8)
        return np.asarray(self.picks == right[:, None, None], dtype=np.bool_)


def resolve(trace: Trace, sentence: Sentence) -> Resolved:
    """What every head does with the pronouns of the sentence.

    Attention from a pronoun is the mean over its tokens, attention to a noun the sum over its own.
    A causal model sees only the candidates before the pronoun, and of a minimal pair only those
    whose deciding word stands before it. Pronouns that were cut off, have fewer than two candidates
    left, or stand for a noun out of sight, do not count. One layer's attention is in memory at a
    time.
    """
    counted = [
        (mention, seen)
        for mention in sentence.mentions
        if len(seen := _in_sight(trace, sentence, mention)) > 1 and mention.antecedent in seen
    ]
    layers, heads = trace.shape[:2]
    picks = np.full((len(counted), layers, heads), -1, dtype=np.int8)
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
            alone = (to == to.max(axis=0)).sum(axis=0) == 1
            picks[place, layer] = np.where(alone, np.array(seen)[to.argmax(axis=0)], -1)
    mentions = tuple(mention for mention, _ in counted)
    return Resolved(
        mentions,
        picks,
        nearest=np.array([each.nearest == each.antecedent for each in mentions], np.bool_),
        first=np.array([each.first == each.antecedent for each in mentions], np.bool_),
        chance=np.array([1 / len(seen) for _, seen in counted], np.float64),
        pair=sentence.pair,
    )


@dataclass(frozen=True, eq=False)
class Pooled:
    """The pronouns of many texts; those of one text, or of one minimal pair, are a group.

    Attributes
    ----------
    hits : float64 (pronoun, head), heads of all layers in one row, 1 for right.
    rules : float64 (pronoun,) by name of the rule, 1 for right.
    chance : (pronoun,).
    groups : int (pronoun,), the number of its group from 0.
    shape : (layers, heads).
    """

    hits: Floats
    rules: dict[str, Floats]
    chance: Floats
    groups: NDArray[np.intp]
    shape: tuple[int, int]


def pool(resolved: Sequence[Resolved]) -> Pooled:
    """All pronouns that count.

    Raises
    ------
    ValueError
        When no pronoun counts.
    """
    counting = [each for each in resolved if each.mentions]
    if not counting:
        raise ValueError("no pronoun with two candidates is marked in these texts")
    names = [
        f"text {place}" if each.pair is None else f"pair {each.pair}"
        for place, each in enumerate(counting)
        for _ in each.mentions
    ]
    order = {name: number for number, name in enumerate(dict.fromkeys(names))}
    hits = np.concatenate([each.hits for each in counting]).astype(np.float64)
    return Pooled(
        hits.reshape(len(hits), -1),
        {
            rule: np.concatenate([getattr(each, rule) for each in counting]).astype(np.float64)
            for rule in RULES
        },
        np.concatenate([each.chance for each in counting]),
        np.array([order[name] for name in names], np.intp),
        (hits.shape[1], hits.shape[2]),
    )


def coreference_table(resolved: Sequence[Resolved]) -> pd.DataFrame:
    """A row a head over all pronouns of these texts.

    Returns
    -------
    Columns `layer` and `head` (1-based); `coreference`, the share of pronouns resolved, with `low`
    and `high`; for each rule of `RULES` the difference to it, as `over_nearest`, with
    `over_nearest_low` and `over_nearest_high`; `hard`, the share of those that do not stand for
    the nearest noun; `both_right` and `both_wrong`, the number of minimal pairs of which a head
    resolves both halves, or neither (a head that does not heed the word that differs has none); and
    `better`. The same in every row: the share that each rule resolves (`nearest`, `first`),
    `chance`, the number of `pronouns` and of `groups` they are in.

    Intervals hold 95 % for that head alone: texts are drawn anew, minimal pairs kept together.
    `better` is corrected for the number of heads: whether the head beats every rule in all of them
    at once with 95 % confidence (see :func:`core.analysis.coreference.grouped.lower_bounds`).

    Raises
    ------
    ValueError
        When no pronoun counts.
    """
    pooled = pool(resolved)
    draws = draw_groups(pooled.groups)
    share = interval(pooled.hits, draws)
    over = {rule: interval(_over(pooled.hits, pooled.rules[rule]), draws) for rule in RULES}
    layer, head = np.indices(pooled.shape).reshape(2, -1)
    hard = pooled.rules["nearest"] == 0
    both_right, both_wrong = _pairs(resolved, pooled.shape)
    columns: dict[str, object] = {
        "layer": layer + 1,
        "head": head + 1,
        "coreference": share.mean,
        "low": share.low,
        "high": share.high,
    }
    for rule, each in over.items():
        columns[f"over_{rule}"] = each.mean
        columns |= {f"over_{rule}_low": each.low, f"over_{rule}_high": each.high}
    return pd.DataFrame(
        columns
        | {
            "hard": pooled.hits[hard].mean(axis=0) if hard.any() else np.nan,
            "both_right": both_right,
            "both_wrong": both_wrong,
            "better": _beats_every_rule(pooled, draws),
            **{rule: float(right.mean()) for rule, right in pooled.rules.items()},
            "chance": float(pooled.chance.mean()),
            "pronouns": len(pooled.groups),
            "groups": int(pooled.groups.max()) + 1,
        }
    )


@dataclass(frozen=True)
class BestHead:
    """How well the best head does on pronouns that did not choose it.

    Attributes
    ----------
    heads : (layer, head) from 0, chosen on one half of the groups, and on the other.
    share : of the pronouns, each half resolved by the head that the other half chose.
    over : the difference to each rule of `RULES`.
    """

    heads: tuple[tuple[int, int], tuple[int, int]]
    share: Estimate
    over: dict[str, Estimate]


def best_head(resolved: Sequence[Resolved]) -> BestHead | None:
    """Choose the best head on every other group, judge it on the rest, and the other way round.

    The best of many heads on the very pronouns that chose it would be the luckiest too. None where
    there is only one group.

    Raises
    ------
    ValueError
        When no pronoun counts.
    """
    pooled = pool(resolved)
    if not pooled.groups.any():
        return None
    odd = pooled.groups % 2 == 1
    chosen = [int(pooled.hits[half].mean(axis=0).argmax()) for half in (~odd, odd)]
    judged = np.where(odd, pooled.hits[:, chosen[0]], pooled.hits[:, chosen[1]])
    draws = draw_groups(pooled.groups)
    share, *over = (
        interval(values[:, None], draws).of(0)
        for values in (judged, *(judged - pooled.rules[rule] for rule in RULES))
    )
    first, second = (divmod(each, pooled.shape[1]) for each in chosen)
    return BestHead((first, second), share, dict(zip(RULES, over, strict=True)))


def _over(hits: Floats, rule: Floats) -> Floats:
    return np.asarray(hits - rule[:, None], dtype=np.float64)


def _beats_every_rule(pooled: Pooled, draws: Draws) -> Booleans:
    """Whether a head beats all rules, held for all heads at once, (head,)."""
    every = np.concatenate([_over(pooled.hits, rule) for rule in pooled.rules.values()], axis=1)
    bounds = lower_bounds(every, draws).reshape(len(pooled.rules), -1)
    return np.asarray((bounds > 0).all(axis=0), dtype=np.bool_)


def _pairs(
    resolved: Sequence[Resolved], shape: tuple[int, int]
) -> tuple[NDArray[np.int_], NDArray[np.int_]]:
    """In how many whole pairs both halves, and neither, are resolved; (head,) twice."""
    halves: dict[int, list[Booleans]] = {}
    for each in resolved:
        if each.pair is not None and each.mentions:
            halves.setdefault(each.pair, []).append(each.hits[0].ravel())
    whole = [each for each in halves.values() if len(each) == 2]
    if not whole:
        nothing = np.zeros(shape[0] * shape[1], np.int_)
        return nothing, nothing
    right = np.array(whole).sum(axis=1)  # (pair, head), how many of the two
    return (right == 2).sum(axis=0), (right == 0).sum(axis=0)


def _in_sight(trace: Trace, sentence: Sentence, mention: Mention) -> list[int]:
    """The candidates that have tokens and may be seen from the pronoun.

    None if the pronoun has no token, or stands before the word that decides in a causal model.
    """
    if not _tokens_of(trace.tokens, mention.pronoun):
        return []
    if trace.causal and sentence.decided_by and sentence.decided_by > mention.pronoun:
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
