"""The bundled first inputs of the pages: a forward pass, and the results that need the weights.

Pages draw them while the model is still loading. ``python -m tests.tools.first`` regenerates the
files.
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
    similarity : between W_Q and W_K, (layer, head); None where they are not known.
    induction : scores on random sequences and their uniform baseline, (2, layer, head); None for a
        vision model.
    effects, directions, fresh : :func:`core.model.effects` on the sentence vector, each head at its
        mean: values (layer, head), draws of all heads (draw, layer, head), and 99 fresh draws of
        the heads with the largest effects, largest first (draw, head); None for a vision model.
    classes : the classes that a vision model predicts, the likeliest first.
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
    """The first input of one of these models."""
    return read_record(FirstInput, FILES[model])
