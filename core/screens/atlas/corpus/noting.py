"""The lines under Share that give the atlas on screen: from its corpus, or from a file."""

from __future__ import annotations

import operator
from pathlib import Path

from core.analysis.corpus.sample import sample_corpus
from core.atlas import Atlas, build_atlas
from core.atlas.files import read_atlas
from core.atlas.sources import open_large
from core.model import Chosen, choose_texts, open_image, trace_chosen, trace_images
from core.model.box import open_box
from core.screens.atlas.corpus.entry import AtlasEntry
from core.screens.atlas.corpus.source import Corpus
from core.ui import cache, python
from core.ui.python.source import note_model

BATCH_TOKENS = 512  # of a forward pass: 0.2 s of the bundled model, then others may go first
BATCH_IMAGES = 4  # of a forward pass, then others may go first
_BOX = python.Constant("core.model.box", "BOX")
_PART = "part.atlas.zip"  # of a corpus that was cancelled: what the page has saved


def note_made(entry: AtlasEntry, model: str, corpus: Corpus, budget: int) -> AtlasEntry:
    """The calls that make the atlas of a corpus; returns the entry."""
    if entry.atlas is not None and entry.plan is not None:
        if entry.atlas.shape[2] < entry.plan.tokens:
            note_file(entry, _PART)
        else:
            note_model(model, "image" if corpus.images else "text")
            run = _of_images(corpus) if corpus.images else _of_texts(corpus, entry.plan, budget)
            python.made("atlas", entry.atlas, run)
    return entry


def _of_texts(corpus: Corpus, plan: Chosen, budget: int) -> python.Call:
    read = corpus.read or python.call(sample_corpus)
    whole, texts, labels = map(python.Variable, ("corpus", "texts", "labels"))
    python.made(whole.name, None, read)
    if corpus.read is None:
        python.made(texts.name, None, _of_each(whole, "text"))
        python.made(labels.name, None, _of_each(whole, "topic"))
    else:
        python.made(texts.name, None, python.call(getattr, whole, "texts"))
        python.made(labels.name, None, python.call(getattr, whole, "labels"))
    chosen = python.call(choose_texts, python.MODEL, texts, budget, cache.MAX_TOKENS)
    python.made("chosen", plan, chosen)
    traces = python.call(
        trace_chosen,
        python.MODEL,
        texts,
        plan,
        batch_tokens=BATCH_TOKENS,
        max_tokens=cache.MAX_TOKENS,
    )
    return python.call(build_atlas, traces, texts, labels if corpus.labels else ())


def _of_each(values: object, field: str) -> python.Each:
    return python.each_of("each", values, lambda each: python.call(getattr, each, field))


def _of_images(corpus: Corpus) -> python.Call:
    if corpus.is_ours:
        images = python.each_of("name", _BOX, lambda name: python.call(open_box, name))
        entries = python.call(dict.values, _BOX)
        names, groups = _of_each(entries, "title"), _of_each(entries, "group")
        traces = python.call(trace_images, python.MODEL, images, BATCH_IMAGES)
        return python.call(build_atlas, traces, names, groups)
    images = python.each_of("name", list(corpus.files), _opened)
    traces = python.call(trace_images, python.MODEL, images, BATCH_IMAGES)
    return python.call(build_atlas, traces, corpus.texts)


def _opened(name: python.Variable) -> python.Call:
    data = python.call(Path.read_bytes, python.call(Path, name))
    return python.call(getattr, python.call(open_image, data), "image")


def note_file(entry: AtlasEntry, name: str) -> AtlasEntry:
    """The call that opens the atlas of a file of this name; returns the entry."""
    python.made("atlas", entry.atlas, python.call(read_atlas, name))
    return entry


def note_folder(entry: AtlasEntry, name: str) -> AtlasEntry:
    """The calls that open the atlas of a folder of this name; returns the entry."""
    python.made("large", entry.source, python.call(open_large, python.call(Path, name)))
    python.made("atlas", entry.atlas, python.call(getattr, entry.source, "sample"))
    return entry


def points_of(atlas: Atlas, stage: str) -> python.Call:
    """Where queries and keys lie, of one stage."""
    return python.call(operator.getitem, python.call(getattr, atlas, "points"), stage)
