"""Parts of an atlas, from traces at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.atlas.engine.shard import ShardBuilder

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from core.atlas.engine.shard import Shard
    from core.model.trace import Trace

    Texts = Sequence[str] | Mapping[int, str]


def trace_part(
    index: int,
    traces: Iterable[tuple[int, Trace]],
    texts: Texts = (),
    labels: Texts = (),
) -> Shard | None:
    """The part of these traces, each with its sentence's number; None where there is none."""
    builder = ShardBuilder(index)
    for number, trace in traces:
        builder.add(number, trace)
    return builder.finish(texts, labels)
