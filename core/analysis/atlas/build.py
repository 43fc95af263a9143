"""From traces, or from what was gathered of them, to an atlas."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from core.analysis.atlas.blocks import CorpusPairs, sampled_blocks
from core.analysis.atlas.data import (
    DIMENSIONS,
    METRICS,
    Atlas,
    Measured,
    ModelFaithfulness,
    token_columns,
)
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

    from core.analysis.arrays import Floats
    from core.analysis.atlas.data import CorpusTokens, CorpusVectors
    from core.analysis.projections.joint_embedding import Metric
    from core.analysis.query_key.clouds import Stage
    from core.analysis.query_key.faithfulness import Faithfulness
    from core.analysis.query_key.scaling import HeadScaling
    from core.model.trace import Array, Layer, Trace

    ByStage = dict[Stage, Faithfulness]

SCALING_PAIRS = 16_384  # of a head, to choose its c: r within 0.015


class HeadPicture(NamedTuple):
    """One head over a corpus, as in an atlas; `plane` and `full` are faithfulness."""

    points: dict[Stage, Array]
    shares: dict[Stage, Floats]
    norms: Array
    scaling: HeadScaling
    plane: ByStage
    full: dict[Metric, ByStage]
    baseline: Baseline

    def without_points(self) -> HeadPicture:
        """The same without what is large."""
        return self._replace(points={}, norms=np.empty(0, dtype=np.float32))


def build_atlas(
    traces: Iterable[Trace] | Iterable[tuple[int, Trace]],
    sentences: Sequence[str] = (),
    labels: Sequence[str] = (),
) -> Atlas:
    """Every head's queries and keys over a corpus, projected, with what the projections keep.

    `traces` are those of ``trace_corpus``, or of ``trace_by_length`` with the place of each
    sentence; the `sentences` traced are by default put together from their tokens; `labels` are the
    reader's own, one per sentence. Raises `ValueError` when there is no trace.
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
    before_head: Callable[[int, int], object] | None = None,
) -> Atlas:
    """The atlas of what was gathered; the vectors are moved out of `gathered`.

    `sentences` and `labels` are indexed by the places of the sentences that were gathered.
    `before_head` is called in the working threads, before each head, with how many have begun and
    how many there are; it may let other work go first. Raises `ValueError` for nothing gathered.
    """
    if not gathered.tokens:
        raise ValueError("an atlas needs at least one sentence")
    places = sorted(gathered.tokens)
    tokens = token_columns([gathered.tokens[place] for place in places])
    masks = {places.index(place): masks for place, masks in gathered.masks.items()}
    distances = finish_comparison(gathered)
    assert gathered.positions is not None  # noqa: S101 - there is a sentence
    vectors = take_vectors(gathered)
    if sentences:
        texts = read_parts(tokens, [sentences[place] for place in places])
    else:
        texts, tokens = _texts_from_tokens(tokens)
    pairs = CorpusPairs(sampled_blocks(tokens, masks.get, gathered.causal))
    return Atlas(
        model=gathered.model,
        causal=gathered.causal,
        sentences=texts,
        labels=tuple(labels[place] for place in places) if labels else (),
        tokens=tokens,
        masks=masks,
        rules=gathered.rules,
        layer_numbers=gathered.layer_numbers,
        depth=gathered.depth,
        vectors=vectors,
        distances=distances,
        positions=gathered.positions,
        settings=cut_settings(gathered.dropped, gathered.cut_characters),
        **_all_heads(vectors, pairs, gathered.rules, before_head),
    )


def picture_head(
    queries: Floats, keys: Floats, pairs: CorpusPairs, head: tuple[int, int], rule: Layer
) -> HeadPicture:
    """Choose one head's constants, project it, and measure what is kept of its attention.

    `queries` and `keys` are (token, dim), `head` is (layer, head).
    """
    target = pairs.target(queries, keys, head, rule)

    def measure(own: Floats, others: Floats, metric: Metric = "euclidean") -> Faithfulness:
        return pairs.faithfulness(own, others, head, target, metric)

    sample = sample_indices(target.values.size, SCALING_PAIRS)  # for c; the rest is of all pairs
    scaling = scale_vectors(queries, keys, target, sample, measure)
    points, shares = project_stages(queries, keys, scaling.c)
    planes = {stage: both[:, :2].astype(np.float64) for stage, both in points.items()}
    raw, translated = (measure(queries, keys + shift, "cosine") for shift in (0, scaling.a))
    return HeadPicture(
        points,
        shares,
        norms=np.linalg.norm(np.vstack([queries, keys]), axis=1).astype(np.float32),
        scaling=scaling,
        plane={
            stage: measure(plane[: len(queries)], plane[len(queries) :])
            for stage, plane in planes.items()
        },
        full={
            "euclidean": dict(zip(STAGES, scaling.faithfulness, strict=True)),
            # Cosine distance is the same for every c.
            "cosine": dict(zip(STAGES, (raw, translated, translated), strict=True)),
        },
        baseline=uniform_baseline(target.rows),
    )


def _all_heads(
    vectors: CorpusVectors,
    pairs: CorpusPairs,
    rules: Sequence[Layer],
    before_head: Callable[[int, int], object] | None,
) -> dict[str, Any]:
    """The fields of an atlas that come from its heads.

    Large arrays are filled head by head, so that nothing is in memory twice.
    """
    layers, heads, size, _ = vectors.queries.shape
    points = {
        stage: np.empty((layers, heads, 2 * size, DIMENSIONS), dtype=np.float32) for stage in STAGES
    }
    norms = np.empty((layers, heads, 2 * size), dtype=np.float32)

    def draw(layer: int, head: int) -> HeadPicture:
        if before_head is not None:
            before_head(layer * heads + head, layers * heads)
        queries, keys = vectors.of_head(layer, head)
        picture = picture_head(queries, keys, pairs, (layer, head), rules[layer])
        for stage in STAGES:
            points[stage][layer, head] = picture.points[stage]
        norms[layer, head] = picture.norms
        return picture.without_points()

    pictures = list(every_head(layers, heads, draw))
    return {"points": points, "norms": norms, **join_heads(pictures, layers, pairs)}


def join_heads(pictures: Sequence[HeadPicture], layers: int, pairs: CorpusPairs) -> dict[str, Any]:
    """The fields of an atlas that come from its heads, but points and norms.

    `pictures` are in order, layer after layer.
    """

    def by_layer(values: Sequence[Any]) -> NDArray[Any]:
        stacked = np.stack(values)
        return stacked.reshape(layers, -1, *stacked.shape[1:])

    def joined(results: Sequence[Faithfulness]) -> ModelFaithfulness:
        names = ("correlation", "top1", "top3", "low", "high")
        return ModelFaithfulness(
            **{name: by_layer([getattr(one, name) for one in results]) for name in names},
            per_sentence=by_layer([one.per_text for one in results]),
        )

    return {
        "shares": {stage: by_layer([each.shares[stage] for each in pictures]) for stage in STAGES},
        "scaling": collect_scalings([each.scaling for each in pictures], layers),
        "faithfulness": {
            stage: joined([each.plane[stage] for each in pictures]) for stage in STAGES
        },
        "full": {
            metric: {
                stage: joined([each.full[metric][stage] for each in pictures]) for stage in STAGES
            }
            for metric in METRICS
        },
        "measured": Measured(
            tokens=sum(block.tokens.size for block in pairs.blocks),
            sentences=sum(len(block.tokens) for block in pairs.blocks),
            pairs=by_layer([each.plane["raw"].pairs for each in pictures]),
            top1=by_layer([each.baseline.top1 for each in pictures]),
            top3=by_layer([each.baseline.top3 for each in pictures]),
        ),
    }


def read_parts(tokens: CorpusTokens, sentences: Sequence[str]) -> tuple[str, ...]:
    """The sentences up to the last token that the model read."""
    ends = np.zeros(len(sentences), dtype=np.int64)
    np.maximum.at(ends, tokens.sentence, tokens.spans[:, 1])
    return tuple(text[:end] for text, end in zip(sentences, ends, strict=True))


def _texts_from_tokens(tokens: CorpusTokens) -> tuple[tuple[str, ...], CorpusTokens]:
    """Sentences put together from their tokens, and the columns with the spans in them."""
    texts = [""] * (int(tokens.sentence[-1]) + 1)
    spans = np.zeros_like(tokens.spans)
    word_before = -1
    for index, (sentence, display) in enumerate(zip(tokens.sentence, tokens.displays, strict=True)):
        if tokens.special[index]:
            continue
        start = texts[sentence]
        same_word = bool(start) and tokens.word[index] == word_before
        piece = (display.removeprefix("##") if same_word else display).strip()
        if start and not same_word:
            start += " "
        spans[index] = len(start), len(start) + len(piece)
        texts[sentence] = start + piece
        word_before = tokens.word[index]
    return tuple(texts), replace(tokens, spans=spans)
