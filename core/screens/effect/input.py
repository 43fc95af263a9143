"""What the heads of the effect page read: a text or an image, by its key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from core.model.interventions.measures import Measure
from core.ui import cache
from core.ui.cache import TraceKey
from core.ui.serve import images

if TYPE_CHECKING:
    from core.model import LoadedModel

MAX_TOKENS = 128  # of a text: passes take time, one for every head and random direction


class Asked(NamedTuple):
    """What is measured; of a similarity the other sentence, and the words that were named."""

    measure: Measure
    other: str | None = None
    words: tuple[str | None, str | None] | None = None


def model_of(key: TraceKey) -> LoadedModel:
    """The model that the effects are of."""
    return cache.model(key.model, key.modality)


def text_of(key: TraceKey) -> Any:  # noqa: ANN401 - a text or an image
    """What the model reads."""
    return key.text if key.image is None else images.pixels(key.image)


def limits(key: TraceKey) -> Any:  # noqa: ANN401 - options of several functions
    """The second text, the size of an image, and how much of a text is read."""
    size = None if key.size is None else (key.size, key.size)
    return {"pair": key.pair, "size": size, "max_tokens": MAX_TOKENS}
