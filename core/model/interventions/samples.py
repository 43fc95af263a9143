"""Effects over the sample corpus: on each of some sentences, or on each of the sample images."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from core.model import sample_images
from core.model.interventions.heads import Effects, Replace, effects
from core.model.interventions.measures import Measure
from core.model.interventions.reference import reference_texts

if TYPE_CHECKING:
    from core.model.running.loaded import LoadedModel

# Random directions, the same on each of so many samples: of fewer than ten, whatever the number of
# heads, no single head could exceed chance at a false discovery rate of 10 %.
DRAWS, COMPARED = 10, 16


def samples_of(model: LoadedModel) -> tuple[str, ...]:
    """The sentences of the reference, or the names of all sample images."""
    return tuple(sample_images.BOX) if model.sees_images else reference_texts()


def compared_with_chance(model: LoadedModel) -> range:
    """The places of `COMPARED` of :func:`samples_of`, evenly spread."""
    count = len(samples_of(model))
    return range(0, count, max(1, count // COMPARED))[:COMPARED]


def sample_effects(
    model: LoadedModel,
    place: int,
    replace: Replace = "mean",
    measure: Measure | None = None,
    *,
    draws: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Effects:
    """What :func:`core.model.effects` gives for the sample in that place of :func:`samples_of`.

    Random directions are the same on all samples, as what a head writes is: else the luck of a
    direction would cancel out over samples, and that of the head would not. What replaces a head
    comes from the default reference, of which the samples are a part.
    """
    name = samples_of(model)[place]
    given = sample_images.open_box(name) if model.sees_images else name
    return effects(model, given, replace, measure, draws=draws, progress=progress)
