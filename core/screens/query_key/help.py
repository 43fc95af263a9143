"""Settings of the query-key page that are worth seeing, and its mathematics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.analysis.strongest_link import strongest_link
from core.model.running.twin import TWIN_SEED
from core.screens.query_key.choice import has_looks
from core.screens.query_key.controls import ALL_THREE
from core.ui.examples import written
from core.ui.presets import Preset
from core.ui.words.messages import quote
from core.ui.words.prose import Prose
from core.vocabulary import labels_of

if TYPE_CHECKING:
    import pandas as pd

    from core.model import Trace

_words = Prose(__file__)
MATHEMATICS = _words("mathematics")
OF_IMAGES = _words("mathematics_of_images", twin_seed=TWIN_SEED)
_BY = (  # the feature that a head follows, the colours that show it, and a question
    ("hue", "hue", "Do queries and keys of one hue lie together?"),
    ("brightness", "brightness", "Are patches ordered from dark to bright?"),
    ("place", "place", "Do neighbouring patches lie together?"),
)
_PICTURE = {"part": "picture", "projection": "PCA"}


def examples(trace: Trace, followed: pd.DataFrame | None = None) -> list[Preset]:
    """Settings worth seeing on this text or image.

    In an image, heads by name once the table of what they `followed` is known.
    """
    if followed is not None:
        return [each for by in _BY for each in _strongest(followed, *by)]
    places = ["unmeasured"] if has_looks(trace) else ["", *(["search"] * (trace.source is None))]
    return [*_strongest_link(trace), *written(__file__, *places, first=trace.layer_labels[0])]


def _strongest_link(trace: Trace) -> list[Preset]:
    link = strongest_link(trace)
    if link is None:
        return []
    query = quote(labels_of(trace.tokens)[link.query])
    key = quote(labels_of(trace.key_tokens)[link.key])
    layer, head = str(trace.layer_labels[link.layer]), str(link.head + 1)
    sentence = _words(
        "strongest_link", head=f"L{layer} H{head}", query=query, weight=link.weight, key=key
    )
    state = {**_PICTURE, "layer": layer, "head": head}
    return [Preset("The strongest link", sentence, state)]


def _strongest(table: pd.DataFrame, feature: str, colour: str, question: str) -> list[Preset]:
    """The head with the highest correlation beyond the rest; none where nothing is defined."""
    values = table[feature].to_numpy(np.float64)
    if not np.isfinite(values).any():
        return []
    row = table.iloc[int(np.nanargmax(values))]
    head = f"L{row['layer']} H{row['head']}"
    place = {"layer": str(row["layer"]), "head": str(row["head"])}
    r, p = row[feature], row[f"{feature}_p"]
    sentence = _words("most", head=head, feature=feature, r=r, p=p, question=question)
    state = {**_PICTURE, **place, "stage": ALL_THREE, "colour": colour}
    return [Preset(f"Follows {colour} most: {head}", sentence, state)]
