"""One token x token table from a trace: for which layers, heads and tokens, and which values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Literal

import numpy as np

from core.analysis.arrays import Bools
from core.analysis.pairs import permitted, permitted_pairs
from core.vocabulary import head_name, join_pieces, unique_labels

if TYPE_CHECKING:
    import pandas as pd

    from core.model.trace import Array, Token, Trace


AnyLayer = int | Literal["mean"]
AnyHead = int | Literal["mean", "max"]
Values = Literal["attention", "scores"]


@dataclass(frozen=True)
class Side:
    """The tokens along the rows or columns of a table, or on one side of a line view."""

    labels: tuple[str, ...]  # all different: repeated words are numbered
    special: tuple[bool, ...]  # whether it is a special token
    segments: tuple[int, ...]  # 0 for the first sentence, 1 for the second
    positions: tuple[tuple[int, ...], ...]  # of each label's pieces in the text, from 0


@dataclass(frozen=True, eq=False)
class AttentionTable:
    """A table as it is shown."""

    values: Array  # float32 (row, column); ``-inf`` where a score is masked
    permitted: Bools  # (row, column); False where the model lets no query of the row see the key
    rows: Side  # who attends
    columns: Side  # who is attended to: the same tokens, except in cross attention
    where: str  # which layer and head, e.g. ``"L4 H2"`` or ``"layer 6, mean of 12 heads"``
    kind: Values  # "attention" (probabilities) or "scores" (before softmax)
    rows_sum_to_one: bool  # whether every row adds up to one, within 1e-3
    hidden: int  # how many special tokens are not shown

    @property
    def row_sums(self) -> Array:
        """How much of each query token's attention is shown, float32 (row,)."""
        return self.values.sum(axis=1)

    @property
    def column_sums(self) -> Array:
        """How much of the attention shown each key token gets, float32 (column,)."""
        return self.values.sum(axis=0)

    @property
    def shown(self) -> Array:
        """The values as a picture shows them: nan for pairs that are not permitted."""
        return np.where(self.permitted, self.values, np.float32(np.nan))

    def frame(self) -> pd.DataFrame:
        """The table as it is saved, with tokens as row and column labels."""
        import pandas as pd

        index = pd.Index(self.rows.labels, name="from \\ to")
        return pd.DataFrame(self.values, index=index, columns=list(self.columns.labels))

    def _repr_html_(self) -> str:
        """The heatmap, in a notebook; imported by name, since it is on a higher floor."""
        return str(import_module("core.notebook").view_of(self)._repr_html_())


def attention_table(
    trace: Trace,
    layer: AnyLayer,
    head: AnyHead,
    *,
    values: Values = "attention",
    words: bool = False,
    hide_special: bool = False,
) -> AttentionTable:
    """The table of a layer and head, from 0, or of a mean or maximum over them.

    Heads are summarised within each layer first, then layers are averaged. `words` merges word
    pieces in each head: mean over the rows of a word, sum over its columns, so that rows still add
    up to one (Clark et al. 2019, section 4.1). `hide_special` leaves out the tokens that
    the tokenizer added. Raises `ValueError` if scores are to be merged: that is meaningless before
    softmax.
    """
    if values == "scores" and words:
        raise ValueError("scores cannot be merged into words")
    sides = (trace.tokens, trace.key_tokens)
    groups = [
        word_groups(each) if words else [[token.position] for token in each] for each in sides
    ]
    layers = range(trace.shape[0]) if layer == "mean" else (layer,)
    total = sum(_summarise_heads(trace, each, head, values, groups) for each in layers)
    matrix = np.asarray(total / len(layers), dtype=np.float32)

    down, across = (
        [i for i, group in enumerate(own) if not (hide_special and side[group[0]].special)]
        for side, own in zip(sides, groups, strict=True)
    )
    hidden = len(groups[0]) - len(down), len(groups[1]) - len(across)
    allowed = (np.isfinite(matrix) & _permitted(trace, layers, head, groups))[np.ix_(down, across)]
    matrix = matrix[np.ix_(down, across)]
    sums_to_one = values == "attention" and bool(np.allclose(matrix.sum(axis=1), 1, atol=1e-3))
    return AttentionTable(
        values=matrix,
        permitted=allowed,
        rows=side_of(trace.tokens, down, groups[0]),
        columns=side_of(trace.key_tokens, across, groups[1]),
        where=_describe(trace, layer, head),
        kind=values,
        rows_sum_to_one=sums_to_one,
        hidden=hidden[0] if trace.source is None else sum(hidden),
    )


def side_of(
    tokens: Sequence[Token],
    shown: Sequence[int] | None = None,
    groups: Sequence[Sequence[int]] | None = None,
) -> Side:
    """Tokens, or `groups` of them, as one side; only those at the places `shown`, if given."""
    groups = [(place,) for place in range(len(tokens))] if groups is None else groups
    shown = range(len(groups)) if shown is None else shown
    labels = unique_labels(tuple(join_pieces([tokens[i] for i in group]) for group in groups))
    first = [tokens[group[0]] for group in groups]
    return Side(
        labels=tuple(labels[i] for i in shown),
        special=tuple(first[i].special for i in shown),
        segments=tuple(first[i].segment for i in shown),
        positions=tuple(tuple(groups[i]) for i in shown),
    )


def _permitted(
    trace: Trace, layers: Iterable[int], head: AnyHead, groups: list[list[list[int]]]
) -> Bools:
    """Cells with a pair that at least one of these layers and heads permits; (row, column)."""
    masks = (
        permitted_pairs(trace, layer).any(axis=0)
        if isinstance(head, str)
        else permitted(trace, layer, head)
        for layer in layers
    )
    allowed = np.logical_or.reduce(list(masks))
    for axis, own in enumerate(groups):
        allowed = np.logical_or.reduceat(allowed, [group[0] for group in own], axis=axis)
    return np.asarray(allowed, dtype=np.bool_)


def _summarise_heads(
    trace: Trace, layer: int, head: AnyHead, values: Values, groups: list[list[list[int]]]
) -> Array:
    """Attention or scores of a head, or the mean or maximum over heads; (row, column)."""
    only_head = None if isinstance(head, str) else head
    matrix = trace.scores(layer, only_head)
    if values == "attention":
        matrix = trace.layers[layer].weights(matrix, only_head, out=matrix)
    if [len(own) for own in groups] != list(matrix.shape[-2:]):
        matrix = merge_words(matrix, *groups)
    if head == "mean":
        return matrix.mean(axis=0)
    return matrix.max(axis=0) if head == "max" else matrix


def word_groups(tokens: tuple[Token, ...]) -> list[list[int]]:
    """Positions that belong together: the pieces of a word; each special token on its own."""
    groups: list[list[int]] = []
    for token in tokens:
        if groups and not token.special and token.word == tokens[token.position - 1].word:
            groups[-1].append(token.position)
        else:
            groups.append([token.position])
    return groups


def merge_words(matrix: Array, rows: list[list[int]], columns: list[list[int]]) -> Array:
    """Mean over the rows of a word, sum over its columns; float32 (..., word, word)."""
    sizes = np.array([len(group) for group in rows], dtype=np.float32)
    summed = np.add.reduceat(matrix, [group[0] for group in columns], axis=-1)
    merged = np.add.reduceat(summed, [group[0] for group in rows], axis=-2) / sizes[:, None]
    return merged.astype(np.float32, copy=False)


def _describe(trace: Trace, layer: AnyLayer, head: AnyHead) -> str:
    """Which layer and head, by the numbers that people read."""
    layers, heads = trace.shape[:2]
    if layer != "mean" and not isinstance(head, str):
        return head_name(trace, layer, head)
    of_layer = (
        f"mean of {layers} layers" if layer == "mean" else f"layer {trace.layer_labels[layer]}"
    )
    if isinstance(head, str):
        return f"{of_layer}, {'mean' if head == 'mean' else 'maximum'} of {heads} heads"
    return f"{of_layer}, head {head + 1}"
