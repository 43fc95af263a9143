"""Run the sentences of a part through a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from core.atlas.engine import Chunk
from core.model import LoadedModel, Trace, trace_by_length


def traces_of(
    model: LoadedModel, batch_tokens: int
) -> Callable[[Chunk], Iterator[tuple[int, Trace]]]:
    """What traces the sentences of a part, each with its number, in batches of so many tokens."""

    def traces(chunk: Chunk) -> Iterator[tuple[int, Trace]]:
        numbers, texts = list(chunk.lengths), [chunk.texts[number] for number in chunk.lengths]
        lengths = list(chunk.lengths.values())
        traced = trace_by_length(
            model, texts, batch_tokens=batch_tokens, lengths=lengths, whole=False
        )
        return ((numbers[place], trace) for place, trace in traced)

    return traces
