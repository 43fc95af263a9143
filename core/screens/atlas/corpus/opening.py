"""Open an atlas that the site has prepared, and describe any atlas."""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.atlas import Atlas
from core.atlas.saved import ATLAS, open_large
from core.records import RecordError
from core.screens.atlas.corpus.building import atlas_of_corpus
from core.screens.atlas.corpus.entry import AtlasEntry, find_atlas, keep_atlas
from core.screens.atlas.corpus.images import images_of
from core.screens.atlas.corpus.source import (
    PREPARED,
    corpus_of,
    prepared_atlases,
    shows_images,
)
from core.ui import controls
from core.ui.frame import switch
from core.ui.words.messages import escape, quote
from core.ui.words.prose import Prose
from core.vocabulary import Modality

_words = Prose(__file__)


def open_entry(picked: str, budget: int, settings: DeltaGenerator) -> AtlasEntry:
    """The picked atlas, built or opened; ends the page while there is none."""
    if picked == PREPARED:
        offered = prepared_atlases()
        with settings:
            name = controls.choice(
                PREPARED, list(offered), "Prepared atlas", subject="The atlases here are", menu=True
            )
        return _open(offered[name], name)
    corpus = images_of(picked) if shows_images() else corpus_of(picked)
    return atlas_of_corpus(corpus, budget)


def _open(folder: Path, title: str) -> AtlasEntry:
    """The atlas in a folder; ends the page if it cannot be opened, or is of the other modality."""
    try:
        # Opened once for all visitors, until it changes on disk.
        known = (folder / ATLAS).lstat()
        key = "", f"prepared {title} {known.st_mtime_ns} {known.st_size}"
        entry = find_atlas(key)
        if entry is None:
            with st.spinner("Opening the atlas …"):
                entry = keep_atlas(key, AtlasEntry(open_large(folder)))
    except (RecordError, OSError) as error:
        reason = str(error) if isinstance(error, RecordError) else "It cannot be read."
        st.error(f"{quote(title)}: {escape(reason)}")
        controls.end_page()
    kind: Modality = "text" if entry.atlas.images is None else "image"
    if switch.modality() != kind:
        st.info(f"This is an atlas of {kind}s.")
        st.button("Show it", key="show_atlas", type="primary", on_click=switch.show, args=(kind,))
        controls.end_page()
    return entry


def describe_atlas(entry: AtlasEntry) -> str:
    """What the atlas contains: model, size, and what was left out, in a sentence (Markdown)."""
    atlas, plan = entry.atlas, entry.plan
    layers, heads, tokens = atlas.shape
    return _words(
        "the_atlas",
        model=quote(atlas.model),
        layers=layers,
        heads=heads,
        tokens=tokens,
        texts=len(atlas.sentences),
        whole="texts" if atlas.images is None else "images",
        corpus=atlas.corpus_size[1] if plan is None else plan.corpus_size,
        cut=_count(atlas, "tokens_cut"),
        unread=_count(atlas, "characters_cut"),
    )


def _count(atlas: Atlas, name: str) -> int:
    """A number from the settings, which come from an untrusted file."""
    value = atlas.settings.get(name, 0)
    return value if isinstance(value, int) and value > 0 else 0
