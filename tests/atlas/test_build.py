"""An atlas against one text at a time: vectors, components, constants, faithfulness."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import block_diag
from sklearn.decomposition import PCA

from core.analysis.normalization import key_translation, normalize
from core.analysis.query_key.correlation import distances_between
from core.analysis.query_key.faithfulness import compare_matrix, matrix_target
from core.analysis.query_key.scaling import C_VALUES
from core.atlas import Atlas, build_atlas
from core.atlas.blocks import blocks_of
from core.atlas.points import find_planes, place
from core.model import trace_by_length, trace_text
from core.model.trace import Layer
from core.vocabulary import STAGES, Stage
from tests.atlas.corpora import SCALING, corpus_of, read_words, trace_of, window_mask
from tests.model.families import SENTENCES

if TYPE_CHECKING:
    from core.analysis.query_key.faithfulness import Faithfulness
    from core.model.trace import Trace
    from tests.conftest import ModelOf

Floats = NDArray[np.float64]
LENGTHS = (7, 3, 12, 7, 1, 9)
KINDS: dict[str, tuple[bool, int | None]] = {
    "everywhere": (False, None),
    "causal": (True, None),
    "window": (False, 3),
    "causal window": (True, 3),
}
kinds = pytest.mark.parametrize("kind", KINDS)
pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def corpus(kind: str, lengths: tuple[int, ...] = LENGTHS) -> list[Trace]:
    causal, window = KINDS[kind]
    return corpus_of(lengths, causal=causal, window=window)


def vectors_of(traces: list[Trace], layer: int, head: int) -> tuple[Floats, Floats]:
    """All queries and keys of a head, one text after the other, from repeated keys."""
    queries = np.vstack([trace.queries[layer, head] for trace in traces])
    keys = np.vstack([trace.keys[layer, head] for trace in traces])
    return queries.astype(np.float64), keys.astype(np.float64)


def staged(queries: Floats, keys: Floats, stage: Stage, c: float) -> Floats:
    a = 0.0 if stage == "raw" else key_translation(queries, keys)
    return np.vstack(normalize(queries, keys, a, c if stage == "normalized" else 1.0))


def plane_of(atlas: Atlas, stage: Stage, layer: int, head: int) -> tuple[Floats, Floats]:
    points = atlas.points[stage][layer, head, :, :2].astype(np.float64)
    return points[: len(points) // 2], points[len(points) // 2 :]


def allowed_of(traces: list[Trace], layer: int, causal: bool, window: int | None) -> NDArray[Any]:
    """Which tokens of the corpus each may see, by what the layer is known to permit."""
    narrow = window if layer == traces[0].shape[0] - 1 else None
    sizes = [len(trace.tokens) for trace in traces]
    masks = [window_mask(size, causal=causal, window=narrow) for size in sizes]
    return np.asarray(block_diag(*masks), dtype=np.bool_)


def kept_of(
    vectors: tuple[Floats, Floats],
    plane: tuple[Floats, Floats],
    allowed: NDArray[Any],
    softcap: float | None = None,
) -> Faithfulness:
    """What the analysis of one text says of all sentences as if they were one, each by itself."""
    scores = Layer(SCALING, None, softcap).logits(vectors[0] @ vectors[1].T)
    return compare_matrix(matrix_target(scores, allowed), distances_between(*plane))


def test_an_atlas_holds_every_token_in_the_order_of_the_texts_whatever_that_of_traces() -> None:
    traces = corpus("causal window")
    labels = [f"label {i}" for i in range(len(traces))]
    texts = [" ".join(t.text for t in trace.tokens if not t.special) for trace in traces]
    in_order = build_atlas(traces, texts, labels)
    order = [4, 1, 5, 0, 3, 2]
    shuffled = build_atlas([(place, traces[place]) for place in order], texts, labels)
    assert (shuffled.sentences, shuffled.labels) == (tuple(texts), tuple(labels))
    assert sorted(shuffled.masks) == sorted(in_order.masks) == [0, 2, 3, 5]
    for stage in STAGES:
        assert shuffled.points[stage].shape == (2, 4, 2 * sum(LENGTHS), 3)
        assert (shuffled.points[stage] == in_order.points[stage]).all()
        assert (shuffled.faithfulness[stage].top1 == in_order.faithfulness[stage].top1).all()

    tokens = [token for trace in traces for token in trace.tokens]
    found = shuffled.tokens
    assert shuffled.shape == (2, 4, len(tokens))
    assert found.texts == tuple(token.text for token in tokens)
    assert found.displays == tuple(token.display for token in tokens)
    for name in ("position", "word", "special"):
        assert getattr(found, name).tolist() == [getattr(token, name) for token in tokens]
    assert found.spans.tolist() == [list(token.span) for token in tokens]
    sentence = [i for i, trace in enumerate(traces) for _ in trace.tokens]
    assert found.sentence.tolist() == sentence
    assert found.lengths.tolist() == [LENGTHS[i] for i in sentence]
    assert found.of_sentence(2).tolist() == list(range(10, 22))

    assert shuffled.vectors is not None
    for layer, head in np.ndindex(2, 4):
        vectors = vectors_of(traces, layer, head)
        for ours, theirs in zip(shuffled.vectors.of_head(layer, head), vectors, strict=True):
            np.testing.assert_array_equal(ours, theirs)
        norms = [float(np.sqrt((row**2).sum())) for row in np.vstack(vectors)]
        np.testing.assert_allclose(shuffled.norms[layer, head], norms, rtol=1e-5)


def test_sentences_that_left_no_trace_are_left_out_of_texts_and_labels() -> None:
    traces = corpus("everywhere", (3, 4))
    texts = ["w0x0 w0x1", "", "w1x0 w1x1 w1x2 and what was cut"]
    atlas = build_atlas([(2, traces[1]), (0, traces[0])], texts, ["a", "b", "c"])
    assert atlas.sentences == ("w0x0 w0x1", "w1x0 w1x1 w1x2")
    assert atlas.labels == ("a", "c")
    assert atlas.tokens.sentence.tolist() == [0] * 3 + [1] * 4
    assert atlas.tokens.of_sentence(1).tolist() == [3, 4, 5, 6]


def test_masks_stay_with_their_sentence_where_others_left_no_trace() -> None:
    traces = corpus("causal window", (2, 9, 6))
    atlas = build_atlas([(4, traces[1]), (1, traces[0]), (7, traces[2])])
    assert sorted(atlas.masks) == [1, 2]  # two tokens are too few for a window of three
    for sentence, size in ((1, 9), (2, 6)):
        lengths = np.bincount(atlas.tokens.sentence)
        (block,) = blocks_of(lengths, np.array([sentence]), atlas.masks.get, causal=True)
        mask = window_mask(size, causal=True, window=3)
        assert (block.counted(1, 0)[0] == mask & (mask.sum(axis=1, keepdims=True) > 1)).all()


def test_what_was_cut_is_counted(model_of: ModelOf) -> None:
    model = model_of("gpt2")
    atlas = build_atlas(trace_by_length(model, SENTENCES[3:], max_tokens=6), SENTENCES[3:])
    whole = [len(trace_text(model, text).tokens) for text in SENTENCES[3:]]
    assert atlas.tokens.lengths.tolist() == [6] * 18
    assert atlas.settings["tokens_cut"] == sum(whole) - 18
    for text, kept in zip(SENTENCES[3:], atlas.sentences, strict=True):
        assert text.startswith(kept)
        assert len(kept) < len(text)


def test_an_atlas_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one sentence"):
        build_atlas([])


@pytest.mark.parametrize("dim", [1, 2, 5])
def test_every_heads_components_are_those_of_scikit_learn(dim: int) -> None:
    """Heads of fewer dims than axes leave zeros."""
    traces = corpus_of(LENGTHS, causal=True, window=3, dim=dim)
    atlas = build_atlas(traces)
    axes = min(dim, 3)
    for layer, head in np.ndindex(2, 4):
        queries, keys = vectors_of(traces, layer, head)
        for stage in STAGES:
            rows = staged(queries, keys, stage, float(atlas.c[layer, head]))
            pca = PCA(n_components=axes, svd_solver="full")
            expected = np.zeros((len(rows), 3))
            expected[:, :axes] = pca.fit_transform(rows)
            found = atlas.points[stage][layer, head]
            sign = np.sign((found * expected).sum(axis=0))
            np.testing.assert_allclose(found * sign, expected, atol=2e-6 * np.abs(expected).max())
            shares = atlas.shares[stage][layer, head]
            np.testing.assert_allclose(shares[:axes], pca.explained_variance_ratio_, atol=1e-9)
            assert not shares[axes:].any()
            assert not found[:, axes:].any()


def project_stages(
    queries: Floats, keys: Floats, c: float
) -> tuple[dict[Stage, NDArray[np.float32]], dict[Stage, Floats]]:
    """Points and shares at each stage, with means and covariances by NumPy."""
    means = queries.mean(axis=0), keys.mean(axis=0)
    planes = find_planes(means, (np.cov(queries.T, bias=True), np.cov(keys.T, bias=True)), c)
    return place(queries, keys, planes), {stage: plane.shares for stage, plane in planes.items()}


def test_axes_point_to_where_their_largest_weight_is_positive() -> None:
    draw = np.random.default_rng(3)
    queries, keys = draw.normal(size=(2, 40, 6)) * np.arange(1, 7)
    points, _ = project_stages(queries, keys, 1.7)
    for stage in STAGES:
        rows = staged(queries, keys, stage, 1.7)
        axes = np.linalg.lstsq(rows - rows.mean(axis=0), points[stage], rcond=None)[0]
        assert (axes[np.abs(axes).argmax(axis=0), np.arange(3)] > 0).all()


@pytest.mark.parametrize("size", [1, 2, 9])
@pytest.mark.parametrize(("queries_by", "keys_by"), [(0, 0), (0, 1), (1, 0)])
def test_vectors_that_never_change_give_finite_points(
    queries_by: int, keys_by: int, size: int
) -> None:
    draw = np.random.default_rng(0)
    queries = draw.normal(size=7) + queries_by * draw.normal(size=(size, 7))
    keys = draw.normal(size=7) + keys_by * draw.normal(size=(size, 7))
    points, shares = project_stages(queries, keys, 2.5)
    for stage in STAGES:
        rows = staged(queries, keys, stage, 2.5)
        apart = np.linalg.norm(rows[:, None] - rows[None], axis=-1)
        found = np.linalg.norm(points[stage][:, None] - points[stage][None], axis=-1)
        rank = int(np.linalg.matrix_rank(rows - rows.mean(axis=0), tol=1e-9))
        assert np.isfinite(points[stage]).all()
        assert np.count_nonzero(shares[stage]) == min(3, rank)
        assert (found <= apart + 1e-6).all()
        if rank <= 3:
            np.testing.assert_allclose(found, apart, atol=1e-6)
            assert shares[stage].sum() == pytest.approx(1.0 if rank else 0.0)


def test_a_model_that_says_the_same_of_every_token_still_has_an_atlas() -> None:
    (trace,) = corpus_of([6])
    for array in (trace.queries, trace.kv_keys):
        array.setflags(write=True)
        array[:] = array[:, :, :1]
    atlas = build_atlas([trace])
    for stage in STAGES:
        assert np.isfinite(atlas.points[stage]).all()
        assert np.isnan(atlas.faithfulness[stage].correlation).all()
    assert (atlas.c == 1).all()


@kinds
def test_faithfulness_of_many_sentences_is_that_of_their_pairs_one_by_one(kind: str) -> None:
    """In the plane, beside the uniform baseline of each layer's own mask."""
    traces = corpus(kind)
    atlas = build_atlas(traces)
    assert atlas.measured.tokens == sum(LENGTHS)
    for layer, head in ((0, 0), (0, 3), (1, 2)):
        allowed = allowed_of(traces, layer, *KINDS[kind])
        counts = allowed.sum(axis=1)
        np.testing.assert_allclose(atlas.measured.top1[layer], np.mean(1 / counts[counts > 1]))
        for stage in STAGES:
            plane = plane_of(atlas, stage, layer, head)
            expected = kept_of(vectors_of(traces, layer, head), plane, allowed)
            found = atlas.faithfulness[stage]
            assert found.correlation[layer, head] == pytest.approx(expected.correlation, abs=1e-8)
            assert found.top1[layer, head] == pytest.approx(expected.top1)


def test_scores_of_an_atlas_are_soft_capped_where_the_model_does_it() -> None:
    plain = corpus("everywhere")
    capped_traces = [
        replace(trace, layers=tuple(replace(rule, softcap=2.0) for rule in trace.layers))
        for trace in plain
    ]
    atlas = build_atlas(capped_traces)
    plane, allowed = plane_of(atlas, "raw", 1, 2), allowed_of(plain, 1, causal=False, window=None)
    expected = kept_of(vectors_of(plain, 1, 2), plane, allowed, softcap=2.0)
    found = atlas.faithfulness["raw"].correlation[1, 2]
    assert found == pytest.approx(expected.correlation, abs=1e-9)
    uncapped = build_atlas(plain).faithfulness["raw"].correlation[1, 2]
    assert abs(found - uncapped) > 0.01, "the cap has to matter here"


def test_the_constant_of_many_sentences_is_the_best_over_all_their_pairs() -> None:
    traces = corpus("causal window")
    atlas = build_atlas(traces)
    for layer, head in ((0, 1), (1, 3)):
        queries, keys = vectors_of(traces, layer, head)
        keys = keys + key_translation(queries, keys)
        seen = map(np.flatnonzero, allowed_of(traces, layer, causal=True, window=3))
        rows = [(i, mine) for i, mine in enumerate(seen) if len(mine) > 1]
        scores = [keys[mine] @ queries[i] for i, mine in rows]
        target = np.concatenate([each - each.mean() for each in scores])
        chosen = atlas.c[layer, head]
        values = []
        for c in (*C_VALUES, chosen * 0.999, chosen * 1.001, chosen):
            gaps = [np.linalg.norm(queries[i] * c - keys[mine] / c, axis=1) for i, mine in rows]
            values.append(np.corrcoef(np.concatenate(gaps), target)[0, 1])
        assert values[-1] == pytest.approx(min(values), abs=1e-7)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "bert",
            SENTENCES[3],
            "numbers such as 3 . 14 and 2024 split ; so do naive , cafe and zurich .",
        ),
        ("gpt2", SENTENCES[2], "Where is it ?"),
    ],
)
def test_texts_that_are_not_given_are_put_together_from_their_tokens(
    name: str, text: str, expected: str, model_of: ModelOf
) -> None:
    atlas = build_atlas(trace_by_length(model_of(name), [text, text]))
    tokens = atlas.tokens
    assert atlas.sentences == (expected, expected)
    for i, (start, end) in enumerate(tokens.spans.tolist()):
        chunk = atlas.sentences[tokens.sentence[i]][start:end]
        shown = tokens.displays[i].removeprefix("##" if name == "bert" else "")
        assert chunk == ("" if tokens.special[i] else shown)


def test_a_word_that_looks_like_a_continuation_is_none() -> None:
    atlas = build_atlas([trace_of(read_words("it ## it"), 0)])
    assert atlas.sentences == ("it ## it",)
    assert atlas.tokens.spans.tolist() == [[0, 0], [0, 2], [3, 5], [6, 8]]
