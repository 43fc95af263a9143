"""What the atlas is made of."""

from __future__ import annotations

import streamlit as st

from core.atlas import Atlas
from core.atlas.data import SAMPLED
from core.screens.atlas.corpus.entry import AtlasEntry
from core.ui.words.messages import quote
from core.ui.words.prose import Prose

_words = Prose(__file__)


def show_about(entry: AtlasEntry) -> None:
    """Model and corpus."""
    st.caption(describe(entry, entry.atlas))


def describe(entry: AtlasEntry, atlas: Atlas) -> str:
    """The atlas in a sentence: model, size, and what was left out (Markdown)."""
    layers, heads, tokens = atlas.shape
    plan = entry.plan
    counted = plan is None  # else the plan says what was left out
    return _words(
        "the_atlas",
        model=quote(atlas.model),
        layers=layers,
        heads=heads,
        tokens=tokens,
        sentences=len(atlas.sentences),
        whole="texts" if atlas.images is None else "images",
        corpus=plan.corpus_size if plan and len(plan.places) < plan.corpus_size else 0,
        sampled=_count(atlas, SAMPLED[0]) if counted else 0,
        left_out=int(atlas.settings.get("sentences_left_out", 0)) if counted else 0,
        cut=_count(atlas, "tokens_cut"),
        unread=_count(atlas, "characters_cut"),
        from_file=atlas.vectors is None,
    )


def _count(atlas: Atlas, name: str) -> int:
    """A number in the settings, which come from a file that anybody may have written."""
    value = atlas.settings.get(name, 0)
    return value if isinstance(value, int) and value > 0 else 0
