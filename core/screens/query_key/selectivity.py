"""All heads: the map of what they follow, the chosen head's correlations, and the table."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.analysis.images.selectivity import FEATURES, LEVEL, MIN_CORRELATION, follower_counts
from core.analysis.layers import place_layers
from core.figures.heads import class_map
from core.figures.palette import Palette
from core.figures.patterns import feature_looks
from core.screens.query_key.controls import ALL_THREE
from core.ui import cache
from core.ui.cache import TraceKey
from core.ui.downloads import contents
from core.ui.heads import HeadTable, show_gaps, show_head_table, show_heads, show_overview
from core.ui.place import choose_head
from core.ui.presets import Preset
from core.ui.words.numbers import number
from core.ui.words.prose import Prose

if TYPE_CHECKING:
    import pandas as pd

_words = Prose(__file__)
_BY = (  # a feature that heads can follow, the colours that show it, and a question
    ("hue", "hue", "Do queries and keys of one hue lie together?"),
    ("brightness", "brightness", "Are patches ordered from dark to bright?"),
    ("place", "place", "Do neighbouring patches lie together?"),
)
_MEASURED = "_follows_measured"  # the keys that this session has measured
_open_points = partial(choose_head, part="picture")


def what_it_follows(follows: HeadTable) -> str:
    """What the chosen head follows in an image (Markdown)."""
    row = follows.row
    best = row["follows"]
    if best == "none":
        best = max(FEATURES, key=lambda each: np.nan_to_num(row[each], nan=-2.0))
    return _words(
        "follows",
        head=follows.name,
        follows=row["follows"] != "none",
        feature=best,
        r=row[best],
        p=row[f"{best}_p"],
        twin=int(follower_counts(follows.table).loc[best, "twin"]),
        heads=len(follows.table),
        needed=(MIN_CORRELATION, LEVEL),
    )


def table_for(key: TraceKey) -> pd.DataFrame:
    """The table of :func:`selectivity_table`, kept or measured now; read-only."""
    st.session_state[_MEASURED] = key
    return cache.followed(cache.trace(*key))


def known_table(key: TraceKey) -> pd.DataFrame | None:
    """The table of this image, if this session has measured it."""
    return table_for(key) if st.session_state.get(_MEASURED) == key else None


def show_selectivity(follows: HeadTable, colours: Palette) -> None:
    """Show the map beside the chosen head, then the table."""
    known = follows.table.attrs
    export = contents("what-heads-follow", follows.trace.model, "", permutations=known["moves"])
    card = partial(_show_card, follows)
    place = show_overview(follows, export, partial(_show_map, follows, colours), card)
    caption = _words(
        "follow_caption",
        patches=known["patches"],
        of=known["of"],
        moves=known["moves"],
        min_r=MIN_CORRELATION,
        max_p=LEVEL,
    )
    place.caption(caption)
    titles = {"follows": "follows"}
    for feature in FEATURES:
        titles |= {feature: feature, f"{feature}_p": f"p {feature}"}
    with st.expander("Every head"):
        show_head_table(follows, titles, key="query_key_followers", on_open=choose_head)
        st.caption(_words("table"))


def _show_map(follows: HeadTable, colours: Palette) -> None:
    trace = follows.trace
    strengths = np.max([np.nan_to_num(follows.grid(each)) for each in FEATURES], axis=0)
    classes, chosen = follows.grid("follows").astype(np.str_), (follows.layer, follows.head)
    looks = feature_looks(colours)
    figure = class_map(classes, strengths, place_layers(trace), looks, colours, chosen)
    show_heads(
        figure,
        "Map of all heads: what they follow",
        key="query_key_follow",
        on_open=_open_points,
    )
    show_gaps(trace)
    st.markdown(_words("counts", total=len(follows.table)))
    st.table(follower_counts(follows.table).rename(columns={"twin": "untrained twin"}))


def _show_card(follows: HeadTable) -> None:
    import pandas as pd

    st.markdown(what_it_follows(follows))
    row = follows.row
    columns = {
        "correlation": [number(row[each]) for each in FEATURES],
        "p": [number(row[f"{each}_p"], ".3f") for each in FEATURES],
        "untrained twin": [number(row[f"twin_{each}"]) for each in FEATURES],
    }
    st.table(pd.DataFrame(columns, index=list(FEATURES)))
    place = follows.trace.layer_labels[follows.layer], follows.head + 1
    st.button("Show its points", key="query_key_open", on_click=_open_points, args=place)


def examples(followed: pd.DataFrame) -> list[Preset]:
    """The heads that follow a feature most; empty if no correlation is defined."""
    return [each for by in _BY for each in _strongest(followed, *by)]


def _strongest(table: pd.DataFrame, feature: str, colour: str, question: str) -> list[Preset]:
    """The head whose correlation stands out most; empty if none is defined."""
    values = table[feature].to_numpy(np.float64)
    if not np.isfinite(values).any():
        return []
    row = table.iloc[int(np.nanargmax(values))]
    head = f"L{row['layer']} H{row['head']}"
    place = {"layer": str(row["layer"]), "head": str(row["head"])}
    r, p = row[feature], row[f"{feature}_p"]
    sentence = _words("most", head=head, feature=feature, r=r, p=p, question=question)
    picture = {"part": "picture", "projection": "PCA", "stage": ALL_THREE, "colour": colour}
    return [Preset(f"Follows {colour} most: {head}", sentence, {**picture, **place})]
