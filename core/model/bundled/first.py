"""What comes with the app of the inputs that pages begin with: a pass, and what takes the weights.

Pages draw it while the model is still being loaded. ``python -m tests.tools.first`` writes the
files again.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.model.trace import Array, Trace
from core.records import read_record

TEXT, IMAGE = "bundled/minilm", "bundled/vit-scenes"  # the models
SENTENCE, PICTURE = "Oh, this book? I've enjoyed it.", "three-shapes"  # what they are given
_FOLDER, _NAME = Path(__file__).parent, "first.safetensors"
FILES = {TEXT: _FOLDER / "minilm" / _NAME, IMAGE: _FOLDER / "vit_scenes" / _NAME}


@dataclass(frozen=True, eq=False, kw_only=True)
class FirstInput:
    """A model's first input.

    Attributes
    ----------
    norms : |f(v)| of every key token, (layer, head, token); None where W_O is not known.
    similarity : of W_Q and W_K, (layer, head); None where they are not known.
    induction : scores on random sequences and their uniform baseline, (2, layer, head); None for a
        model of images.
    effects, directions, fresh : of :func:`core.model.effects` on the sentence vector, the mean for
        each head: values (layer, head), draws of all heads (draw, layer, head), and 99 fresh ones
        of the heads of largest effect, the largest first (draw, head); None for a model of images.
    classes : what a model of images takes the image for, the likeliest first.
    """

    trace: Trace
    norms: Array | None
    similarity: Array | None
    induction: NDArray[np.float64] | None = None
    effects: NDArray[np.float64] | None = None
    directions: NDArray[np.float64] | None = None
    fresh: NDArray[np.float64] | None = None
    classes: tuple[tuple[str, float], ...] = ()


@functools.cache
def first_of(model: str) -> FirstInput:
    """That of one of these models."""
    return read_record(FirstInput, FILES[model])
