"""All heads: the map of what they follow, the chosen head's correlations, and the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from core.analysis.images.colour import MIN_CHROMA, patch_looks
from core.analysis.images.follow.by_place import MAX_BY_PLACE
from core.analysis.images.follow.following import FEATURES, LOOKS
from core.analysis.images.follow.table import (
    FAMILIES,
    FOLLOWED,
    LEVEL,
    MIN_CLS,
    MIN_CORRELATION,
    MIN_ITSELF,
    beside_twin,
    followed,
    table_of,
)
from core.analysis.images.patch_scores import patches_of
from core.analysis.layers import rows_of
from core.figures.head_map import ring
from core.figures.images.following import follow_map
from core.figures.palette import Palette
from core.model import Trace, trace_patches, untrained_twin
from core.model.memory import return_freed_memory
from core.ui import cache
from core.ui.cache import TraceKey
from core.ui.downloads import contents
from core.ui.head_maps import show_gaps, show_heads
from core.ui.head_tables import HeadTable, names_of, offer_table, show_rows
from core.ui.place import choose_head
from core.ui.serve.once import room_for_twin
from core.ui.words.numbers import in_a_row, number
from core.ui.words.prose import Prose
from core.vocabulary import percent

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
_MAX_TABLES = 16  # a dozen numbers a head: 30 kB
_MEASURED = "_follows_measured"  # what this session has measured
_open_points = partial(choose_head, part="picture")


@dataclass(frozen=True, eq=False, kw_only=True)
class Follows(HeadTable):
    """What the heads of a model follow in an image."""

    @property
    def sentence(self) -> str:
        """What the chosen head follows (Markdown)."""
        sentence = class_sentence(self.name, self.row)
        return " ".join(filter(None, (sentence, twin_sentence(self.table, self.row["class"]))))


@st.cache_resource(
    max_entries=_MAX_TABLES,
    show_spinner="Asking every head what it follows, here and with the image moved over its grid,"
    " and every head of the untrained twin …",
)
def _table_of(key: TraceKey) -> pd.DataFrame:
    trace = cache.trace(*key)
    try:  # the twin is as large as the model; a few numbers a head are kept
        with room_for_twin:
            seen = trace_patches(untrained_twin(cache.model_of(trace)), patches_of(trace))
            own, twin = followed(trace, seen)
    finally:
        return_freed_memory()
    return table_of([own], [twin])


def table_for(key: TraceKey) -> pd.DataFrame:
    """The table of :func:`table_of`, from the cache or measured now. Nobody may write to it."""
    st.session_state[_MEASURED] = key
    return _table_of(key)


def known_table(key: TraceKey) -> pd.DataFrame | None:
    """The table of this image, if this session has measured it."""
    return _table_of(key) if st.session_state.get(_MEASURED) == key else None


def show_selectivity(follows: Follows, colours: Palette) -> None:
    """The map beside the chosen head, then the table."""
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _show_map(follows, colours)
        st.markdown(_counts(follows))
        st.table(_twin_table(follows))
    with right:
        st.markdown(follows.sentence)
        st.table(_head_table(follows.row))
        st.button(
            "Show its points",
            key="query_key_open",
            on_click=_open_points,
            args=(follows.trace.layer_labels[follows.layer], follows.head + 1),
        )
    notes = [note(follows.table) for note in (follow_caption, by_place_note, missing_hue)]
    grey = "" if notes[-1] else grey_note(follows.trace)
    st.caption(" ".join(filter(None, (*notes, grey))))
    _show_table(follows)


def _show_map(follows: Follows, colours: Palette) -> None:
    trace = follows.trace
    rows = rows_of(trace)
    classes = follows.grid("class").astype(np.str_)
    figure = follow_map(classes, strengths(follows), rows, CLASS_NAMES, colours)
    ring(figure, rows, (follows.layer, follows.head), trace.shape[1], colours)
    show_heads(
        figure,
        "Map of all heads: what they follow",
        key="query_key_follow",
        on_open=_open_points,
    )
    show_gaps(trace)


def strengths(follows: Follows) -> NDArray[np.float64]:
    """What decided each head's class, (layer, head): a share of attention, or a correlation."""
    beyond = np.stack([follows.grid(f"{each}_beyond") for each in FEATURES]).astype(np.float64)
    known = np.where(np.isfinite(beyond), beyond, -np.inf)
    classes = follows.grid("class")
    result = known.max(axis=0)
    for name, features in FOLLOWED.items():
        strongest = known[[FEATURES.index(each) for each in features]].max(axis=0)
        result = np.where(classes == name, strongest, result)
    result = np.where(classes == "itself", follows.grid("itself"), result)
    return np.where(classes == "CLS", follows.grid("cls"), result).astype(np.float64)


def _counts(follows: Follows) -> str:
    """How many heads are in each class (Markdown)."""
    counts = follows.table["class"].value_counts().to_dict()
    named = [f"{counts[each]} {CLASS_NAMES[each]}" for each in CLASS_NAMES if each in counts]
    return _words("counts", total=len(follows.table), named=", ".join(named))


def _twin_table(follows: Follows) -> pd.DataFrame:
    """How many heads follow each feature, here and in the untrained twin."""
    counts = beside_twin(follows.table).rename(index=CLASS_NAMES)
    excess = [f"{each:+d}".replace("-", "−") for each in counts["excess"]]
    counts = counts.astype(str).assign(excess=excess)  # words all, so that columns align alike
    return counts.rename(columns={"heads": "trained", "twin": "untrained twin"})


def _head_table(row: dict[str, Any]) -> pd.DataFrame:
    """The chosen head's correlations: alone, beyond the rest, and their p."""
    import pandas as pd

    columns = {
        "correlation": [number(row[each]) for each in FEATURES],
        "beyond the rest": [number(row[f"{each}_beyond"]) for each in FEATURES],
        "p": [number(row[f"{each}_p"], ".3f") for each in FEATURES],
        "adjusted p": [number(row[f"{each}_p_adjusted"], ".3f") for each in FEATURES],
    }
    return pd.DataFrame(columns, index=[FEATURE_NAMES[each] for each in FEATURES])


def _show_table(follows: Follows) -> None:
    import pandas as pd

    st.header("Every head", anchor=False)
    table = follows.table
    shown = pd.DataFrame({"head": names_of(table), "follows": table["class"].map(CLASS_NAMES)})
    for each in FEATURES:
        shown[FEATURE_NAMES[each]] = table[f"{each}_beyond"]
        shown[f"p {FEATURE_NAMES[each]}"] = table[f"{each}_p_adjusted"]
    shown["itself"], shown["CLS"] = table["itself"], table["cls"]
    columns = {
        name: st.column_config.NumberColumn(name, format="%.3f", width="small")
        for name in map(str, shown.columns[2:])
    }
    show_rows(follows, shown, columns, key="query_key_followers", on_open=choose_head)
    held = contents(
        "what-heads-follow",
        follows.trace.model,
        "",
        permutations=table.attrs["permutations"],
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(_words("table"), width="stretch")
        offer_table(follows, held)


def class_sentence(name: str, row: Mapping[str, Any]) -> str:
    """What a head follows, in words (Markdown); `row` is its row of the table."""
    found = row["class"]
    features = FOLLOWED.get(found, tuple(FEATURE_NAMES))
    best = max(features, key=lambda each: _or_least(row[f"{each}_beyond"]))
    return _words(
        "follows",
        head=name,
        found=found,
        what=CLASS_NAMES[found],
        share=row.get(found.lower()),
        r=row[f"{best}_beyond"],
        feature=FEATURE_NAMES[best],
        p=row[f"{best}_p_adjusted"],
        needed=(MIN_CORRELATION, MAX_P),
    )


def follow_caption(table: pd.DataFrame) -> str:
    """How the classes are found, with what was measured: permutations, patches, images."""
    return _words(
        "follow_caption",
        patches=table.attrs["patches"][0],
        of=table.attrs["of"][0],
        moved=table.attrs["permutations"],
        min_r=MIN_CORRELATION,
        max_p=MAX_P,
        itself=percent(MIN_ITSELF),
        cls=percent(MIN_CLS),
    )


def by_place_note(table: pd.DataFrame) -> str:
    """Which looks are a matter of place; empty without any."""
    (shares,) = table.attrs["by_place"]
    parts = [
        f"{FEATURE_NAMES[feature]} ({share:.2f} of its variance)"
        for feature, share in zip(FEATURES[LOOKS], shares, strict=True)
        if share > MAX_BY_PLACE
    ]
    return _words("by_place", looks=in_a_row(parts)) if parts else ""


def twin_sentence(table: pd.DataFrame, what: str) -> str:
    """How many heads of the untrained twin follow it as well; empty for what is not followed."""
    if what not in FOLLOWED:
        return ""
    return _words("of_twin", heads=len(table), count=int(beside_twin(table)["twin"][what]))


def grey_note(trace: Trace) -> str:
    """How many patches hue is not asked about; empty where all have a colour."""
    chroma = patch_looks(trace).chroma
    grey = int((chroma < MIN_CHROMA).sum())
    if not grey:
        return ""
    return _words("grey", coloured=len(chroma) - grey, patches=len(chroma), least=MIN_CHROMA)


def missing_hue(table: pd.DataFrame) -> str:
    """Said where no head has a correlation with hue."""
    return "" if table["hue"].notna().any() else _words("no_hue")


def _or_least(value: float) -> float:
    return value if value == value else -2.0  # noqa: PLR0124 - nan is not itself
