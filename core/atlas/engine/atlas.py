"""An atlas in memory, of traces or of a store of parts; on disk a `FolderStore` has them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from core.atlas.data import ONE_HEAD_TOKENS, Atlas, Ints, SampledVectors
from core.atlas.engine.constants import assemble, find_constants, project_part
from core.atlas.engine.sample import sample_of, sampled_numbers
from core.atlas.engine.shard import Shard, ShardBuilder, join_shards
from core.atlas.engine.sums import Sums
from core.atlas.pixels import join_images
from core.atlas.priority import tokens_within
from core.model.trace import Trace


class MemoryStore:
    """Finished parts in memory."""

    def __init__(self) -> None:
        self.parts: dict[int, Shard | None] = {}

    def finished(self, index: int) -> bool:
        """Whether the part is there, whole; one without a sentence is, too."""
        return index in self.parts

    def put(self, index: int, part: Shard | None) -> None:
        """Keep a finished part, in the place of any other with its index."""
        self.parts[index] = part

    def sums(self, index: int) -> Sums | None:
        """Those of a finished part; None where it has no sentence."""
        part = self.parts[index]
        return None if part is None else part.sums


def build_atlas(
    traces: Iterable[Trace] | Iterable[tuple[int, Trace]],
    sentences: Sequence[str] = (),
    labels: Sequence[str] = (),
) -> Atlas:
    """Every head's queries and keys over a corpus, projected, with what the projections keep.

    `traces` are those of ``trace_corpus``, or of ``trace_by_length`` with the place of each
    sentence; the `sentences` traced are by default put together from their tokens; `labels` are the
    reader's own, one per sentence. Raises `ValueError` when there is no trace.
    """
    store, builder = MemoryStore(), ShardBuilder()
    for index, item in enumerate(traces):
        builder.add(*(item if isinstance(item, tuple) else (index, item)))
    store.put(0, builder.finish(sentences, labels))
    return atlas_of(store)


def atlas_of(store: MemoryStore) -> Atlas:
    """The atlas of all that a store has, whose vectors are moved out of it.

    Raises `ValueError` for a store without a sentence, or images of several sizes.
    """
    part = _join(store)
    images = join_images(list(part.patches.values())) if part.patches else None
    constants = find_constants(part.sums, sample_of(part, sampled_numbers(part.sums.candidates)))
    projected = project_part(part.texts.tokens, part.vectors.of_head, constants)
    atlas = assemble(part.sums, constants, part.texts, projected)
    return replace(
        atlas,
        images=images,
        masks={
            place: part.masks[n] for place, n in enumerate(part.texts.numbers) if n in part.masks
        },
        rules=part.sums.rules,
        vectors=_sampled(part, atlas.tokens.sentence),
    )


def _sampled(part: Shard, sentence: Ints) -> SampledVectors:
    """The vectors of as many tokens as a layout takes at most; `sentence` is that of each token."""
    _, tokens = tokens_within(sentence, ONE_HEAD_TOKENS)
    queries, kv_keys = part.vectors.queries, part.vectors.kv_keys
    if tokens.size < sentence.size:
        queries, kv_keys = queries[:, :, tokens], kv_keys[:, :, tokens]
    return SampledVectors(queries, kv_keys, tokens, part.sums.queries.mean, part.sums.keys.mean)


def _join(store: MemoryStore) -> Shard:
    """All parts as one; those in the store are gone then."""
    parts = [part for index in sorted(store.parts) if (part := store.parts[index]) is not None]
    store.parts.clear()
    if not parts:
        raise ValueError("an atlas needs at least one sentence")
    return parts[0] if len(parts) == 1 else join_shards(parts)
