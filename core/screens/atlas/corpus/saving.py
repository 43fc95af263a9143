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
            help="One file with the points of every head, the sentences and all measures. This"
            " page opens it again without the model. Unzipped, pandas and polars read its tables.",
        )
    if atlas.vectors is not None and (size := max_file_bytes(atlas)) > uploads.limit_bytes():
        st.caption(
            f"Its texts are so long that the file may take {size / 2**20:,.0f} MB, more than the"
            f" {uploads.limit_mb():,} MB that this site opens: save fewer tokens, or open it where"
            " `server.maxUploadSize` is larger."
        )


def describe(entry: AtlasEntry, atlas: Atlas) -> str:
    """The atlas in a sentence: model, size, and what was left out (Markdown)."""
    layers, heads, tokens = atlas.shape
    text = (
        f"Atlas of {quote(atlas.model)}: {layers} × {heads} heads, {tokens:,} tokens of"
        f" {len(atlas.sentences):,} {'texts' if atlas.images is None else 'images'}"
    )
    plan = entry.plan
    if plan is not None:
        if tokens < plan.tokens:
            text += f" (the shortest of {len(plan.places):,} that were chosen)"
        elif len(plan.places) < plan.corpus_size:
            text += f" (a random sample of {plan.corpus_size:,}, within the budget)"
    elif whole := _count(atlas, SAMPLED[0]):
        text += f" (a random sample of {whole:,} tokens, of which all numbers are)"
    elif left_out := int(atlas.settings.get("sentences_left_out", 0)):
        text += f" ({left_out:,} more were left out at random)"
    cut, unread = (_count(atlas, name) for name in ("tokens_cut", "characters_cut"))
    if cut:
        text += f"; **{cut:,} tokens were cut** from texts longer than the model takes"
    if unread:
        text += f"; **{unread:,} characters** at the end of very long texts were not read"
    if atlas.vectors is None:
        text += "; opened from a file, which has components and no full vectors"
    return f"{text}."


def _count(atlas: Atlas, name: str) -> int:
    """A number in the settings, which come from a file that anybody may have written."""
    value = atlas.settings.get(name, 0)
    return value if isinstance(value, int) and value > 0 else 0


def _file(reference: ref[Atlas]) -> bytes:
    """The file's bytes, made when the button is pressed.

    A button outlives its visit, and must not keep an atlas in memory that has been dropped.
    """
    atlas = reference()
    if atlas is None:
        raise LookupError("This atlas is no longer in memory: open the page again, then save it.")
    buffer = io.BytesIO()
    write_atlas(atlas, buffer)
    return buffer.getvalue()
