"""The corpus for the atlas: the built-in sample, pasted lines, or a file."""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import streamlit as st
from PIL.Image import Image
from streamlit.runtime.uploaded_file_manager import UploadedFile

from core.atlas.saved import FOLDER
from core.corpus.decoding import MAX_BYTES, CorpusFileError
from core.corpus.reading import ENDINGS, Texts, choose_columns, read_lines, read_table, repeats_note
from core.corpus.rows import CorpusTable
from core.corpus.sample import sample_corpus
from core.ui import controls
from core.ui.cache import remembered
from core.ui.corpus_walk import corpus_digest
from core.ui.frame import switch
from core.ui.serve.deployment import setting
from core.ui.words.messages import escape, quote
from core.ui.words.prose import Prose

PREPARED = "prepared"  # its name in the menu of corpora, and the link parameter
_MAX_NAMES = 500  # prepared atlases in the menu
CORPORA = {
    "sample": "Sample corpus",
    "lines": "Your lines",
    "file": "A file",
}
IMAGE_CORPORA = {"box": "Sample images", "own": "Your images"}
MIN_TOKENS, MAX_TOKENS, DEFAULT_TOKENS, STEP = 1_000, 50_000, 5_000, 1_000
# Tables read from files, and as many corpora: no click reads them again.
_CORPORA_BYTES, _MAX_CORPORA = 30 * 10**6, 200
_MAX_PASTED = 1_000_000  # characters: the browser resends them with every click
_LABEL = "label"  # the table column that holds labels, for colours
_DIGEST = "_atlas_file_digest"
_words = Prose(__file__)


@dataclass(frozen=True, eq=False)
class Material:
    """Texts to build an atlas from, or images, whose names are the texts.

    Attributes
    ----------
    texts, labels : one label per text, or no labels at all.
    digest : identifies the content.
    images : one opener per image; none for texts.
    is_ours : whether it comes with the app; then the atlas is built without asking.
    """

    texts: tuple[str, ...]
    labels: tuple[str, ...]
    digest: str
    images: tuple[Callable[[], Image], ...] = ()
    is_ours: bool = False


def max_tokens() -> int:
    """The largest token budget, which a deployment may lower (HEADSCOPE_TOKENS)."""
    text = setting("TOKENS") or ""
    limit = int(text) if text.isdigit() else MAX_TOKENS
    return max(MIN_TOKENS, min(MAX_TOKENS, limit // STEP * STEP))


def shows_images() -> bool:
    """Whether the page shows images, which have their own corpora, parts and settings."""
    return switch.modality() == "image"


def pick_corpus() -> tuple[str, int]:
    """The kind of corpus and the token budget; the controls are drawn one below the other.

    Images have no budget: all are used.
    """
    prepared = {PREPARED: "A prepared atlas"} if prepared_atlases() else {}
    if shows_images():
        corpora = IMAGE_CORPORA | prepared
        source = controls.choice("corpus", corpora, "Corpus", subject="The corpora of images are")
        return source, MAX_TOKENS
    high, low = max_tokens(), MIN_TOKENS
    default = min(DEFAULT_TOKENS, high)
    requested = controls.number("budget", low, high, default)
    st.session_state["budget"] = requested // STEP * STEP
    source = controls.choice("corpus", CORPORA | prepared, "Corpus", subject="The corpora are")
    budget = controls.number(
        "budget",
        low,
        high,
        default,
        "Corpus size (tokens)" if source != PREPARED and high > MIN_TOKENS else "",
        slider=True,
        step=STEP,
        help="Of a larger corpus a random sample of sentences is used, always the same one."
        " AttentionViz shows 5,000 tokens.",
    )
    return source, budget


def prepared_atlases() -> dict[str, Path]:
    """The folders in HEADSCOPE_ATLASES, by name.

    Only these can be opened: a link can name nothing else, and symbolic links are not followed.
    """
    root = (setting("ATLASES") or "").strip()
    folders = dict[str, Path]()
    with suppress(OSError), os.scandir(root) as entries:
        for entry in entries:
            named = entry.name.endswith(FOLDER) and not entry.name.startswith(".")
            if named and entry.is_dir(follow_symlinks=False):
                folders[entry.name.removesuffix(FOLDER)] = Path(entry.path)
    return dict(sorted(folders.items())[:_MAX_NAMES])


def corpus_of(source: str) -> Material:
    """The corpus; ends the page with a hint or a message if there is none."""
    if source == "sample":
        return _sample()
    corpus = _pasted() if source == "lines" else _uploaded()
    if corpus is None:
        controls.end_page()
    return corpus


def _pasted() -> Material | None:
    typed = st.text_area(
        f"One sentence per line, {_MAX_PASTED:,} characters at most",
        key="pasted_lines",
        height=120,
        max_chars=_MAX_PASTED,
        persist_state="session",
        placeholder="The cat sat on the mat.\nA dog barked at the postman.",
    )
    if not typed or typed.isspace():
        st.info("**Paste some sentences**, one per line. A few hundred make a good picture.")
        return None
    digest = hashlib.sha256(typed.encode("utf-8", "surrogatepass")).hexdigest()
    try:
        return _noted_corpus(f"lines {digest}", lambda: read_lines(typed))
    except CorpusFileError as error:
        st.error(escape(str(error)))
        return None


def _uploaded() -> Material | None:
    file = st.file_uploader(
        "A sentence per line (.txt), a table (.csv, .tsv), or objects (.jsonl); at most 20 MB",
        type=list(ENDINGS),
        key="atlas_file",
        max_upload_size=MAX_BYTES // 2**20,
    )
    if file is None:
        st.info("**Choose a file.** It is read on this server only, and kept in memory only.")
        return None
    digest = file_digest(file)
    try:
        table = _remembering(_table_once, spinner="Reading the file …")(
            f"{digest} {file.name!r}", file
        )
        if isinstance(table, str):
            raise CorpusFileError(table)
        for note in table.notes:
            st.caption(escape(note))
        text, label = _pick_columns(table)
        key = f"{digest} {(file.name, text, label)!r}"
        return _noted_corpus(key, lambda: choose_columns(table, text, label))
    except CorpusFileError as error:
        st.error(f"{quote(file.name)}: {escape(str(error))}")
        return None


@functools.cache
def _remembering(read: Callable[..., Any], spinner: str | bool) -> Callable[..., Any]:
    """`read`, cached by its first argument. No decorator: Streamlit warns where no server runs."""
    remember = st.cache_data(
        max_entries=_MAX_CORPORA, max_size=_CORPORA_BYTES, show_spinner=spinner
    )
    return remember(read)


def _table_once(key: str, _file: UploadedFile) -> CorpusTable | str:  # noqa: ARG001 - the key
    """The file as a table, or why it is not one; read once, not at every click."""
    try:
        return read_table(_file.getvalue(), _file.name)
    except CorpusFileError as error:
        return str(error)
    except MemoryError:
        raise CorpusFileError(
            "There is not enough memory to read it now. Use a smaller file, or try again."
        ) from None


def _pick_columns(table: CorpusTable) -> tuple[str, str | None]:
    """The texts column, picked in a menu, and the labels column if the table has one."""
    columns = list(table.columns)
    if len(columns) < 2:
        return columns[0], None
    text = st.selectbox(
        "Text", columns, index=columns.index(table.text_column), key="atlas_text_column"
    )
    return text, _LABEL if _LABEL in columns and text != _LABEL else None


def _corpus_once(
    key: str,  # noqa: ARG001 - all that `_read` depends on, without lone surrogates
    _read: Callable[[], Texts],
) -> tuple[Material, tuple[str, ...]]:
    """The corpus, and notes on it."""
    texts = _read()
    repeated = len(texts.texts) - len(set(texts.texts))
    return _corpus(texts), (*texts.notes, *repeats_note(repeated))


def _noted_corpus(key: str, read: Callable[[], Texts]) -> Material:
    """The corpus that `read` returns, read once per `key`; shows its notes on the page."""
    corpus, notes = _remembering(_corpus_once, spinner=False)(key, read)
    for note in notes:
        st.caption(escape(note))
    return corpus


def file_digest(file: UploadedFile) -> str:
    """The digest of a file's content, computed once; equal files have equal digests."""
    file.seek(0)
    return remembered(
        _DIGEST, file.file_id, lambda: hashlib.file_digest(file, "sha256").hexdigest()
    )


def _corpus(texts: Texts) -> Material:
    digests = f"{corpus_digest(texts.texts)} {corpus_digest(texts.labels)}"
    return Material(texts.texts, texts.labels, hashlib.sha256(digests.encode()).hexdigest())


@functools.cache
def _sample() -> Material:
    texts, topics = zip(*sample_corpus(), strict=True)
    return replace(_corpus(Texts(texts, topics)), is_ours=True)
