"""Two sides aligned and compared: known words, known numbers, planted changes, error rates."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from core.analysis.arrays import Floats
from core.analysis.compare import noise_floor
from core.analysis.compare.alignment import Alignment, align
from core.analysis.compare.difference import (
    aligned_rows,
    between_heads,
    difference,
    head_distances,
    largest_turn,
    match_heads,
)
from core.analysis.compare.noise_floor import ENOUGH, PARAPHRASES, floor, model_floor, paraphrases
from core.corpus.sample import sample_sentences
from core.model import LoadedModel, Trace, trace_corpus, trace_text, untrained_twin
from tests.analysis.traces import random_trace, random_weights, spelled, trace_with_attention
from tests.model.bundled import loaded

BIG = "The trophy doesn't fit in the suitcase because it is too big."


def of_words(text: str, seed: int = 0) -> Trace:
    tokens = spelled(text)
    return replace(random_trace(seed, size=len(tokens)), tokens=tokens)


def aligned(a: str, b: str, *corrections: tuple[int, int]) -> Alignment:
    return align(of_words(a), of_words(b), corrections)


@pytest.mark.parametrize(
    ("a", "b", "names", "only_a", "only_b"),
    [
        ("[CLS] The cat [SEP]", "[CLS] the cat [SEP]", "[CLS] The cat [SEP]", "", ""),
        ("a quick cat sat", "a quick cat never sat", "a quick cat sat", "", "never"),
        ("the old grey cat", "the cat", "the cat", "old grey", ""),
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
        assert [" ".join(found.only_a), " ".join(found.only_b)] == [left, right]
    assert " ".join(name.replace(" / ", "/") for name in aligned(a, b).names) == names
    assert len(found.groups_a) == len(found.groups_b) == len(found.pairs)


def test_a_correction_wins_and_each_unit_keeps_at_most_one_partner() -> None:
    a, b = "it saw cat and dog", "it saw dog and cat"
    assert aligned(a, b).pairs == ((0, 0), (1, 1), (4, 2))
    assert aligned(a, b, (2, 2)).pairs == ((0, 0), (1, 1), (2, 2))
    assert aligned(a, b, (2, 4), (3, 4), (9, 0), (0, -1)).pairs == ((0, 0), (1, 1), (3, 4), (4, 2))


def characters(trace: Trace, groups: Iterable[Iterable[int]], text: str) -> list[str]:
    spans = [sorted({trace.tokens[i].span for i in group}) for group in groups]
    return ["".join(text[start:end] for start, end in own) for own in spans]


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
    ours, theirs = characters(a, there.groups_a, text), characters(b, there.groups_b, text)
    assert ours == theirs
    assert "".join(ours) == "".join(text.split())
    for trace in (a, b):
        positions = [i for unit in align(trace, trace).a for i in unit.positions]
        assert sorted(positions) == list(range(len(trace.tokens)))
        assert align(trace, trace).only_a == ()


def test_rows_are_means_over_pieces_and_columns_sums_with_the_rest_last() -> None:
    weights = np.array([[[[0.1, 0.2, 0.3, 0.4], [0.3, 0.2, 0.4, 0.1]] * 2]], np.float32)
    trace = trace_with_attention(weights)
    rows = aligned_rows(trace, [(0,), (1, 2)], 0)[0]
    np.testing.assert_allclose(rows, [[0.1, 0.5, 0.4], [0.2, 0.55, 0.25]], atol=1e-6)
    sink = replace(trace.layers[0], sink=np.zeros(1, np.float32))  # as much as all keys together
    with_sink = aligned_rows(replace(trace, layers=(sink,)), [(0,), (1, 2)], 0)[0]
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
    one = difference(a, b, alignment, (0, 1), (1, 2))
    assert one.distance == pytest.approx(expected[1, 5], abs=1e-6)
    with pytest.raises(ValueError, match="same shape"):
        head_distances(a, random_trace(0, heads=1, size=5), alignment)


def test_the_largest_turn_names_the_row_the_loss_and_the_gain() -> None:
    a = np.full((1, 1, 3, 3), 1 / 3, np.float32)
    b = a.copy()
    b[0, 0, 1] = [0.1, 0.7, 0.2]
    traces = trace_with_attention(a), trace_with_attention(b)
    turn = largest_turn(difference(*traces, align(*traces), (0, 0), (0, 0)))
    assert turn is not None
    assert (turn.row, turn.from_, turn.to) == (1, 0, 1)
    assert turn.lost == pytest.approx((1 / 3, 0.1), abs=1e-6)
    assert turn.gained == pytest.approx((1 / 3, 0.7), abs=1e-6)


def test_identical_sides_differ_by_exactly_0() -> None:
    a, b = (trace_text(loaded("bundled/minilm"), BIG) for _ in range(2))
    distances = head_distances(a, b, alignment := align(a, b))
    assert (distances == 0).all()
    assert not floor(floor_distances(BIG)).over(distances).any()
    assert largest_turn(difference(a, b, alignment, (3, 1), (3, 1))) is None


def permuted(trace: Trace, order: np.ndarray) -> Trace:
    """Heads of all layers in another order."""
    arrays = (trace.queries, trace.kv_keys, trace.kv_values)
    moved = (x.reshape(-1, *x.shape[2:])[order].reshape(x.shape) for x in arrays)
    return replace(trace, **dict(zip(("queries", "kv_keys", "kv_values"), moved, strict=True)))


def test_a_model_with_permuted_heads_is_matched_back() -> None:
    traces = [trace_text(loaded("bundled/minilm"), text) for text in sample_sentences()[:6]]
    order = np.random.default_rng(3).permutation(72)
    distances = np.array([between_heads(a, permuted(a, order), align(a, a)) for a in traces])
    for one_to_one in (True, False):
        matching = match_heads(distances, one_to_one=one_to_one)
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
    assert len(set(paraphrases(BIG, 12))) == 12
    assert paraphrases("Zyx 42!") == ()


def test_each_word_of_the_list_stands_in_one_group() -> None:
    path = Path(noise_floor.__file__).with_name("synonyms.toml")
    groups = [line.split() for lines in tomllib.loads(path.read_text()).values() for line in lines]
    words = Counter(word for group in groups for word in group)
    assert all(len(group) > 1 for group in groups)
    assert all(n == 1 and word.isalpha() and word.islower() for word, n in words.items())


@cache
def twin(seed: int = 0) -> LoadedModel:
    return untrained_twin(loaded("bundled/minilm"), seed)


@cache
def floor_distances(text: str, *, random: bool = False) -> Floats:
    """Of a text to its paraphrases, (paraphrase, layer, head)."""
    model = twin() if random else loaded("bundled/minilm")
    trace = trace_text(model, text)
    others = trace_corpus(model, paraphrases(text))
    return np.array([head_distances(trace, b, align(trace, b)) for b in others])


def test_a_change_planted_in_one_head_is_the_only_one_over_the_floor() -> None:
    trace = trace_text(loaded("bundled/minilm"), BIG)
    queries = trace.queries.copy()
    queries[3, 5] *= -3
    changed = replace(trace, queries=queries)
    over = floor(floor_distances(BIG)).over(head_distances(trace, changed, align(trace, changed)))
    assert np.argwhere(over).tolist() == [[3, 5]]


def test_the_floor_of_many_texts_leaves_out_the_largest_and_of_none_is_none() -> None:
    distances = np.linspace(0.9, 1, 100)[:, None, None]
    assert distances[94] <= floor(distances).values < distances[97]
    assert floor(np.array([[[0.2]], [[0.2]]])).values == pytest.approx(0.2)
    assert floor(np.zeros((2, 1, 1))).values == 0
    nothing = floor(np.zeros((0, 2, 3)))
    assert nothing.few
    assert not nothing.over(np.ones((2, 3))).any()


@pytest.mark.slow
def test_chance_lifts_few_heads_of_random_weights_over_the_floor() -> None:
    texts = [text for text in sample_sentences()[::7] if len(paraphrases(text)) == PARAPHRASES]
    rates: dict[int, list[float]] = {ENOUGH: [], PARAPHRASES - 1: []}
    for text in texts[:20]:
        distances = floor_distances(text, random=True)
        for fresh in range(PARAPHRASES):
            others = np.roll(distances, -fresh, axis=0)[1:]
            for count, found in rates.items():
                spread = np.linspace(0, len(others) - 1, count).round().astype(int)
                found.append(floor(others[spread]).over(distances[fresh]).mean())
    measured = {count: float(np.mean(found)) for count, found in rates.items()}
    print("heads of random weights over the floor, by its number of texts:", measured)
    assert max(measured.values()) <= noise_floor.FLOOR_RATE


@pytest.mark.slow
def test_two_random_models_stay_under_the_floor_and_a_trained_one_does_not() -> None:
    trained, one, other = (
        list(trace_corpus(model, sample_sentences()[::8]))
        for model in (loaded("bundled/minilm"), twin(), twin(1))
    )
    own = model_floor(one)
    assert not own.few
    for b, low, high in ((one, 0, 0), (other, 0, 0), (trained, 0.9, 1)):
        pairs = zip(one, b, strict=True)
        over = [own.over(head_distances(x, y, align(x, y))).mean() for x, y in pairs]
        assert low <= np.mean(over) <= high
