"""Clusters of a picture: planted groups have their words, and chance names nothing."""

from __future__ import annotations

import numpy as np
import pytest

from core.atlas import build_atlas
from core.atlas.clusters import find_clusters, first_occurrences, frequent_words
from tests.atlas.corpora import read_words, trace_of

CENTRES = np.array([[0, 0], [10, 0], [0, 10], [10, 10]])
FILLERS = ["the", "of", "and", "in"]


def blobs(tokens: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Queries and keys (2 token, 2), each of a token in one of four groups, and the tokens' group.

    A token's key lies in the group after that of its query.
    """
    draw = np.random.default_rng(seed)
    groups = np.arange(tokens) % 4
    middles = CENTRES[np.concatenate([groups, (groups + 1) % 4])]
    return middles + draw.normal(scale=0.5, size=(2 * tokens, 2)), groups


def chance_words(tokens: int, seed: int) -> list[str]:
    """Words of very different frequencies, as a language has them, in no order."""
    draw = np.random.default_rng(seed)
    return [f"w{number}" for number in draw.zipf(1.6, size=tokens).clip(max=200)]


def test_planted_groups_are_found_and_named_by_the_words_planted_in_them() -> None:
    points, groups = blobs(400, seed=1)
    draw = np.random.default_rng(2)
    planted = np.array(["cat", "run", "blue", "seven"])[groups]
    words = np.where(draw.random(400) < 0.4, planted, draw.choice(FILLERS, 400))
    found = find_clusters(points, words.tolist())
    assert len(found.clusters) == 4
    for cluster in found.clusters:
        place = int(np.linalg.norm(CENTRES - points[cluster.middle], axis=1).argmin())
        # Its queries are of the tokens of this group, and its keys of those of the group before.
        own = {planted[place], planted[(place - 1) % 4]}
        assert {word.text for word in cluster.words} == own
        assert cluster.points.size == pytest.approx(200, abs=20)
        assert cluster.queries == pytest.approx(100, abs=10)
        assert sorted(cluster.points) == cluster.points.tolist()
        corners = points[cluster.edge]
        low, high = points[cluster.points].min(axis=0), points[cluster.points].max(axis=0)
        assert (corners.min(axis=0) == low).all()
        assert (corners.max(axis=0) == high).all()
    assert found.outside == 800 - sum(cluster.points.size for cluster in found.clusters)
    assert len(found.named) == 4


@pytest.mark.slow
@pytest.mark.parametrize(("tokens", "grouped"), [(150, True), (400, False)])
def test_words_in_no_order_name_no_cluster_in_95_of_100_pictures(
    tokens: int, grouped: bool
) -> None:
    named, clusters = 0, 0
    for seed in range(100):
        draw = np.random.default_rng(1000 + seed)
        points = blobs(tokens, seed)[0] if grouped else draw.normal(size=(2 * tokens, 2))
        found = find_clusters(points, chance_words(tokens, seed), permutations=99)
        clusters += len(found.clusters)
        named += bool(found.named)
    assert clusters > 200  # there was something to name
    assert named <= 5


@pytest.mark.parametrize("times", [1, 2, 5, 10])
def test_sentences_that_repeat_name_no_more_clusters_than_distinct_ones(times: int) -> None:
    """Each token has its copies in its own place, with its own word, which was drawn at random."""
    tokens, named, clusters = 160, 0, 0
    for seed in range(40):
        points, _ = blobs(tokens, seed)
        words = chance_words(tokens, seed) * times
        found = find_clusters(
            np.tile(points.reshape(2, tokens, 2), (1, times, 1)).reshape(-1, 2),
            words,
            permutations=99,
            firsts=np.tile(np.arange(tokens), times),
        )
        clusters += len(found.clusters)
        named += bool(found.named)
    assert clusters > 40
    assert named <= 5  # of 40; two are to be expected


def test_planted_words_are_found_however_often_their_sentences_repeat() -> None:
    points, groups = blobs(400, seed=1)
    draw = np.random.default_rng(2)
    planted = np.array(["cat", "run", "blue", "seven"])[groups]
    words = np.where(draw.random(400) < 0.4, planted, draw.choice(FILLERS, 400)).tolist()
    once = find_clusters(points, words)
    thrice = find_clusters(
        np.tile(points.reshape(2, -1, 2), (1, 3, 1)).reshape(-1, 2),
        words * 3,
        firsts=np.tile(np.arange(400), 3),
    )
    assert [{word.text for word in cluster.words} for cluster in once.clusters] == [
        {word.text for word in cluster.words} for cluster in thrice.clusters
    ]
    assert len(thrice.named) == 4
    for cluster in thrice.clusters:
        assert cluster.points.size == pytest.approx(600, abs=60)
        copies = (cluster.points[:, None] % 400 == cluster.points % 400).sum(axis=1)
        assert (copies >= 3).all()  # a token is there with all its copies
        for word in cluster.words:
            assert word.share == pytest.approx(0.2, abs=0.08)  # of two words, each 0.4 of a half


def test_tokens_of_a_sentence_that_was_there_before_are_those_of_the_first() -> None:
    texts = ["a b c", "a b", "a b c", "c b a", "a b c d", "a b"]
    traces = [trace_of(read_words(text), 0, layers=1, heads=1, kv_heads=1, dim=1) for text in texts]
    atlas = build_atlas(traces, texts)
    own = [atlas.tokens.of_sentence(sentence).tolist() for sentence in range(6)]
    first = [own[0], own[1], own[0], own[3], own[4], own[1]]
    assert first_occurrences(atlas).tolist() == [token for each in first for token in each]


def test_the_p_value_is_that_of_all_ways_to_shuffle() -> None:
    """Five a and five b: of the 252 ways, two put five alike in the cluster of five queries."""
    members = np.array([0] * 5 + [-1] * 15)
    (words,) = frequent_words(members, 1, ["a"] * 5 + ["b"] * 5, permutations=20_000)
    (word,) = words
    assert (word.text, word.inside, word.total) == ("a", 5, 10)
    assert word.ratio == pytest.approx((5 / 5) / (10 / 20))
    assert word.p == pytest.approx(2 / 252, rel=0.2)


def test_a_words_query_and_key_are_shuffled_together() -> None:
    """A cluster of the queries and keys of the same five tokens has no more evidence than five."""
    members = np.array(([0] * 5 + [-1] * 5) * 2)
    (words,) = frequent_words(members, 1, ["a"] * 5 + ["b"] * 5, permutations=20_000)
    assert [word.inside for word in words] == [10]
    assert words[0].p == pytest.approx(2 / 252, rel=0.2)


def test_more_clusters_and_more_words_make_the_same_word_less_surprising() -> None:
    """The correction: one cluster among many must stand out among all of them."""
    draw = np.random.default_rng(5)
    codes = np.array([f"x{number}" for number in draw.integers(0, 40, size=400)])
    codes[:12] = "cat"
    few, many = np.full(800, -1), np.arange(800) // 20
    few[:14] = 0
    many[:20] = -1
    many[:14] = 0
    alone = frequent_words(few, 1, ["cat" if code == "cat" else "x" for code in codes])[0]
    among = frequent_words(many, 40, codes.tolist())[0]
    assert [word.text for word in alone] == ["cat"]
    assert among[0].text == "cat"
    assert alone[0].p <= among[0].p


def test_case_is_ignored_and_the_common_spelling_is_shown() -> None:
    members = np.array([0] * 6 + [-1] * 14 + [-1] * 20)
    (words,) = frequent_words(members, 1, [*["She"] * 2, *["she"] * 4, *["x"] * 14])
    assert [(word.text, word.inside, word.total) for word in words] == [("she", 6, 12)]


def test_rare_words_name_nothing() -> None:
    members = np.array([0] * 4 + [-1] * 36)
    assert frequent_words(members, 1, [*["cat"] * 4, *["x"] * 16]) == [[]]


@pytest.mark.parametrize("points", [np.zeros((40, 2)), np.zeros((2, 2)), np.ones((400, 3))])
def test_pictures_with_one_place_or_few_points_have_no_clusters(points: np.ndarray) -> None:
    found = find_clusters(points, ["a"] * (len(points) // 2))
    assert (found.clusters, found.outside) == ((), len(points))


def test_groups_in_space_are_found_too() -> None:
    flat, _ = blobs(200, seed=3)
    points = np.column_stack([flat[:, 0], np.zeros(400), flat[:, 1]])
    found = find_clusters(points, ["a"] * 200)
    assert len(found.clusters) == 4
    assert [cluster.edge.size for cluster in found.clusters] == [0] * 4


def test_a_cluster_on_a_line_has_no_outline() -> None:
    line = np.concatenate([np.linspace(0, 1, 100), np.linspace(10, 11, 100)])
    found = find_clusters(np.column_stack([line, 2 * line]), ["a"] * 100)
    assert len(found.clusters) >= 2
    assert {cluster.edge.size for cluster in found.clusters} == {0}
