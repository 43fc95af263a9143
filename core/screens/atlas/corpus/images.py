"""The images for an atlas: the sample images, or a visitor's own files."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import PurePath

import streamlit as st
from PIL.Image import Image
from streamlit.runtime.uploaded_file_manager import UploadedFile

from core.model import Chosen, LoadedModel, ModelError, Trace, trace_images
from core.model.image.opening import open_image
from core.model.sample_images import SAMPLE_IMAGES, open_sample_image
from core.screens.atlas.corpus.source import Material
from core.ui import controls
from core.ui.cache import remembered
from core.ui.words.messages import escape, quote

MAX_IMAGES, MAX_MB = 100, 20  # how many files a visitor may bring, and the size of each
_BATCH_IMAGES = 4  # in one forward pass
_CHECKED = "_atlas_images_checked"  # by file: why it could not be opened, or empty


def images_of(source: str) -> Material:
    """The images; ends the page with a hint or a message if there are none."""
    return _box() if source == "box" else _own()


def plan_images(model: LoadedModel, corpus: Material) -> Chosen:
    """Plan to use all of them: every image has the same number of tokens."""
    tokens = model.vision.tokens() if model.vision is not None else 0
    count = len(corpus.texts)
    return Chosen(tuple(range(count)), (tokens,) * count, count)


def traced(
    model: LoadedModel, corpus: Material, places: Sequence[int]
) -> Iterator[tuple[int, Trace]]:
    """Each image's trace and its index in `places`; one batch in memory at a time."""
    yield from enumerate(
        trace_images(model, (corpus.images[place]() for place in places), _BATCH_IMAGES)
    )


@functools.cache
def _box() -> Material:
    names = tuple(entry.title for entry in SAMPLE_IMAGES.values())
    digest = hashlib.sha256("\n".join(("box", *SAMPLE_IMAGES)).encode()).hexdigest()
    readers = tuple(partial(open_sample_image, name) for name in SAMPLE_IMAGES)
    groups = tuple(entry.group for entry in SAMPLE_IMAGES.values())
    return Material(names, groups, digest, readers, is_ours=True)


def _own() -> Material:
    files = st.file_uploader(
        f"Images: PNG, JPEG or WebP, at most {MAX_IMAGES} files of {MAX_MB} MB",
        type=["png", "jpg", "jpeg", "webp"],
        accept_multiple_files=True,
        key="atlas_images",
        max_upload_size=MAX_MB,
    )
    if not files:
        st.info(
            "**Choose some images.** They are read on this server only, and kept in memory only."
            " A dozen make a picture, and more of one kind make a better one."
        )
        controls.end_page()
    if len(files) > MAX_IMAGES:
        st.caption(f"The first {MAX_IMAGES} of {len(files)} images are used.")
    good = _that_open(files[:MAX_IMAGES])
    if not good:
        controls.end_page()
    content = hashlib.sha256()
    for file in good:
        file.seek(0)
        content.update(hashlib.file_digest(file, "sha256").digest())
    names = tuple(PurePath(file.name).stem for file in good)
    content.update("\n".join(names).encode("utf-8", "replace"))
    readers = tuple(partial(_read, file) for file in good)
    return Material(names, (), content.hexdigest(), readers)


def _that_open(files: Sequence[UploadedFile]) -> list[UploadedFile]:
    """The files that open as images, each tried once; names the others with the reason."""
    with st.spinner("Looking at the images …"):
        problems = [
            remembered(_CHECKED, file.file_id, partial(_why_not, file), MAX_IMAGES)
            for file in files
        ]
    checked = [*zip(files, problems, strict=True)]
    if any(problems):
        lines = [f"- {quote(file.name)}: {problem}" for file, problem in checked if problem]
        st.warning("\n".join(lines))
    return [file for file, problem in checked if not problem]


def _why_not(file: UploadedFile) -> str:
    """Why the file cannot be shown as an image (Markdown); empty if it can."""
    try:
        open_image(file.getvalue())
    except ModelError as error:
        return escape(error.problem)
    return ""


def _read(file: UploadedFile) -> Image:
    return open_image(file.getvalue()).image
