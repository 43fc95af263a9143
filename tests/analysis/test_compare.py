"""Two sides aligned and compared: known words, known numbers, planted changes, error rates."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from core.analysis.compare import difference, noise_floor
from core.analysis.compare.alignment import Alignment, align
from core.analysis.compare.difference import between_heads, head_distances, match_heads
from core.analysis.compare.noise_floor import ENOUGH, PARAPHRASES, floor, paraphrases
from core.corpus.sample import sample_sentences
from core.model import LoadedModel, trace_corpus, trace_text, untrained_twin
from tests.analysis.traces import random_trace, random_weights, spelled, trace_with_attention
from tests.model.bundled import loaded

BIG = "The trophy doesn't fit in the suitcase because it is too big."


def aligned(a: str, b: str, *corrections: tuple[int, int]) -> Alignment:
    one, other = (random_trace(0, size=len(text.split())) for text in (a, b))
    return align(replace(one, tokens=spelled(a)), replace(other, tokens=spelled(b)), corrections)


@pytest.mark.parametrize(
    ("a", "b", "names", "only_a", "only_b"),
    [
        ("[CLS] a sly old cat [SEP]", "[CLS] A cat [SEP]", "[CLS] a cat [SEP]", "sly old", ""),
        ("it is too big .", "it is too small .", "it is too big/small .", "", ""),
        ("the cat saw the dog", "the dog saw the cat", "the cat/dog saw the₂ dog/cat", "", ""),
        ("no no yes", "no yes", "no yes", "no", ""),
        ("he ate , he slept", "he slept", "he slept", "ate , he", ""),
        ("cap ##y ##bara ran", "it ran", "capybara/it ran", "", ""),
        ("[CLS] a [SEP] c [SEP]", "[CLS] d [SEP] c [SEP]", "[CLS] a/d [SEP] c [SEP]₂", "", ""),
        ("[CLS] a [SEP] b [SEP]", "[CLS] a [SEP]", "[CLS] a [SEP]", "[SEP] b", ""),
        ("hello there", "good old morning", "", "hello there", "good old morning"),
    ],
)
def test_words_are_paired_by_their_order_and_the_rest_is_said(
    a: str, b: str, names: str, only_a: str, only_b: str
) -> None:
    for one, other, left, right in ((a, b, only_a, only_b), (b, a, only_b, only_a)):
        found = aligned(one, other)
        assert [*map(" ".join, found.alone)] == [left, right]
    assert " ".join(name.replace(" / ", "/") for name in aligned(a, b).names) == names
    assert [*map(len, found.groups)] == [len(found.pairs)] * 2


def test_a_correction_wins_and_each_unit_keeps_at_most_one_partner() -> None:
    a, b = "it saw cat and dog", "it saw dog and cat"
    assert aligned(a, b).pairs == ((0, 0), (1, 1), (4, 2))
    assert aligned(a, b, (2, 2)).pairs == ((0, 0), (1, 1), (2, 2))
    assert aligned(a, b, (2, 4), (3, 4), (9, 0), (0, -1)).pairs == ((0, 0), (1, 1), (3, 4), (4, 2))


@pytest.mark.parametrize(
    "text",
    [
        "I don't like 😀👩\u200d🚀 cafés  much, don't I?",
        "שלום עולם, capybara!",
        "مرحبا بك 日本語 naïve re-entry",
        "well-known a-b a b it's",
    ],
)
def test_two_tokenizers_meet_at_the_same_characters_both_ways(text: str) -> None:
    a, b = (trace_text(loaded(name), text) for name in ("bundled/minilm", "bundled/gpt2-novels"))
    there = align(a, b)
    assert {(j, i) for i, j in align(b, a).pairs} == set(there.pairs)
    units = []
    for trace, groups in zip((a, b), there.groups, strict=True):
        spans = [sorted({trace.tokens[i].span for i in group}) for group in groups]
        units.append(["".join(text[start:end] for start, end in own) for own in spans])
        assert "".join(units[0]) == "".join(text.split())
        positions = [i for unit in align(trace, trace).a for i in unit.positions]
        assert sorted(positions) == list(range(len(trace.tokens)))
        assert align(trace, trace).alone == [[], []]
    assert units[0] == units[1]


def test_rows_are_means_over_pieces_and_columns_sums_with_the_rest_last() -> None:
    weights = np.array([[[[0.1, 0.2, 0.3, 0.4], [0.3, 0.2, 0.4, 0.1]] * 2]], np.float32)
    trace = trace_with_attention(weights)
    rows = difference.aligned_rows(trace, [(0,), (1, 2)], 0)[0]
    np.testing.assert_allclose(rows, [[0.1, 0.5, 0.4], [0.2, 0.55, 0.25]], atol=1e-6)
    sink = replace(trace.layers[0], sink=np.zeros(1, np.float32))  # as much as all keys together
    with_sink = difference.aligned_rows(replace(trace, layers=(sink,)), [(0,), (1, 2)], 0)[0]
    np.testing.assert_allclose(with_sink[:, :2], rows[:, :2] / 2, atol=1e-6)
    np.testing.assert_allclose(with_sink.sum(axis=1), 1, atol=1e-6)


def test_a_distance_is_scipys_mean_over_the_matched_rows() -> None:
    a, b = (trace_with_attention(random_weights(seed, 2, 3, 5)) for seed in (1, 2))
    alignment = align(a, b)
    of_a, of_b = (trace.attention().reshape(6, 5, 5).astype(np.float64) for trace in (a, b))
    expected = np.array([[jensenshannon(x, y, base=2, axis=1).mean() for y in of_b] for x in of_a])
    np.testing.assert_allclose(between_heads(a, b, alignment), expected, atol=1e-4)
    same = head_distances(a, b, alignment)
    np.testing.assert_allclose(same.ravel(), expected.diagonal(), atol=1e-6)
    with pytest.raises(ValueError, match="same shape"):
        head_distances(a, random_trace(0, heads=1, size=5), alignment)


def test_the_largest_turn_names_the_row_the_loss_and_the_gain() -> None:
    change = np.array([[0, 0.1, -0.1, 0], [-0.2, 0.4, -0.1, -0.1]], np.float32)
    assert difference.largest_turn(change) == (1, 0, 1)
    assert difference.largest_turn(0 * change) is None


def test_a_model_with_permuted_heads_is_matched_back() -> None:
    order, distances = np.random.default_rng(3).permutation(72), []
    for a in trace_corpus(loaded("bundled/minilm"), sample_sentences()[:6]):
        q, k = (x.reshape(72, -1)[order].reshape(x.shape) for x in (a.queries, a.kv_keys))
        distances.append(between_heads(a, replace(a, queries=q, kv_keys=k), align(a, a)))
    for one_to_one in (True, False):
        matching = match_heads(np.array(distances), one_to_one=one_to_one)
        np.testing.assert_array_equal(order[matching.partner], np.arange(72))
        np.testing.assert_allclose([matching.distance, matching.low, matching.high], 0, atol=1e-3)


def test_heads_without_a_partner_are_said_and_the_sum_of_distances_is_least() -> None:
    means = [[0.2, 0.5], [0.1, 0.3], [0.9, 0.8]]
    distances = np.random.default_rng(0).normal(means, 0.01, (8, 3, 2))
    matching = match_heads(distances)
    assert matching.partner.tolist() == [0, 1, -1]  # 0.2 + 0.3 < 0.1 + 0.5
    assert np.isnan([matching.distance[2], matching.low[2], matching.high[2]]).all()
    order = np.array([matching.low, matching.distance, matching.high])[:, :2]
    assert (np.diff(order, axis=0) > 0).all()
    assert match_heads(distances, one_to_one=False).partner.tolist() == [0, 0, 1]


def test_paraphrases_keep_order_capitals_and_articles_and_change_more_words_last() -> None:
    found = paraphrases(text := "An OLD man left. Big A.")
    assert found[:2] == ("An AGED man left. Big A.", "An OLD fellow left. Big A.")
    assert all(each.startswith("An ") and each.endswith(" A.") for each in found)
    assert {each.split()[4] for each in found} == {"Big", "Large", "Huge"}
    words = [zip(each.split(), text.split(), strict=True) for each in found]
    changed = [sum(a != b for a, b in pairs) for pairs in words]
    assert changed == sorted(changed)
    assert len(set(found)) == len(found) == 2 * 3 * 3 - 1
    assert len(set(paraphrases(BIG))) == PARAPHRASES
    assert paraphrases("Zyx 42!") == ()


def test_each_word_of_the_list_stands_in_one_group() -> None:
    synonyms = noise_floor._synonyms()
    for word, others in synonyms.items():
        assert all(map(str.islower, word))
        assert len(set(others)) == len(others) > 0
        assert all(word in synonyms[other] for other in others)


def floor_distances(model: LoadedModel, text: str) -> np.ndarray:
    """Of a text to its paraphrases, (paraphrase, layer, head)."""
    trace, others = trace_text(model, text), trace_corpus(model, paraphrases(text))
    return np.array([head_distances(trace, b, align(trace, b)) for b in others])


def test_identical_sides_differ_by_0_and_a_change_in_one_head_alone_is_over_the_floor() -> None:
    model = loaded("bundled/minilm")
    a, b = (trace_text(model, BIG) for _ in range(2))
    alignment, queries = align(a, b), b.queries.copy()
    assert (head_distances(a, b, alignment) == 0).all()
    queries[3, 5] *= -3
    distances = head_distances(a, replace(b, queries=queries), alignment)
    assert np.argwhere(distances > floor(floor_distances(model, BIG))).tolist() == [[3, 5]]


def test_the_floor_of_many_texts_leaves_out_the_largest_and_of_none_is_none() -> None:
    distances = np.linspace(0.9, 1, 100)[:, None, None]
    assert distances[94] <= floor(distances) < distances[97]
    assert floor(np.array([[[0.2]], [[0.2]]])) == pytest.approx(0.2)
    assert floor(np.zeros((2, 1, 1))) == 0
    assert np.isnan(floor(np.zeros((0, 2, 3)))).sum() == 6


@pytest.mark.slow
def test_chance_lifts_few_heads_of_random_weights_over_the_floor() -> None:
    texts = [text for text in sample_sentences()[::7] if len(paraphrases(text)) == PARAPHRASES]
    rates: dict[int, list[float]] = {ENOUGH: [], PARAPHRASES - 1: []}
    model = untrained_twin(loaded("bundled/minilm"), 0)
    for text in texts[:20]:
        distances = floor_distances(model, text)
        for fresh in range(PARAPHRASES):
            others = np.roll(distances, -fresh, axis=0)[1:]
            for count, found in rates.items():
                spread = np.linspace(0, len(others) - 1, count).round().astype(int)
                found.append((distances[fresh] > floor(others[spread])).mean())
    for count, found in rates.items():
        assert np.mean(found) <= noise_floor.FLOOR_RATE, count


@pytest.mark.slow
def test_two_random_models_stay_under_the_floor_and_a_trained_one_does_not() -> None:
    model = loaded("bundled/minilm")
    models = model, untrained_twin(model, 0), untrained_twin(model, 1)
    trained, one, other = (list(trace_corpus(each, sample_sentences()[::8])) for each in models)
    halves = noise_floor.half_distances(one)
    assert len(halves) >= ENOUGH
    own = floor(halves)
    for b, low, high in ((one, 0, 0), (other, 0, 0), (trained, 0.9, 1)):
        pairs = zip(one, b, strict=True)
        over = [(head_distances(x, y, align(x, y)) > own).mean() for x, y in pairs]
        assert low <= np.mean(over) <= high
