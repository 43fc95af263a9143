"""Effects over the sample corpus: on each of some sentences, or on each of the sample images."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from core.model import box
from core.model.interventions.heads import SEED, Effects, Replace, effects
from core.model.interventions.measures import Measure
from core.model.interventions.reference import reference_texts

if TYPE_CHECKING:
    from core.model.running.loaded import LoadedModel

DRAWS = 4  # random directions a head on each of them
TEXTS = 16  # of the reference, evenly spread: with 4 draws 12 s for a small encoder on 2 cores


def samples_of(model: LoadedModel) -> tuple[str, ...]:
    """`TEXTS` sentences of the sample corpus, or the names of all sample images."""
    if model.sees_images:
        return tuple(box.BOX)
    texts = reference_texts()
    return texts[:: len(texts) // TEXTS][:TEXTS]


def sample_effects(
    model: LoadedModel,
    place: int,
    replace: Replace = "mean",
    measure: Measure | None = None,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Effects:
    """What :func:`core.model.effects` gives for the sample in that place of :func:`samples_of`.

    Each sample has random directions of its own, so that no direction is lucky on all of them.
    What replaces a head comes from the default reference, of which the samples are a part.
    """
    name = samples_of(model)[place]
    given = box.open_box(name) if model.sees_images else name
    return effects(
        model, given, replace, measure, draws=DRAWS, seed=SEED + place, progress=progress
    )
