"""Which corpus the atlas is of: the built-in sample, pasted lines, a file, or a saved atlas."""

from __future__ import annotations

import functools
import hashlib
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.atlas.saved.file import MAX_ROWS
from core.analysis.atlas.saved.table import ROW_BYTES
from core.analysis.corpus import (
    MAX_BYTES,
    CorpusFileError,
    CorpusTable,
    Texts,
    choose,
    read_lines,
    read_table,
)
from core.analysis.corpus.sample import sample_corpus, sample_sentences
from core.screens.atlas.shelf import CorpusPlace, corpus_places
from core.ui import controls
from core.ui.corpus_walk import corpus_digest
from core.ui.messages import escape, quote
from core.ui.site import uploads
from core.ui.site.deployment import setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamlit.runtime.uploaded_file_manager import UploadedFile

    from core.model import LoadedModel

CORPORA = {
    "sample": "Sample corpus",
    "lines": "Your lines",
    "file": "A file",
    "saved": "A saved atlas",
}
LEAST_TOKENS, MOST_TOKENS, DEFAULT_TOKENS, STEP = 1_000, 50_000, 5_000, 1_000
NO_LABEL = "no labels"
MOST_TEXT_MB = MAX_BYTES // 2**20  # of a file of texts
# Of the largest upload, what rows of a saved atlas may fill; its header takes the rest.
_ROWS_SHARE = 5 / 6
_MOST_MODELS = 64  # whose numbers of heads are remembered
_heads_of: dict[str, int] = {}  # of all layers, by the name of a model that was loaded
_DIGEST = "_atlas_file_digest"


@dataclass(frozen=True, eq=False)
class Corpus:
    """Texts to make an atlas of; `digest` tells them and their labels from others."""

    name: str
    texts: tuple[str, ...]
    labels: tuple[str, ...]
    digest: str


def most_tokens(heads: int | None = None) -> int:
    """The largest budget, which a deployment may lower (HEADSCOPE_TOKENS).

    Of a model with so many heads, no more than what opens again when it is saved.
    """
    given = setting("TOKENS") or ""
    wanted = int(given) if given.isdigit() else MOST_TOKENS
    most = max(LEAST_TOKENS, min(MOST_TOKENS, wanted // STEP * STEP))
    if heads is None:
        return most
    rows = min(MAX_ROWS, int(_ROWS_SHARE * uploads.limit_bytes() / ROW_BYTES))
    fitting = rows // heads
    return min(most, fitting // STEP * STEP if fitting >= LEAST_TOKENS else max(1, fitting))


def fitted(budget: int, model: LoadedModel) -> int:
    """The budget, lowered with a sentence where the atlas of this model could not be opened again.

    It is remembered for the slider, which is drawn before the model is loaded.
    """
    heads = model.layers * model.heads
    if len(_heads_of) >= _MOST_MODELS:
        _heads_of.clear()
    _heads_of[model.name] = heads
    most = most_tokens(heads)
    if budget > most:
        st.caption(
            f"**{most:,} tokens at most** with {quote(model.name)}: of its {heads:,} heads, a saved"
            f" atlas of more would be larger than the {uploads.limit_mb():,} MB that this site"
            " opens."
        )
    return min(budget, most)


def pick_source() -> tuple[str, int]:
    """Which kind of corpus, and how many tokens of it."""
    most = most_tokens(_heads_of.get(st.session_state["model"].strip()))
    least = min(LEAST_TOKENS, most)
    usual = min(DEFAULT_TOKENS, most)
    asked = controls.number("budget", least, most, usual)
    st.session_state["budget"] = max(least, min(most, asked // STEP * STEP))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        source = controls.choice(
            "corpus",
            CORPORA,
            "Corpus",
            subject="The corpora are",
            width=400,  # wraps on a phone, which a free one does not
            label_visibility="collapsed",
        )
        budget = controls.number(
            "budget",
            least,
            most,
            usual,
            "Tokens at most" if source != "saved" and most > LEAST_TOKENS else "",
            slider=True,
            width=240,
            step=STEP,
            help="Of a larger corpus a random sample of its sentences is used, always the same"
            " one. 5,000 tokens are what AttentionViz shows.",
        )
    return source, budget


def corpus_of(source: str) -> Corpus:
    """The corpus; ends the page with a hint or a message where there is none."""
    if source == "sample":
        return _sample()
    corpus = _pasted() if source == "lines" else _uploaded()
    if corpus is None:
        controls.end_page()
    return corpus


def saved_file() -> UploadedFile:
    """The file of an atlas that a person gives; ends the page with a hint where there is none."""
    file = st.file_uploader(
        "An atlas that was saved here or built on the command line",
        type="parquet",
        key="atlas_saved",
        max_upload_size=uploads.limit_mb(),
    )
    if file is None:
        room = uploads.room_mb()
        if room < uploads.limit_mb():
            st.caption(
                f"Uploads of all visitors take most of what this site keeps: **{room:,} MB** fit"
                " now. They go with the visits that brought them."
            )
        st.info(
            "Choose a **.parquet** file that this page or `python -m core.atlas_build` has"
            " written. It opens without the model."
        )
        controls.end_page()
    return file


def _pasted() -> Corpus | None:
    typed = st.text_area(
        "One sentence a line",
        key="atlas_lines",
        height=120,
        max_chars=MAX_BYTES // 4,
        persist_state="session",
        placeholder="The cat sat on the mat.\nA dog barked at the postman.",
    )
    if not typed or typed.isspace():
        st.info("**Paste some sentences**, one a line. A few hundred make a good picture.")
        return None
    digest = hashlib.sha256(typed.encode("utf-8", "surrogatepass")).hexdigest()
    place = corpus_places().get(("lines", digest), CorpusPlace)
    try:
        return _read_once(place, ("lines", None), lambda: read_lines(typed))
    except CorpusFileError as error:
        st.error(escape(str(error)))
        return None


def _uploaded() -> Corpus | None:
    file = st.file_uploader(
        "A sentence a line (.txt), a table (.csv, .tsv), or objects (.jsonl); at most 20 MB",
        type=["txt", "csv", "tsv", "jsonl"],
        key="atlas_file",
        max_upload_size=min(MOST_TEXT_MB, uploads.limit_mb()),
    )
    if file is None:
        st.info("**Choose a file.** It is read on this server only, and kept in memory only.")
        return None
    place = corpus_places().get((file.name, file_digest(file)), CorpusPlace)
    try:
        table = _table(place, file)
        for note in table.notes:
            st.caption(escape(note))
        text, label = _pick_columns(table)
        return _read_once(place, (text, label), lambda: choose(table, text, label))
    except CorpusFileError as error:
        st.error(f"{quote(file.name)}: {escape(str(error))}")
        return None


def _table(place: CorpusPlace, file: UploadedFile) -> CorpusTable:
    """The file, read once and not at every click; nor is one that cannot be read read again."""
    if place.error is not None:
        raise place.error
    if place.table is None:
        try:
            with st.spinner("Reading the file …"):
                place.table = read_table(file.getvalue(), file.name)
        except CorpusFileError as error:
            place.error = CorpusFileError(str(error))  # without the bytes, as tracebacks hold them
            raise
        except MemoryError:
            said = "There is not enough memory to read it now. Take a smaller file, or try again."
            raise CorpusFileError(said) from None
        place.size += sum(map(_bytes_of, place.table.cells))
    return place.table


def _pick_columns(table: CorpusTable) -> tuple[str, str | None]:
    """Which columns hold the texts and the labels."""
    columns = list(table.columns)
    if len(columns) < 2:
        return columns[0], None
    with st.container(horizontal=True):
        text = st.selectbox(
            "Text", columns, index=columns.index(table.text_column), key="atlas_text_column"
        )
        others = [NO_LABEL, *(column for column in columns if column != text)]
        label = st.selectbox("Label, for colours", others, key="atlas_label_column")
    return text, None if label == NO_LABEL else label


def _read_once(
    place: CorpusPlace, columns: tuple[str, str | None], read: Callable[[], Texts]
) -> Corpus:
    """The corpus of these columns, with its notes on the page; made once while it is the last."""
    chosen = place.chosen
    if chosen is None or chosen[0] != columns:
        texts = read()
        name = CORPORA["lines" if columns[0] == "lines" and columns[1] is None else "file"]
        corpus = _corpus(name, texts)
        place.size += (_bytes_of(texts.texts) if chosen is None else 0) + _bytes_of(texts.labels)
        chosen = place.chosen = columns, (corpus, texts.notes)
    corpus, notes = chosen[1]
    for note in notes:
        st.caption(escape(note))
    return corpus


def _bytes_of(texts: tuple[str, ...]) -> int:
    return sys.getsizeof(texts) + sum(map(sys.getsizeof, texts))


def file_digest(file: UploadedFile) -> str:
    """Of what the file holds: the same for all who upload it, and taken once."""
    known = st.session_state.get(_DIGEST)
    if known is None or known[0] != file.file_id:
        file.seek(0)
        known = file.file_id, hashlib.file_digest(file, "sha256").hexdigest()
        st.session_state[_DIGEST] = known
    return str(known[1])


def _corpus(name: str, texts: Texts) -> Corpus:
    both = hashlib.sha256(
        f"{corpus_digest(texts.texts)} {corpus_digest(texts.labels)}".encode("utf-8", "replace")
    )
    return Corpus(name, texts.texts, texts.labels, both.hexdigest())


@functools.cache
def _sample() -> Corpus:
    topics = tuple(sentence.topic for sentence in sample_corpus())
    return _corpus(CORPORA["sample"], Texts(sample_sentences(), topics, ()))


def sample_digest() -> str:
    """Of the sample corpus, which is built without being asked for: a link to it shows it."""
    return _sample().digest
