"""Opening an atlas that is there already: a visitor's file, or one that the site has prepared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.atlas.files import AtlasFileError, open_large, read_atlas
from core.screens.atlas.corpus.cost import rows_that_fit
from core.screens.atlas.corpus.prepared import FOLDER, PREPARED, prepared_atlases
from core.screens.atlas.corpus.source import file_digest
from core.screens.atlas.shelf import atlas_shelf
from core.ui import controls
from core.ui.frame import switch
from core.ui.messages import escape, quote

if TYPE_CHECKING:
    from pathlib import Path

    from streamlit.delta_generator import DeltaGenerator
    from streamlit.runtime.uploaded_file_manager import UploadedFile

    from core.analysis.atlas import Atlas
    from core.model.catalog import Reads
    from core.screens.atlas.shelf import AtlasShelf


def atlas_from_file(file: UploadedFile) -> AtlasShelf:
    """The atlas in a file; ends the page with a message if it has none."""
    shelf = atlas_shelf("", file_digest(file))
    if shelf.atlas is None:
        try:
            with st.spinner("Opening the atlas …"):
                file.seek(0)
                shelf.atlas = read_atlas(file, rows_that_fit())
        except AtlasFileError as error:
            st.error(f"{quote(file.name)}: {escape(str(error))}")
            controls.end_page()
    _end_unless_shown(shelf.atlas)
    return shelf


def _end_unless_shown(atlas: Atlas) -> None:
    """An atlas of images is shown among images, one of texts among texts; else the page ends."""
    wanted: Reads = "text" if atlas.images is None else "image"
    if switch.reads() != wanted:
        st.info(f"This is an atlas of {wanted}s: switch to {wanted}s in the sidebar to see it.")
        controls.end_page()


def prepared_atlas(settings: DeltaGenerator) -> AtlasShelf:
    """The atlas that the visitor picks in `settings`; ends the page if it cannot be opened."""
    offered = prepared_atlases()
    with settings:
        name = controls.choice(
            PREPARED, list(offered), "Prepared atlas", subject="The atlases here are", menu=True
        )
    try:
        shelf = _opened(name, offered[name])
    except (AtlasFileError, OSError) as error:
        reason = str(error) if isinstance(error, AtlasFileError) else "It cannot be read."
        st.error(f"{quote(name)}: {escape(reason)}")
        controls.end_page()
    assert shelf.atlas is not None  # noqa: S101 - it was opened
    _end_unless_shown(shelf.atlas)
    return shelf


def _opened(name: str, path: Path) -> AtlasShelf:
    """The shelf of an atlas, opened once for all visitors until it changes on the disk."""
    known = (path / "atlas.json" if path.suffix == FOLDER else path).lstat()
    shelf = atlas_shelf("", f"prepared {name} {known.st_mtime_ns} {known.st_size}")
    if shelf.atlas is None:
        with st.spinner("Opening the atlas …"):
            if path.suffix == FOLDER:
                large = open_large(path)
                shelf.large, shelf.atlas = large, large.sample
            else:
                shelf.atlas = read_atlas(path, rows_that_fit())
    return shelf
