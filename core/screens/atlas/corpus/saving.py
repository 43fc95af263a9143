"""What the atlas is made of, and the file it is saved in."""

from __future__ import annotations

import io
from functools import partial
from weakref import ref

import streamlit as st

from core.atlas import Atlas
from core.atlas.data import SAMPLED
from core.atlas.files import max_file_bytes, write_atlas
from core.screens.atlas.corpus.entry import AtlasEntry
from core.ui.downloads import contents, offer_file
from core.ui.serve import uploads
from core.ui.words.messages import quote
from core.ui.words.prose import Prose

_words = Prose(__file__)


def show_about(entry: AtlasEntry) -> None:
    """Model, corpus, and the download."""
    atlas = entry.atlas
    if atlas is None:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(describe(entry, atlas), width="stretch")
        offer_file(
            f"Save the {'sample' if SAMPLED[0] in atlas.settings else 'atlas'} (.atlas.zip)",
            partial(_file, ref(atlas)),
            contents("atlas", atlas.model, f"{len(atlas.tokens)}-tokens", text=False),
            ".atlas.zip",
            help=_words("what_the_file_holds"),
        )
    if atlas.vectors is not None and (size := max_file_bytes(atlas)) > uploads.limit_bytes():
        limit = uploads.limit_mb()
        st.caption(_words("too_large_to_open", megabytes=size / 2**20, limit=limit))


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
        chosen=len(plan.places) if plan and tokens < plan.tokens else 0,
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


def _file(reference: ref[Atlas]) -> bytes:
    """The file's bytes, made when the button is pressed."""
    buffer = io.BytesIO()
    write_atlas(still_there(reference), buffer)
    return buffer.getvalue()


def still_there(reference: ref[Atlas]) -> Atlas:
    """The atlas of a file that is made later.

    A button outlives its visit, and must not keep an atlas in memory that has been dropped.
    """
    atlas = reference()
    if atlas is None:
        raise LookupError("This atlas is no longer in memory: open the page again, then save it.")
    return atlas
