"""Every cache of the project, with its bound. Keys are plain strings and numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.analysis.anomalies import anomaly_table
from core.analysis.atlas import Gathered
from core.analysis.clouds import Cloud, HeadStage, head_clouds
from core.analysis.head_patterns import head_scores as measure_heads
from core.analysis.head_similarity import Distances, HeadMap, compare_heads, map_heads
from core.analysis.induction import Induction, induction_scores
from core.analysis.layer_search import NOTEBOOK_RANGE, SearchRange, search_layer
from core.analysis.pattern_measure import Measured, measure_text
from core.analysis.related_heads import RelatedHeads, Scope, related_heads
from core.analysis.related_words import (
    RelatedWords,
    Vocabulary,
    measure_vocabulary,
    related_words,
)
from core.analysis.scaling import Criterion, ModelScaling, scale_head, scale_model
from core.analysis.view_weights import weighted_layer
from core.model import (
    LoadedModel,
    Trace,
    embeddings,
    load,
    output_projection,
    query_key_weights,
    trace_repeated,
    trace_text,
)
from core.model.memory import available_bytes, return_freed_memory
from core.ui import access, garbage
from core.ui.deployment import setting
from core.ui.shelves import Shelves, bytes_of

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from core.analysis.atlas import Atlas
    from core.analysis.atlas.layouts import Layout
    from core.analysis.corpus import CorpusFileError, CorpusTable
    from core.analysis.distance import Distance
    from core.analysis.joint_embedding import Metric, Projection
    from core.analysis.normalization import GridSearch
    from core.analysis.target import TargetKind
    from core.analysis.view_weights import LayerWeights, Weighting
    from core.model import Chosen
    from core.model.trace import Array
    from core.ui.atlas.layouts import LayoutJob
    from core.ui.patterns.marked import MarkedSet
    from core.ui.patterns.source import Corpus

_TOKEN_BYTES = 400  # of a gathered token beside its vectors: what people read of it

TextKey = tuple[str, str, str | None]  # model, text, second text: what a trace is cached by

# Two models: the one on screen and the one before. The bundled model takes about 90 MB, BERT base
# 440 MB; a small deployment restricts the list (HEADSCOPE_MODELS) and stays under 1 GB.
MODELS_KEPT = 2
# A trace of 512 tokens of the bundled model takes 20 MB, one of a sentence 0.5 MB.
TRACES_KEPT = 8
# A few numbers a head: 5 kB for the bundled model.
SCORES_KEPT = 16
# A byte a pair of tokens, 1 MB at 1,024 tokens, and 3 numbers a head.
RELATED_KEPT = 8
# A few dozen numbers a head: 40 kB for the bundled model.
ANOMALIES_KEPT = 16
# A layer of 512 tokens and 12 heads takes 3 MB, of 1,024 tokens and 16 heads 17 MB, and five times
# as much where its mask forbids to send queries and keys instead of float32 weights.
VIEW_LAYERS_KEPT = 6
# Longest input on any page: beyond it a token x token picture is no longer readable.
MAX_TOKENS = 1024
# Norms of 512 tokens of the bundled model: 150 kB.
NORMS_KEPT = 8
# Figures of every head: 30 kB for the bundled model.
SCALINGS_KEPT = 16
# A surface of up to 60 x 60 correlations: 30 kB.
SEARCHES_KEPT = 64
# Points of one head: 50 kB at 512 tokens; all heads of a layer at a few settings.
CLOUDS_KEPT = 128
# Sums of every head: 20 kB for the bundled model.
MEASURED_KEPT = 16
# Distances of all pairs of heads: 40 kB for the bundled model, 900 kB for 336 heads.
DISTANCES_KEPT = 8
# An atlas of 5,000 tokens of the bundled model takes 122 MB: 92 of vectors, 30 of points. So two of
# the usual size stay, or six of 1,800 tokens, in a server that takes 0.65 GB without any and is
# to stay under 1 GB. One that is larger than all may be has a place of its own.
ATLASES_BYTES = 300 * 10**6
_ATLASES_SHARE = 1 / 3  # of the memory that is free when the first is made, where that is less
# The texts of files and pasted lines: three of 20 MB, so that no click reads them again.
CORPORA_BYTES = 60 * 10**6
# Seconds that a token of a corpus takes, by model: one number each.
_RATES_KEPT = 64
# Sums of every head on each of some 300 sentences: 7 MB for the bundled model, 13 MB for BERT base.
CORPORA_KEPT = 2


@st.cache_resource(
    max_entries=MODELS_KEPT,
    show_spinner="Loading the model and checking it …",
    on_release=garbage.search_everything_next,
)
def model(name: str) -> LoadedModel:
    """The model, loaded and probed; refuses one that is not on this machine.

    `name` is what :func:`core.ui.access.resolve` gives: only there is it known that the visitor may
    use it, and no name but an absolute path is a folder. The token does not change what is loaded,
    only whether the hub says more than that the model is not here.
    """
    return_freed_memory()
    garbage.skip_what_stays()
    return load(name, download=False, folders=Path(name).is_absolute(), token=access.hub_token())


@st.cache_resource(max_entries=TRACES_KEPT, show_spinner="Running the text through the model …")
def trace(model_name: str, text: str, pair: str | None) -> Trace:
    """One forward pass of the text. Immutable, so sessions that ask the same may share it."""
    return trace_text(model(model_name), text, pair, MAX_TOKENS)


@st.cache_resource(max_entries=NORMS_KEPT, show_spinner=False)
def transformed_norms(model_name: str, text: str, pair: str | None) -> Array | None:
    """|f(v)| of every head and token, (layer, head, token); None where W_O is not known."""
    return output_projection.transformed_norms(model(model_name), trace(model_name, text, pair))


@st.cache_resource(max_entries=SCALINGS_KEPT, show_spinner="Searching c for every head …")
def scaling(
    key: TextKey, distance: Distance, criterion: Criterion, target: TargetKind = "centred"
) -> ModelScaling:
    """The constants of all heads, and what they do to each."""
    return scale_model(trace(*key), distance, criterion, target)


@st.cache_resource(max_entries=SEARCHES_KEPT, show_spinner=False)
def layer_search(key: TextKey, layer: int, ranges: SearchRange = NOTEBOOK_RANGE) -> GridSearch:
    """The notebook's search for a and c on one layer."""
    return search_layer(trace(*key), layer, ranges)


@st.cache_resource(max_entries=CLOUDS_KEPT, show_spinner=False)
def clouds(
    key: TextKey,
    layer: int,
    head: int,
    stages: tuple[HeadStage, ...],
    projection: Projection,
    dimensions: int,
    distance: Metric,
    criterion: Criterion,
    target: TargetKind = "centred",
    ranges: SearchRange = NOTEBOOK_RANGE,
) -> list[Cloud]:
    """The points of one head at these stages. Slow for UMAP and t-SNE."""
    one = trace(*key)
    return head_clouds(
        one,
        layer,
        head,
        scale_head(one, layer, head, distance, criterion, target),
        search=layer_search(key, layer, ranges) if "searched" in stages else None,
        stages=stages,
        projection=projection,
        dimensions=dimensions,
        metric=distance,
        target=target,
    )


@st.cache_resource(max_entries=SCORES_KEPT, show_spinner="Measuring every head …")
def head_scores(model_name: str, text: str, pair: str | None) -> dict[str, NDArray[np.float64]]:
    """What each head attends to, (layer, head) by name, as core.analysis.head_patterns has it."""
    return measure_heads(trace(model_name, text, pair))


@st.cache_resource(max_entries=VIEW_LAYERS_KEPT, show_spinner=False)
def view_layer(
    model_name: str, text: str, pair: str | None, layer: int, weighting: Weighting
) -> LayerWeights:
    """A layer as the head view gets it, from :func:`core.analysis.view_weights.weighted_layer`."""
    source = (model_name, text, pair)
    norms = transformed_norms(*source) if weighting == "transformed" else None
    return weighted_layer(trace(*source), layer, weighting, norms)


@st.cache_resource(max_entries=MODELS_KEPT, show_spinner=False)
def weight_similarity(model_name: str) -> Array | None:
    """How alike W_Q and W_K of each head are, (layer, head); None where they are not known."""
    return query_key_weights.weight_similarity(model(model_name))


@st.cache_resource(max_entries=MODELS_KEPT, show_spinner=False)
def vocabulary(model_name: str) -> Vocabulary | None:
    """How close random words of the vocabulary are; None where there are no input embeddings."""
    sample = embeddings.sample_embeddings(model(model_name))
    return None if sample is None else measure_vocabulary(sample)


@st.cache_resource(max_entries=RELATED_KEPT, show_spinner="Looking for related words …")
def related(key: TextKey, scope: Scope) -> tuple[RelatedWords, RelatedHeads] | None:
    """The related words of a text and what each head gives to them; None as for `vocabulary`."""
    usual, one = vocabulary(key[0]), trace(*key)
    vectors = embeddings.token_embeddings(model(key[0]), one)
    if usual is None or vectors is None:
        return None
    words = related_words(one.tokens, vectors, usual)
    return words, related_heads(one, words, scope)


@st.cache_resource(max_entries=ANOMALIES_KEPT, show_spinner="Measuring every head …")
def anomalies(model_name: str, text: str, pair: str | None) -> pd.DataFrame:
    """The table of core.analysis.anomalies. Shared by sessions: nobody writes into it."""
    source = (model_name, text, pair)
    norms, similarity = transformed_norms(*source), weight_similarity(model_name)
    table = anomaly_table(trace(*source), norms, similarity)
    table.attrs["where"] = "this text"
    return table


@dataclass(eq=False)
class AnomalyShelf:
    """A place for the anomaly table of a corpus, which a page measures under its own bar."""

    table: pd.DataFrame | None = None


@dataclass(eq=False)
class AtlasShelf:
    """A place for an atlas, which a page makes under its own bar, and for what is slow to draw.

    Attributes
    ----------
    gathered, seconds : what was taken of the corpus so far, and how long that took; all visitors
        who want the same atlas share it.
    partial : the atlas of a part, after a Cancel.
    projecting : whether a thread is making the atlas of what was gathered.
    plan : which texts it is of, once they were tokenized.
    layouts : by projection, stage, layer, head, dimensions and most tokens.
    jobs : the threads that lay out all heads, by projection and stage.
    """

    atlas: Atlas | None = None
    gathered: Gathered = field(default_factory=Gathered)
    seconds: float = 0.0
    partial: AtlasShelf | None = None
    projecting: bool = False
    plan: Chosen | None = None
    layouts: dict[tuple[str, str, int, int, int, int], Layout] = field(default_factory=dict)
    jobs: dict[tuple[str, str], LayoutJob] = field(default_factory=dict)
    _measured: tuple[Atlas | None, int] = (None, 0)

    @property
    def size(self) -> int:
        """Bytes of all that stands on it."""
        if self._measured[0] is not self.atlas:  # an atlas never changes, and is slow to measure
            self._measured = self.atlas, bytes_of(self.atlas)
        vectors = [*self.gathered.queries.values(), *self.gathered.kv_keys.values()]
        layouts = [a for one in list(self.layouts.values()) for a in (one.tokens, one.points)]
        return (
            self._measured[1]
            + sum(array.nbytes for array in [*vectors, *layouts])
            + self.gathered.count * _TOKEN_BYTES
            + (0 if self.partial is None else self.partial.size)
        )

    def stop_jobs(self) -> None:
        """Nobody will see what they lay out."""
        for job in list(self.jobs.values()):
            job.stop.set()


@st.cache_resource(show_spinner=False)
def atlas_shelves() -> Shelves[AtlasShelf]:
    """The atlases of this server: `ATLASES_BYTES` together, or what HEADSCOPE_ATLAS_MB says."""
    given = setting("ATLAS_MB") or ""
    free = available_bytes()
    most = ATLASES_BYTES if free is None else min(ATLASES_BYTES, int(free * _ATLASES_SHARE))
    if given.isdigit():
        most = int(given) * 10**6
    return Shelves(most, lambda shelf: shelf.size, AtlasShelf.stop_jobs)


def atlas_shelf(model_name: str, digest: str) -> AtlasShelf:
    """The shelf of a model and a corpus (or of a file), empty at first."""
    return atlas_shelves().at((model_name, digest), AtlasShelf)


@dataclass(eq=False)
class CorpusPlace:
    """A place for what was read of a file or of pasted lines.

    Attributes
    ----------
    table : the file as a table, or `error`: why it is none.
    chosen : of which columns the corpus was made last, and that corpus.
    size : in bytes.
    """

    table: CorpusTable | None = None
    error: CorpusFileError | None = None
    chosen: tuple[tuple[str, str | None], Any] | None = None
    size: int = 0


@st.cache_resource(show_spinner=False)
def corpus_places() -> Shelves[CorpusPlace]:
    """What was read of files and pasted lines, of `CORPORA_BYTES` together, by their digest."""
    return Shelves(CORPORA_BYTES, lambda place: place.size)


@st.cache_resource(show_spinner=False)
def _rates() -> dict[str, float]:
    return {}


def known_rate(model_name: str) -> float | None:
    """Seconds a token took in this server's last atlas of a model; None before the first."""
    return _rates().get(model_name)


def remember_rate(model_name: str, seconds: float) -> None:
    """How long a token took."""
    rates = _rates()
    rates.pop(model_name, None)
    rates[model_name] = seconds
    for name in list(rates)[:-_RATES_KEPT]:
        rates.pop(name, None)


@st.cache_resource(max_entries=CORPORA_KEPT, show_spinner=False)
def anomaly_shelf(model_name: str, digest: str) -> AnomalyShelf:  # noqa: ARG001 - they are the key
    """The shelf of a model and a corpus, empty at first."""
    return AnomalyShelf()


@st.cache_resource(max_entries=MEASURED_KEPT, show_spinner="Measuring every head …")
def measured(key: TextKey) -> Measured:
    """What the pattern table of one text is made of."""
    return measure_text(trace(*key))


@st.cache_resource(max_entries=MODELS_KEPT, show_spinner="Looking for heads that copy …")
def induction(model_name: str) -> Induction | None:
    """Induction scores on random sequences; None for a model that takes too few tokens."""
    try:
        return induction_scores(trace_repeated(model(model_name)))
    except ValueError:
        return None


@st.cache_resource(max_entries=DISTANCES_KEPT, show_spinner="Comparing every pair of heads …")
def similarity(key: TextKey) -> tuple[Distances, HeadMap]:
    """How differently heads attend to one text, and the map of them."""
    distances = compare_heads(trace(*key))
    return distances, map_heads(distances.mean)


@dataclass(eq=False)
class CorpusShelf:
    """A place for what a page measures step by step, under its own progress bar.

    Attributes
    ----------
    found : the measured corpus, None until some visitor's run has finished.
    tables : its pattern table by thresholds; the last one only.
    maps : the map of its heads, once it was asked for.
    """

    found: Corpus | None = None
    tables: dict[tuple[float, ...], pd.DataFrame] = field(default_factory=dict)
    maps: list[HeadMap] = field(default_factory=list)


@dataclass(eq=False)
class PronounShelf:
    """A place for what heads did with the marked pronouns, by the name of their set."""

    sets: dict[str, MarkedSet] = field(default_factory=dict)


@st.cache_resource(max_entries=CORPORA_KEPT, show_spinner=False)
def pronoun_shelf(model_name: str, digest: str) -> PronounShelf:  # noqa: ARG001 - they are the key
    """The shelf of a model and the marked sentences, empty at first."""
    return PronounShelf()


@st.cache_resource(max_entries=CORPORA_KEPT, show_spinner=False)
def corpus_shelf(model_name: str, digest: str) -> CorpusShelf:  # noqa: ARG001 - they are the key
    """The shelf of a model and a corpus, empty at first."""
    return CorpusShelf()
