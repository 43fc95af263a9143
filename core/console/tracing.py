"""Run the sentences of a part through a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.model import trace_by_length

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from core.analysis.atlas.engine import Piece
    from core.model import LoadedModel, Trace


def traces_of(
    model: LoadedModel, batch_tokens: int
) -> Callable[[Piece], Iterator[tuple[int, Trace]]]:
    """What traces the sentences of a part, each with its number, in batches of so many tokens."""

    def traces(piece: Piece) -> Iterator[tuple[int, Trace]]:
        numbers, texts = list(piece.lengths), [piece.texts[number] for number in piece.lengths]
        lengths = list(piece.lengths.values())
        traced = trace_by_length(
            model, texts, batch_tokens=batch_tokens, lengths=lengths, whole=False
        )
        return ((numbers[place], trace) for place, trace in traced)

    return traces
