"""The colours that a view of points is given, checked before they travel."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

THEMES = ("light", "dark")


def checked_shades(
    shades: Mapping[str, Sequence[Sequence[str]]], colouring: str, categories: int
) -> dict[str, list[list[str]]]:
    """For both themes the colours of queries and of keys, as lists.

    "type" needs none: queries and keys have the theme's own two colours.

    Raises
    ------
    ValueError : a theme, a kind, or the colour of a category is missing.
    """
    if colouring == "type":
        return {}
    least = categories if colouring == "category" else 1
    for theme in THEMES:
        kinds = shades.get(theme, ())
        if [len(kind) >= least for kind in kinds] != [True, True]:
            raise ValueError(f"{colouring} needs {least} colours a kind on {theme} paper")
    return {theme: [list(kind) for kind in shades[theme]] for theme in THEMES}
