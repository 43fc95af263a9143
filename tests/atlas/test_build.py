"""An atlas against one text at a time: vectors, components, constants, faithfulness."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import block_diag
from scipy.spatial.distance import pdist
from sklearn.decomposition import PCA

from core.analysis.normalization import key_translation, normalize
from core.analysis.query_key.correlation import distances_between
from core.analysis.query_key.faithfulness import compare_matrix, matrix_target
from core.analysis.query_key.scaling import C_VALUES
from core.atlas import build_atlas
from core.atlas.blocks import blocks_of
from core.atlas.points import find_planes, place
from core.model import trace_by_length, trace_text
from core.model.trace import Layer, Trace
from core.vocabulary import STAGES, Stage
from tests.atlas.files import SCALING, assert_same, corpus_of, read_words, trace_of, window_mask
from tests.conftest import ModelOf
from tests.model.families import SENTENCES

Floats = NDArray[np.float64]
LENGTHS = (7, 3, 12, 7, 1, 9)
# Whether no token sees a later one, how far the last layer sees, and where scores are capped.
KINDS: dict[str, tuple[bool, int | None, float | None]] = {
    "everywhere": (False, None, None),
    "causal": (True, None, None),
    "window": (False, 3, None),
    "causal window": (True, 3, None),
    "capped": (False, None, 2.0),
}
pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def corpus(kind: str, lengths: tuple[int, ...] = LENGTHS) -> list[Trace]:
    causal, window, softcap = KINDS[kind]
    traces = corpus_of(lengths, causal=causal, window=window)
    return [
        replace(each, layers=tuple(replace(rule, softcap=softcap) for rule in each.layers))
        for each in traces
    ]


def vectors_of(traces: list[Trace], layer: int, head: int) -> tuple[Floats, Floats]:
    """All queries and keys of a head, one text after the other, from repeated keys."""
    queries = np.vstack([trace.queries[layer, head] for trace in traces])
    keys = np.vstack([trace.keys[layer, head] for trace in traces])
    return queries.astype(np.float64), keys.astype(np.float64)


def staged(queries: Floats, keys: Floats, stage: Stage, c: float) -> Floats:
    a = 0.0 if stage == "raw" else key_translation(queries, keys)
    return np.vstack(normalize(queries, keys, a, c if stage == "normalized" else 1.0))


def allowed_of(traces: list[Trace], layer: int, causal: bool, window: int | None) -> NDArray[Any]:
    """Which tokens of the corpus each may see, by what the layer is known to permit."""
    narrow = window if layer == traces[0].shape[0] - 1 else None
    sizes = [len(trace.tokens) for trace in traces]
    masks = [window_mask(size, causal=causal, window=narrow) for size in sizes]
    return np.asarray(block_diag(*masks), dtype=np.bool_)


def test_an_atlas_holds_every_token_in_the_order_of_the_texts_whatever_that_of_traces() -> None:
    traces = corpus("causal window")
    labels = [f"label {i}" for i in range(len(traces))]
    texts = [" ".join(t.text for t in trace.tokens if not t.special) for trace in traces]
    in_order = build_atlas(traces, texts, labels)
    order = [4, 1, 5, 0, 3, 2]
    shuffled = build_atlas([(place, traces[place]) for place in order], texts, labels)
    assert (shuffled.sentences, shuffled.labels) == (tuple(texts), tuple(labels))
    assert sorted(shuffled.masks) == [0, 2, 3, 5]
    assert_same(shuffled, in_order)

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


def test_sentences_that_left_no_trace_are_left_out_of_texts_labels_and_masks() -> None:
    traces = corpus("causal window", (2, 9, 6))
    texts = ["", "w0x0", "", "", " ".join(f"w1x{i}" for i in range(8)), "", ""]
    texts.append(" ".join(f"w2x{i}" for i in range(5)) + " and what was cut")
    atlas = build_atlas([(4, traces[1]), (1, traces[0]), (7, traces[2])], texts, "abcdefgh")
    assert atlas.sentences == (texts[1], texts[4], "w2x0 w2x1 w2x2 w2x3 w2x4")
    assert atlas.labels == ("b", "e", "h")
    assert atlas.tokens.sentence.tolist() == [0] * 2 + [1] * 9 + [2] * 6
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


@pytest.mark.parametrize("dim", [1, 2, 5])
def test_every_heads_components_are_those_of_scikit_learn(dim: int) -> None:
    """Axes point to where their largest weight is positive; heads of fewer dims leave zeros."""
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
            weights = pca.components_
            largest = np.abs(weights).argmax(axis=1)
            expected[:, :axes] *= np.sign(weights[np.arange(axes), largest])
            np.testing.assert_allclose(found, expected, atol=2e-6 * np.abs(expected).max())
            shares = atlas.shares[stage][layer, head]
            np.testing.assert_allclose(shares[:axes], pca.explained_variance_ratio_, atol=1e-9)
            assert not shares[axes:].any()
            assert not found[:, axes:].any()


@pytest.mark.parametrize("size", [1, 2, 9])
@pytest.mark.parametrize(("queries_by", "keys_by"), [(0, 0), (0, 1), (1, 0)])
def test_vectors_that_never_change_give_finite_points(
    queries_by: int, keys_by: int, size: int
) -> None:
    draw = np.random.default_rng(0)
    queries = draw.normal(size=7) + queries_by * draw.normal(size=(size, 7))
    keys = draw.normal(size=7) + keys_by * draw.normal(size=(size, 7))
    means = queries.mean(axis=0), keys.mean(axis=0)
    planes = find_planes(means, (np.cov(queries.T, bias=True), np.cov(keys.T, bias=True)), 2.5)
    for stage, points in place(queries, keys, planes).items():
        rows, shares = staged(queries, keys, stage, 2.5), planes[stage].shares
        apart, found = pdist(rows), pdist(points)
        rank = int(np.linalg.matrix_rank(rows - rows.mean(axis=0), tol=1e-9))
        assert np.isfinite(points).all()
        assert np.count_nonzero(shares) == min(3, rank)
        assert (found <= apart + 1e-6).all()
        if rank <= 3:
            np.testing.assert_allclose(found, apart, atol=1e-6)
            assert shares.sum() == pytest.approx(1.0 if rank else 0.0)


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


@pytest.mark.parametrize("kind", KINDS)
def test_faithfulness_of_many_sentences_is_that_of_their_pairs_one_by_one(kind: str) -> None:
    """As the analysis of one text has it, beside the uniform baseline of each layer's own mask."""
    traces, (causal, window, softcap) = corpus(kind), KINDS[kind]
    atlas = build_atlas(traces)
    assert atlas.measured.tokens == sum(LENGTHS)
    for layer, head in ((0, 0), (0, 3), (1, 2)):
        allowed = allowed_of(traces, layer, causal, window)
        counts = allowed.sum(axis=1)
        np.testing.assert_allclose(atlas.measured.top1[layer], np.mean(1 / counts[counts > 1]))
        queries, keys = vectors_of(traces, layer, head)
        scores = Layer(SCALING, None, softcap).logits(queries @ keys.T)
        for stage in STAGES:
            q, k = np.split(atlas.points[stage][layer, head, :, :2].astype(np.float64), 2)
            expected = compare_matrix(matrix_target(scores, allowed), distances_between(q, k))
            found = atlas.faithfulness[stage]
            assert found.correlation[layer, head] == pytest.approx(expected.correlation, abs=1e-8)
            assert found.top1[layer, head] == pytest.approx(expected.top1)


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
    words = build_atlas([trace_of(read_words("it ## it"), 0)])  # one looks like a continuation
    assert words.sentences == ("it ## it",)
    assert words.tokens.spans.tolist() == [[0, 0], [0, 2], [3, 5], [6, 8]]
