"""An atlas in memory, of traces or of a store of parts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.atlas.data import Atlas
from core.analysis.atlas.engine.constants import cut_settings, find_constants
from core.analysis.atlas.engine.part import join_parts
from core.analysis.atlas.engine.project import project_part
from core.analysis.atlas.engine.sample import sample_of, sampled_numbers
from core.analysis.atlas.engine.store import MemoryStore
from core.analysis.atlas.images.pixels import join_images

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from core.analysis.atlas.engine.part import Part
    from core.model.trace import Trace


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
    store = MemoryStore()
    builder = store.builder(0, 1.0)
    for index, item in enumerate(traces):
        builder.add(*(item if isinstance(item, tuple) else (index, item)))
    return atlas_of(store, sentences, labels)


def atlas_of(
    store: MemoryStore,
    sentences: Sequence[str] = (),
    labels: Sequence[str] = (),
    before_head: Callable[[int, int], object] | None = None,
) -> Atlas:
    """The atlas of all that a store has, whose vectors are moved out of it.

    `sentences` and `labels` are those of parts that are not finished, by the sentences' numbers;
    `before_head` is as in :func:`find_constants`. Of images, `sentences` are the names. Raises
    `ValueError` for a store without a sentence, or images of several sizes.
    """
    for index, builder in list(store.begun.items()):
        store.put(index, builder.finish(sentences, labels))
    part = _join(store)
    images = join_images(list(part.patches.values())) if part.patches else None
    sample = sample_of(part, sampled_numbers(part.sums.candidates))
    constants = find_constants(part.sums, sample, before_head)
    projected = project_part(part, constants)
    sums, numbers = part.sums, part.numbers
    places = np.searchsorted(numbers, part.tokens.sentence).astype(np.int32)
    return Atlas(
        model=sums.model,
        causal=sums.causal,
        sentences=part.texts,
        labels=part.labels,
        tokens=replace(part.tokens, sentence=places),
        masks={place: part.masks[n] for place, n in enumerate(numbers) if n in part.masks},
        rules=sums.rules,
        layer_numbers=sums.layer_numbers,
        depth=sums.depth,
        vectors=part.vectors,
        distances=sums.distances,
        positions=sums.positions,
        settings=cut_settings(sums),
        images=images,
        points=projected.points,
        norms=projected.norms,
        shares=constants.shares,
        scaling=constants.scaling,
        faithfulness=constants.faithfulness,
        full=constants.full,
        measured=constants.measured,
    )


def _join(store: MemoryStore) -> Part:
    """All parts as one; those in the store are gone then."""
    parts = [part for index in sorted(store.parts) if (part := store.parts[index]) is not None]
    store.parts.clear()
    if not parts:
        raise ValueError("an atlas needs at least one sentence")
    return parts[0] if len(parts) == 1 else join_parts(parts)
