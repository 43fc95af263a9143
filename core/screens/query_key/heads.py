"""Every head as a square of a map, and the report of a layer."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.analysis.query_key.scaling import MIN_RELIABLE
from core.figures.palette import Palette
from core.screens.query_key.choice import Choice, scaling_of_heads
from core.screens.query_key.report import make_report
from core.screens.query_key.wording import CRITERIA, DISTANCES
from core.ui.downloads import contents, offer_file
from core.ui.heads import show_head_map
from core.ui.place import choose_head
from core.ui.words.prose import Prose

if TYPE_CHECKING:
    from core.model import Trace

_words = Prose(__file__)


def show_all_heads(trace: Trace, choice: Choice, colours: Palette) -> None:
    """The map of correlations after normalization, with means, flags and the report."""
    scaling = scaling_of_heads(choice)
    show_head_map(
        trace,
        scaling.normalized,
        "normalized, r =",
        colours,
        key="query_key_map",
        on_open=partial(choose_head, part="picture"),
        chosen=(choice.layer, choice.head),
        bounds=(-1, 1),
        title="r",
        signed=True,
        reverse=True,
    )
    defined = np.isfinite(scaling.raw) & np.isfinite(scaling.normalized)
    if not defined.any():
        st.markdown(_words("no_head", modality=choice.key.modality))
    else:
        st.markdown(
            _words(
                "means",
                count=int(defined.sum()),
                raw=np.nanmean(scaling.raw),
                translated=np.nanmean(scaling.translated),
                normalized=np.nanmean(scaling.normalized),
                keys=(np.nanmean(scaling.raw_top1), np.nanmean(scaling.normalized_top1)),
                helped=int((scaling.normalized[defined] < scaling.raw[defined]).sum()),
                helped_keys=int(
                    (scaling.normalized_top1[defined] > scaling.raw_top1[defined]).sum()
                ),
            )
        )
    st.caption(
        _words(
            "map",
            distance=DISTANCES[choice.distance],
            criterion=CRITERIA[choice.criterion],
            on_edge=int(scaling.on_edge.sum()),
            few=int(scaling.few.sum()),
            needed=MIN_RELIABLE,
        )
    )
    held = contents("queries-and-keys", trace.model, f"L{choice.number}")
    offer_file(
        f"Report of layer {choice.number} (HTML)",
        lambda: make_report(trace, choice, held.facts),
        held,
        ".html",
        help=_words("report"),
    )
