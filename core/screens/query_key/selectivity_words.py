"""What is said of the features that heads follow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from core.analysis.images.follow.by_place import MAX_BY_PLACE
from core.analysis.images.follow.following import FEATURES, LOOKS
from core.analysis.images.follow.table import (
    FAMILIES,
    FOLLOWED,
    LEVEL,
    MIN_CLS,
    MIN_CORRELATION,
    MIN_ITSELF,
    followers,
)
from core.model.running.twin import TWIN_SEED
from core.screens.query_key.wording import FREQUENCY
from core.ui.words.numbers import in_a_row
from core.ui.words.prose import Prose

if TYPE_CHECKING:
    import pandas as pd

_words = Prose(__file__)
MAX_P = LEVEL / len(FAMILIES)  # adjusted for all heads and the features of a family
CLASS_NAMES = {
    "hue": "hue",
    "brightness": "brightness",
    "frequency": "spatial frequency",
    "position": "position",
    "itself": "itself",
    "CLS": "CLS",
    "none": "none of these",
}
FEATURE_NAMES = {
    "hue": "hue",
    "brightness": "brightness",
    "frequency": "spatial frequency",
    "row": "same row",
    "column": "same column",
    "distance": "nearness",
}


def class_sentence(name: str, row: Mapping[str, Any], where: str) -> str:
    """What a head follows, in words (Markdown); `row` is its row of the table."""
    found = row["class"]
    if found == "none":
        best = max(FEATURE_NAMES, key=lambda each: _or_least(row[f"{each}_beyond"]))
        return _words(
            "follows_none",
            head=name,
            where=where,
            r=row[f"{best}_beyond"],
            feature=FEATURE_NAMES[best],
            p=row[f"{best}_p_adjusted"],
            min_r=MIN_CORRELATION,
            max_p=MAX_P,
        )
    if found in {"itself", "CLS"}:
        return _words(
            "rests", head=name, whom=found, where=where, share=f"{row[found.lower()]:.0%}"
        )
    best = max(FOLLOWED[found], key=lambda each: _or_least(row[f"{each}_beyond"]))
    return _words(
        "follows",
        head=name,
        what=CLASS_NAMES[found],
        where=where,
        r=row[f"{best}_beyond"],
        feature=FEATURE_NAMES[best],
        p=row[f"{best}_p_adjusted"],
    )


def follow_caption(table: pd.DataFrame) -> str:
    """How the classes are found, with what was measured: permutations, patches, images."""
    return _words(
        "follow_caption",
        patches=table.attrs["patches"][0],
        of=table.attrs["of"][0],
        images=table.attrs["images"],
        moved=table.attrs["permutations"],
        min_r=MIN_CORRELATION,
        max_p=MAX_P,
        itself=f"{MIN_ITSELF:.0%}",
        cls=f"{MIN_CLS:.0%}",
        frequency=FREQUENCY,
        by_place=MAX_BY_PLACE,
        seed=TWIN_SEED,
    )


def by_place_note(table: pd.DataFrame) -> str:
    """Which looks are a matter of place, and in how many images; empty without any."""
    shares = np.array(table.attrs["by_place"])
    images = len(shares)
    parts = []
    for place, feature in enumerate(FEATURES[LOOKS]):
        name, count = FEATURE_NAMES[feature], int((shares[:, place] > MAX_BY_PLACE).sum())
        if count and images == 1:
            parts.append(f"{name} ({shares[0, place]:.2f} of its variance)")
        elif count:
            parts.append(f"{name} in {count} of {images} images")
    return _words("by_place", images=images, looks=in_a_row(parts)) if parts else ""


def twin_sentence(table: pd.DataFrame, what: str) -> str:
    """How many heads of the untrained twin follow it as well; empty for what is not followed."""
    if what not in FOLLOWED:
        return ""
    return _words("of_twin", heads=len(table), count=followers(table, what, "twin_"))


def missing_hue(table: pd.DataFrame) -> str:
    """Said where no head has a correlation with hue."""
    return "" if table["hue"].notna().any() else _words("no_hue")


def _or_least(value: float) -> float:
    return value if value == value else -2.0  # noqa: PLR0124 - nan is not itself
