"""From traces, or from what was gathered of them, to an atlas."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from core.analysis.atlas.blocks import CorpusPairs, blocks_of
from core.analysis.atlas.data import (
    DIMENSIONS,
    METRICS,
    Atlas,
    Measured,
    ModelFaithfulness,
    token_columns,
)
from core.analysis.atlas.faithfulness import MAX_PAIRS, corpus_target, picture_faithfulness
from core.analysis.atlas.gather import (
    Gathered,
    cut_settings,
    finish_comparison,
    gather_trace,
    take_vectors,
)
from core.analysis.atlas.points import project_stages
from core.analysis.query_key.clouds import STAGES
from core.analysis.query_key.correlation import sample_indices
from core.analysis.query_key.faithfulness import Baseline, uniform_baseline
from core.analysis.query_key.scaling import collect_scalings, every_head, scale_vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from core.analysis.atlas.blocks import Block
    from core.analysis.atlas.data import CorpusTokens, CorpusVectors
    from core.analysis.projections.joint_embedding import Metric
    from core.analysis.query_key.clouds import Stage
    from core.analysis.query_key.faithfulness import Faithfulness
    from core.analysis.query_key.scaling import HeadScaling
    from core.analysis.query_key.target import Target
    from core.model.trace import Array, Layer, Trace

    Floats = NDArray[np.float64]
    OfHead = Callable[[int, int], tuple[Floats, Floats]]
    Kept = dict[Stage, Faithfulness]

SCALING_PAIRS = 16_384  # of a head, to choose its c: r within 0.015


class HeadPicture(NamedTuple):
    """One head over a corpus: points and shares by stage, norms, constants, what is kept.

    `kept` is of the plane by stage, `full` of full space by distance and stage.
    """

    points: dict[Stage, Array]
    shares: dict[Stage, Floats]
    norms: Array
    scaling: HeadScaling
    kept: Kept
    full: dict[Metric, Kept]
    baseline: Baseline


def build_atlas(
    traces: Iterable[Trace] | Iterable[tuple[int, Trace]],
    sentences: Sequence[str] = (),
    labels: Sequence[str] = (),
) -> Atlas:
    """Every head's queries and keys over a corpus, projected, with what the projections keep.

    Parameters
    ----------
    traces : from ``trace_corpus``, or from ``trace_by_length`` with the place of each sentence.
    sentences : the texts that were traced; left out, they are put together from their tokens.
    labels : the reader's own, one a sentence.

    Raises
    ------
    ValueError
        When there is no trace.
    """
    gathered = Gathered()
    for index, item in enumerate(traces):
        place, trace = item if isinstance(item, tuple) else (index, item)
        gather_trace(gathered, place, trace)
    return atlas_of(gathered, sentences, labels)


def atlas_of(
    gathered: Gathered,
    sentences: Sequence[str] = (),
    labels: Sequence[str] = (),
    between: Callable[[int, int], object] | None = None,
) -> Atlas:
    """The atlas of what was gathered, which gives its vectors away.

    `sentences` and `labels` are indexed by the places of the sentences that were gathered.
    `between` is called in the threads that work, before each head, with how many have begun, of
    how many; it may let others come first.

    Raises
    ------
    ValueError
        When nothing was gathered.
    """
    if not gathered.tokens:
        raise ValueError("an atlas needs at least one sentence")
    places = sorted(gathered.tokens)
    columns = token_columns([gathered.tokens[place] for place in places])
    masks = {places.index(place): masks for place, masks in gathered.masks.items()}
    distances = finish_comparison(gathered)
    assert gathered.positions is not None  # noqa: S101 - there is a sentence
    vectors = take_vectors(gathered)
    blocks = blocks_of(columns, masks, gathered.causal, MAX_PAIRS)
    if sentences:
        kept, columns = kept_texts(columns, [sentences[place] for place in places])
    else:
        kept, columns = _texts_from_tokens(columns)
    return Atlas(
        model=gathered.model,
        causal=gathered.causal,
        sentences=kept,
        labels=tuple(labels[place] for place in places) if labels else (),
        tokens=columns,
        masks=masks,
        rules=gathered.rules,
        vectors=vectors,
        distances=distances,
        positions=gathered.positions,
        settings=cut_settings(gathered.dropped, gathered.cut_characters),
        **_all_heads(vectors, blocks, gathered.rules, between),  # type: ignore[arg-type]
    )


def picture_of(
    of_head: OfHead, pairs: CorpusPairs, at: tuple[int, int], rules: Sequence[Layer]
) -> HeadPicture:
    """Choose one head's constants, project it, and measure what is kept of its attention."""
    queries, keys = of_head(*at)
    target = corpus_target(queries, keys, pairs, at, rules[at[0]])

    def keep(own: Floats, others: Floats, metric: Metric = "euclidean") -> Faithfulness:
        return picture_faithfulness(own, others, pairs, at, target, metric)

    scaling = _scaled(queries, keys, target, keep)
    points, shares = project_stages(queries, keys, scaling.c)
    planes = {stage: both[:, :2].astype(np.float64) for stage, both in points.items()}
    raw, moved = (keep(queries, keys + shift, "cosine") for shift in (0, scaling.a))
    return HeadPicture(
        points,
        shares,
        norms=np.linalg.norm(np.vstack([queries, keys]), axis=1).astype(np.float32),
        scaling=scaling,
        kept={s: keep(plane[: len(queries)], plane[len(queries) :]) for s, plane in planes.items()},
        full={
            "euclidean": dict(zip(STAGES, scaling.faithfulness, strict=True)),
            # Cosine distance does not see c.
            "cosine": dict(zip(STAGES, (raw, moved, moved), strict=True)),
        },
        baseline=uniform_baseline(target.rows),
    )


def _scaled(
    queries: Floats, keys: Floats, target: Target, keep: Callable[[Floats, Floats], Faithfulness]
) -> HeadScaling:
    """The constants of one head: c from a sample of pairs, what is kept from all of them."""
    pairs = sample_indices(target.values.size, SCALING_PAIRS)
    return scale_vectors(queries, keys, target, pairs, keep)


def _all_heads(
    vectors: CorpusVectors,
    blocks: Sequence[Block],
    rules: Sequence[Layer],
    between: Callable[[int, int], object] | None,
) -> dict[str, object]:
    """The fields of an atlas that are made of its heads.

    What is large is put in its place as soon as it is made, so that it is never in memory twice.
    """
    layers, heads, size, _ = vectors.queries.shape
    points = {
        stage: np.empty((layers, heads, 2 * size, DIMENSIONS), dtype=np.float32) for stage in STAGES
    }
    norms = np.empty((layers, heads, 2 * size), dtype=np.float32)
    pairs = CorpusPairs(blocks)

    def picture(*at: int) -> HeadPicture:
        layer, head = at
        if between is not None:
            between(layer * heads + head, layers * heads)
        made = picture_of(vectors.of_head, pairs, (layer, head), rules)
        for stage in STAGES:
            points[stage][layer, head] = made.points[stage]
        norms[layer, head] = made.norms
        return made._replace(points={}, norms=np.empty(0, dtype=np.float32))

    found = every_head(layers, heads, picture)
    return {"points": points, "norms": norms, **figures_of_heads(found, layers, blocks)}


def figures_of_heads(
    found: Sequence[HeadPicture], layers: int, blocks: Sequence[Block]
) -> dict[str, object]:
    """The fields of an atlas that are made of its heads, given layer after layer.

    Their points and norms are not looked at.
    """
    sentences = sum(len(block.tokens) for block in blocks)
    return {
        "shares": {s: _stacked([head.shares[s] for head in found], layers) for s in STAGES},
        "scaling": collect_scalings([head.scaling for head in found], layers),
        "faithfulness": {
            stage: _trust([head.kept[stage] for head in found], layers) for stage in STAGES
        },
        "full": {
            metric: {
                stage: _trust([head.full[metric][stage] for head in found], layers)
                for stage in STAGES
            }
            for metric in METRICS
        },
        "measured": Measured(
            tokens=sum(block.tokens.size for block in blocks),
            sentences=sentences,
            pairs=np.array([head.kept["raw"].pairs for head in found]).reshape(layers, -1),
            top1=np.array([head.baseline.top1 for head in found]).reshape(layers, -1),
            top3=np.array([head.baseline.top3 for head in found]).reshape(layers, -1),
        ),
    }


def _trust(kept: Sequence[Faithfulness], layers: int) -> ModelFaithfulness:
    """One measurement of all heads, given layer after layer."""

    def collect(name: str) -> Floats:
        return np.array([getattr(each, name) for each in kept], dtype=np.float64).reshape(
            layers, -1
        )

    names = ("correlation", "top1", "top3", "low", "high")
    return ModelFaithfulness(
        **{name: collect(name) for name in names}, per_sentence=collect("per_text")
    )


def _stacked(arrays: list[NDArray[np.generic]], layers: int) -> NDArray[np.generic]:
    whole = np.stack(arrays)
    return whole.reshape(layers, -1, *whole.shape[1:])


def kept_texts(
    columns: CorpusTokens, sentences: Sequence[str]
) -> tuple[tuple[str, ...], CorpusTokens]:
    """The sentences up to the last token that the model read."""
    ends = np.zeros(len(sentences), dtype=np.int64)
    np.maximum.at(ends, columns.sentence, columns.spans[:, 1])
    kept = (text[:end] for text, end in zip(sentences, ends, strict=True))
    return tuple(kept), columns


def _texts_from_tokens(columns: CorpusTokens) -> tuple[tuple[str, ...], CorpusTokens]:
    """Sentences put together from their tokens, and the columns with the spans in them."""
    texts = [""] * (int(columns.sentence[-1]) + 1)
    spans = np.zeros_like(columns.spans)
    word_before = -1
    for index, (sentence, shown) in enumerate(zip(columns.sentence, columns.displays, strict=True)):
        if columns.special[index]:
            continue
        start = texts[sentence]
        goes_on = bool(start) and columns.word[index] == word_before
        piece = (shown.removeprefix("##") if goes_on else shown).strip()
        if start and not goes_on:
            start += " "
        spans[index] = len(start), len(start) + len(piece)
        texts[sentence] = start + piece
        word_before = columns.word[index]
    return tuple(texts), replace(columns, spans=spans)
