"""Whether the numbers in an atlas's file are possible.

Pages draw what they get: a correlation of 7, a negative distance or an infinite constant would
break a page instead of being refused when the file is opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.atlas.data import SAMPLED
from core.atlas.files.errors import AtlasFileError
from core.atlas.files.texts import is_well_formed

if TYPE_CHECKING:
    Arrays = Mapping[str, NDArray[Any]]

COUNTS = ("tokens_cut", "sentences_left_out", *SAMPLED)  # settings that pages add up
_ROUNDING = 1e-4  # of shares and correlations; attention is summed in float32
_MAX_NAME = 4096  # characters of a model's name, which may be a folder: PATH_MAX on Linux
_MAX_SETTINGS, _MAX_SETTING = 100, 1000  # how many, and the characters of each


def check_arrays(arrays: Arrays, sentences: int, compared: int) -> None:
    """Raise `AtlasFileError` for numbers that are impossible; faithfulness is checked elsewhere."""
    for name, values in arrays.items():
        if name.startswith("shares."):
            _within(name, values, 0, 1)
    c = arrays["scaling.c"]
    if not np.isfinite(c).all() or (c <= 0).any():
        raise AtlasFileError("“scaling.c” has constants that are not positive numbers.")
    _check_distances(arrays["distances.sums"], compared)
    _check_positions(arrays["positions.sums"], arrays["positions.counts"], sentences)


def check_model(name: str) -> str:
    """The name of a model; `AtlasFileError` when it is too long, or not text."""
    if len(name) > _MAX_NAME:
        raise AtlasFileError(f"The model's name has {len(name):,} characters.")
    if not name or "\0" in name or not is_well_formed(name):
        raise AtlasFileError("The file does not name the model of the atlas.")
    return name


def check_settings(settings: dict[str, Any]) -> dict[str, str | int]:
    """Settings that pages can show: a few texts, numbers and counts; else `AtlasFileError`."""
    if len(settings) > _MAX_SETTINGS:
        raise AtlasFileError(f"“settings” has {len(settings):,} entries.")
    for name, value in settings.items():
        texts = [text for text in (name, value) if isinstance(text, str)]
        if not isinstance(value, str | int) or (isinstance(value, int) and abs(value) >= 2**53):
            raise AtlasFileError("“settings” has something other than texts and numbers.")
        if any(len(text) > _MAX_SETTING or not is_well_formed(text) for text in texts):
            raise AtlasFileError("“settings” has a text that is too long, or not text.")
        if name in COUNTS and (type(value) is not int or value < 0):
            raise AtlasFileError(f"“{name}” among the settings is not a count.")
    return settings


def _within(name: str, values: NDArray[Any], low: float, high: float) -> None:
    if not ((values >= low - _ROUNDING) & (values <= high + _ROUNDING)).all():  # so NaN fails
        raise AtlasFileError(f"“{name}” has numbers that are not between {low} and {high}.")


def _check_distances(sums: NDArray[Any], compared: int) -> None:
    """The map of heads needs symmetric distances from 0 to 1, 0 on the diagonal."""
    if compared < 1:
        raise AtlasFileError("The distances between heads were measured on no token.")
    if not ((sums >= 0) & (sums <= compared * (1 + _ROUNDING))).all():
        raise AtlasFileError("The distances between heads are not between 0 and 1.")
    if (sums != sums.T).any() or sums.diagonal().any():
        raise AtlasFileError("The distances between heads are not the same both ways.")


def _check_positions(sums: NDArray[Any], counts: NDArray[Any], sentences: int) -> None:
    if not ((counts >= 0) & (counts <= sentences)).all():
        raise AtlasFileError("“positions” counts more sentences than there are.")
    if not ((sums >= 0) & (sums <= counts * (1 + _ROUNDING))).all():
        raise AtlasFileError("“positions” has attention that is not between 0 and 1.")
