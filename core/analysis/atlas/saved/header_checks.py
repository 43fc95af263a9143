"""Whether the numbers of an atlas's header can be what they are said to be.

Pages draw what they are given: a correlation of 7, a distance below zero or a constant without end
would end a page instead of the opening of a file.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from core.analysis.atlas.saved.errors import AtlasFileError
from core.analysis.atlas.saved.texts import is_well_formed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Arrays = Mapping[str, NDArray[Any]]

COUNTS = ("tokens_cut", "sentences_left_out")  # settings that pages add up
_ROUNDING = 1e-4  # of shares and correlations; attention is summed up in float32
_LONGEST_NAME = 4096  # characters of a model's name, which may be a folder: PATH_MAX of Linux
_MOST_SETTINGS, _LONGEST_SETTING = 100, 1000  # of which each may have so many characters
_MOST_CONTAINERS, _MOST_OTHERS = 200, 1000  # of a header beside its texts; they have about 100
# Of JSON, escapes included; one that has no end ends with the header.
_TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)


def check_json(raw: bytes, tokens: int) -> None:
    """See, before it is parsed, that a header has about as many values as an atlas has.

    A list in a list is two bytes of JSON and a hundred of memory, so brackets, commas and texts
    are counted; what stands within texts is not.

    Raises
    ------
    AtlasFileError
        When it has many more.
    """
    most = 2 * tokens + _MOST_OTHERS
    containers = values = texts = end = 0
    for found in _TEXT.finditer(raw):
        containers, values = _counted(raw, end, found.start(), containers, values)
        texts, end = texts + 1, found.end()
        if max(texts, values) > most or containers > _MOST_CONTAINERS:
            break
    else:
        containers, values = _counted(raw, end, len(raw), containers, values)
    if max(texts, values) > most or containers > _MOST_CONTAINERS:
        raise AtlasFileError(
            f"The file's description of itself has {containers:,} lists, {values:,} values and"
            f" {texts:,} texts or more, many more than an atlas of {tokens:,} tokens."
        )


def _counted(raw: bytes, start: int, end: int, containers: int, values: int) -> tuple[int, int]:
    """With the brackets and the commas between two texts."""
    brackets = raw.count(b"[", start, end) + raw.count(b"{", start, end)
    return containers + brackets, values + raw.count(b",", start, end)


def check_arrays(arrays: Arrays, sentences: int, compared: int) -> None:
    """See that every number is one that can be measured; those of faithfulness are seen elsewhere.

    Raises
    ------
    AtlasFileError
        When one is not.
    """
    for name, values in arrays.items():
        if name.startswith("shares."):
            _within(name, values, 0, 1)
    c = arrays["scaling.c"]
    if not np.isfinite(c).all() or (c <= 0).any():
        raise AtlasFileError("“scaling.c” holds constants that are no positive numbers.")
    _check_distances(arrays["distances.sums"], compared)
    _check_positions(arrays["positions.sums"], arrays["positions.counts"], sentences)


def check_model(name: str) -> str:
    """The name of a model, as long as one can be.

    Raises
    ------
    AtlasFileError
        When it is longer, or no text.
    """
    if len(name) > _LONGEST_NAME:
        raise AtlasFileError(f"The model's name has {len(name):,} characters.")
    if not name or "\0" in name or not is_well_formed(name):
        raise AtlasFileError("The file does not name the model that the atlas is of.")
    return name


def check_settings(settings: dict[str, Any]) -> dict[str, str | int]:
    """Settings that pages can tell: texts and numbers, a few, and counts where pages count.

    Raises
    ------
    AtlasFileError
        When they are something else.
    """
    if len(settings) > _MOST_SETTINGS:
        raise AtlasFileError(f"“settings” has {len(settings):,} entries.")
    for name, value in settings.items():
        texts = [text for text in (name, value) if isinstance(text, str)]
        if not isinstance(value, str | int) or (isinstance(value, int) and abs(value) >= 2**53):
            raise AtlasFileError("“settings” holds something else than texts and numbers.")
        if any(len(text) > _LONGEST_SETTING or not is_well_formed(text) for text in texts):
            raise AtlasFileError("“settings” holds a text that is too long, or none.")
        if name in COUNTS and (type(value) is not int or value < 0):
            raise AtlasFileError(f"“{name}” among the settings is no count.")
    return settings


def _within(name: str, values: NDArray[Any], low: float, high: float) -> None:
    if not ((values >= low - _ROUNDING) & (values <= high + _ROUNDING)).all():  # nor not a number
        raise AtlasFileError(f"“{name}” holds numbers that are not between {low} and {high}.")


def _check_distances(sums: NDArray[Any], compared: int) -> None:
    """The layout of heads needs distances as a ruler gives them."""
    if compared < 1:
        raise AtlasFileError("The distances between heads were compared on no token.")
    if not ((sums >= 0) & (sums <= compared * (1 + _ROUNDING))).all():
        raise AtlasFileError("The distances between heads are not between 0 and 1.")
    if (sums != sums.T).any() or sums.diagonal().any():
        raise AtlasFileError("The distances between heads are not the same both ways.")


def _check_positions(sums: NDArray[Any], counts: NDArray[Any], sentences: int) -> None:
    if not ((counts >= 0) & (counts <= sentences)).all():
        raise AtlasFileError("“positions” counts more sentences than there are.")
    if not ((sums >= 0) & (sums <= counts * (1 + _ROUNDING))).all():
        raise AtlasFileError("“positions” holds attention that is not between 0 and 1.")
