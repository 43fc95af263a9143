"""Which heads look from a pronoun to the noun it refers to.

After Clark et al. 2019, section 4.3: a head resolves a pronoun when, of all candidate nouns, it
attends most to the antecedent. Two rules by position are the ones to beat: the nearest candidate
before the pronoun, and the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Bools, Floats, Indices
from core.analysis.coreference.grouped import draw_groups, interval, lower_bounds
from core.analysis.corpus.sample import Mention, Sentence, Span
from core.model.trace import Token, Trace

if TYPE_CHECKING:
    import pandas as pd


RULES = ("nearest", "first")  # by position, regardless of the words


@dataclass(frozen=True, eq=False)
class Resolved:
    """What every head did with the pronouns of one text."""

    mentions: tuple[Mention, ...]  # those that count: with two or more visible candidates
    picks: NDArray[np.int8]  # int (mention, layer, head), the candidate that got most; -1 for a tie
    nearest: Bools  # whether the nearest candidate before the pronoun is the antecedent, (mention,)
    first: Bools  # whether the first candidate is
    uniform: Floats  # (mention,), what guessing gets: one over the number of candidates
    layer_labels: tuple[int, ...]  # of the layers, as people read them
    pair: int | None = None  # the minimal pair that the text is one half of; None for any other

    @property
    def hits(self) -> Bools:
        """Whether the antecedent got more than any other candidate, (mention, layer, head)."""
        right = np.array([mention.antecedent for mention in self.mentions], np.int8)
        return np.asarray(self.picks == right[:, None, None], dtype=np.bool_)


def resolve(trace: Trace, sentence: Sentence) -> Resolved:
    """What every head does with the pronouns of the sentence.

    Attention from a pronoun is the mean over its tokens, attention to a noun the sum over its own.
    A causal model sees only the candidates before the pronoun, and of a minimal pair only the
    pronouns after the deciding word. A pronoun does not count if it was cut off, has fewer than two
    visible candidates, or if its antecedent is not visible. One layer's attention is in memory at a
    time.
    """
    counted = [
        (mention, visible)
        for mention in sentence.mentions
        if len(visible := _visible(trace, sentence, mention)) > 1 and mention.antecedent in visible
    ]
    layers, heads = trace.shape[:2]
    picks = np.full((len(counted), layers, heads), -1, dtype=np.int8)
    for layer in range(layers if counted else 0):
        weights = trace.attention(layer)  # (head, token, token)
        for index, (mention, visible) in enumerate(counted):
            rows = weights[:, _tokens_of(trace.tokens, mention.pronoun)].mean(axis=1)
            nouns = [_tokens_of(trace.tokens, mention.candidates[each]) for each in visible]
            shares = np.stack([rows[:, noun].sum(axis=-1) for noun in nouns])  # (candidate, head)
            unique = (shares == shares.max(axis=0)).sum(axis=0) == 1
            picks[index, layer] = np.where(unique, np.array(visible)[shares.argmax(axis=0)], -1)
    mentions = tuple(mention for mention, _ in counted)
    return Resolved(
        mentions,
        picks,
        nearest=np.array([each.nearest == each.antecedent for each in mentions], np.bool_),
        first=np.array([each.first == each.antecedent for each in mentions], np.bool_),
        uniform=np.array([1 / len(visible) for _, visible in counted], np.float64),
        layer_labels=trace.layer_labels,
        pair=sentence.pair,
    )


def resolve_texts(traces: Iterable[Trace], sentences: Iterable[Sentence]) -> tuple[Resolved, ...]:
    """:func:`resolve` for the trace of each sentence."""
    return tuple(resolve(*both) for both in zip(traces, sentences, strict=True))


def _visible(trace: Trace, sentence: Sentence, mention: Mention) -> list[int]:
    """The candidates that have tokens and may be seen from the pronoun.

    None if the pronoun has no token, or precedes the deciding word in a causal model.
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


@dataclass(frozen=True, eq=False)
class _Pooled:
    """The pronouns of many texts; those of one text, or of one minimal pair, are a group."""

    hits: Floats  # (pronoun, head of all layers), 1 for right
    rules: dict[str, Floats]  # (pronoun,) by rule, 1 for right
    uniform: Floats  # (pronoun,), what guessing gets
    groups: Indices  # (pronoun,), the number of its group from 0
    shape: tuple[int, int]  # (layers, heads)


def _pool(resolved: Sequence[Resolved]) -> _Pooled:
    """All pronouns that count. Raises ValueError when none does."""
    counting = [each for each in resolved if each.mentions]
    if not counting:
        raise ValueError("no pronoun with two candidates is marked in these texts")
    names = [
        f"text {index}" if each.pair is None else f"pair {each.pair}"
        for index, each in enumerate(counting)
        for _ in each.mentions
    ]
    number = {name: number for number, name in enumerate(dict.fromkeys(names))}
    hits, uniform, *rules = (
        np.concatenate([getattr(each, part) for each in counting]).astype(np.float64)
        for part in ("hits", "uniform", *RULES)
    )
    return _Pooled(
        hits.reshape(len(hits), -1),
        dict(zip(RULES, rules, strict=True)),
        uniform,
        np.array([number[name] for name in names], np.intp),
        (hits.shape[1], hits.shape[2]),
    )


def coreference_table(resolved: Sequence[Resolved]) -> pd.DataFrame:
    """A row per head over all pronouns of these texts; `ValueError` when none counts.

    Columns `layer` and `head` (1-based); `coreference`, the share of pronouns resolved, with `low`
    and `high`; for each rule of `RULES` the difference from it, as `over_nearest`, with
    `over_nearest_low` and `over_nearest_high`; `hard`, the share of those that do not refer to the
    nearest noun; `both_right` and `both_wrong`, the number of minimal pairs of which a head
    resolves both halves, or neither (a head that ignores the deciding word has none); and `better`.
    The same in every row: the share that each rule resolves (`nearest`, `first`), that of guessing
    (`chance`), the number of `pronouns` and of their `groups`.

    Intervals hold 95 % for that head alone: texts are resampled, minimal pairs kept together.
    `better` is corrected for the number of heads: whether the head beats every rule, for all heads
    at once with 95 % confidence (:func:`core.analysis.coreference.grouped.lower_bounds`).
    """
    import pandas as pd

    pooled = _pool(resolved)
    draws = draw_groups(pooled.groups)
    leads = {rule: pooled.hits - right[:, None] for rule, right in pooled.rules.items()}
    bounds = lower_bounds(np.concatenate(list(leads.values()), axis=1), draws)
    layer, head = np.indices(pooled.shape).reshape(2, -1)
    hard = pooled.rules["nearest"] == 0
    both_right, both_wrong = _whole_pairs(resolved, pooled.hits.shape[1])
    share, low, high = interval(pooled.hits, draws)
    layer_labels = np.array(resolved[0].layer_labels)
    columns: dict[str, object] = {"layer": layer_labels[layer], "head": head + 1}
    columns |= {"coreference": share, "low": low, "high": high}
    for rule, lead in leads.items():
        names = (f"over_{rule}", f"over_{rule}_low", f"over_{rule}_high")
        columns |= dict(zip(names, interval(lead, draws), strict=True))
    return pd.DataFrame(
        columns
        | {
            "hard": pooled.hits[hard].mean(axis=0) if hard.any() else np.nan,
            "both_right": both_right,
            "both_wrong": both_wrong,
            "better": (bounds.reshape(len(RULES), -1) > 0).all(axis=0),
            **{rule: float(right.mean()) for rule, right in pooled.rules.items()},
            "chance": float(pooled.uniform.mean()),
            "pronouns": len(pooled.groups),
            "groups": int(pooled.groups.max()) + 1,
        }
    )


def _whole_pairs(
    resolved: Sequence[Resolved], heads: int
) -> tuple[NDArray[np.int_], NDArray[np.int_]]:
    """In how many whole pairs both halves, and neither, are resolved; (head,) each."""
    halves: dict[int, list[Bools]] = {}
    for each in resolved:
        if each.pair is not None and each.mentions:
            halves.setdefault(each.pair, []).append(each.hits[0].ravel())
    whole = [pair for pair in halves.values() if len(pair) == 2]
    right = np.array(whole).reshape(-1, 2, heads).sum(axis=1)  # (pair, head), how many of the two
    return (right == 2).sum(axis=0), (right == 0).sum(axis=0)


class Estimate(NamedTuple):
    """A mean and the bounds of its 95 % interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class BestHead:
    """How well the best head does on pronouns that did not choose it."""

    heads: tuple[tuple[int, int], tuple[int, int]]  # (layer, head) from 0, chosen on either half
    share: Estimate  # of the pronouns, each half resolved by the head that the other half chose
    over: dict[str, Estimate]  # the difference from each rule of `RULES`


def best_head(resolved: Sequence[Resolved]) -> BestHead | None:
    """Choose the best head on every other group, judge it on the rest, and vice versa.

    The best of many heads on the very pronouns that chose it would also be the luckiest. None where
    there is only one group; `ValueError` when no pronoun counts.
    """
    pooled = _pool(resolved)
    if not pooled.groups.any():
        return None
    odd = pooled.groups % 2 == 1
    chosen = [int(pooled.hits[half].mean(axis=0).argmax()) for half in (~odd, odd)]
    judged = np.where(odd, pooled.hits[:, chosen[0]], pooled.hits[:, chosen[1]])
    values = np.stack([judged, *(judged - pooled.rules[rule] for rule in RULES)], axis=1)
    share, *over = (
        Estimate(*map(float, column)) for column in interval(values, draw_groups(pooled.groups)).T
    )
    first, second = (divmod(number, pooled.shape[1]) for number in chosen)
    return BestHead((first, second), share, dict(zip(RULES, over, strict=True)))
