"""The pattern table, against matrices added up by hand and networks whose heads are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.analysis.head_patterns import pattern_table
from core.analysis.head_patterns.induction import Induction
from core.analysis.head_patterns.measure import MEASURED, measure_text
from core.analysis.head_patterns.minimum_evidence import MIN_QUERY_TOKENS
from core.analysis.head_patterns.naming import NAMING, THRESHOLDS
from core.analysis.head_patterns.pairs import induction_pairs, same_token_pairs
from core.analysis.head_patterns.table import RESAMPLES, SCORES, SEED, withhold_classes
from core.model import load, trace_text
from core.model.trace import Array, Layer, Token, Trace
from tests.analysis.traces import plain_tokens, random_weights, token, trace_with_attention

SENTENCE = (
    token("[CLS]", 0, -1, special=True),
    token("red", 1, 0),
    token(",", 2, 1),
    token("Red", 3, 2),
    token("car", 4, 3),
    token(".", 5, 4),
    token("[SEP]", 6, -1, special=True),
)
STORY = "the cat saw the dog near a cat and the dog saw the cat"
WORDS = plain_tokens(*STORY.split())


def causal(trace: Trace) -> Trace:
    size = trace.shape[2]
    mask = np.where(np.tri(size, dtype=bool), 0, -np.inf).astype(np.float32)
    return replace(trace, layers=(Layer(1.0, mask),) * trace.shape[0], causal=True)


def cell(trace: Trace, name: str) -> float:
    return float(pattern_table(trace)[name].iloc[0])


# ---- scores by hand ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("first", [0]),
        ("cls", [0]),
        ("sep", [6]),
        ("punctuation", [2, 5]),
        ("delimiter", [0, 2, 5, 6]),
    ],
)
def test_column_scores_are_the_mass_of_their_columns(name: str, columns: list[int]) -> None:
    weights = random_weights(1, 1, 1, 7)
    expected = weights[0, 0][:, columns].sum(axis=1).mean()
    trace = trace_with_attention(weights, SENTENCE)
    assert cell(trace, name) == pytest.approx(expected, abs=1e-6)
    assert cell(trace, f"{name}_uniform") == pytest.approx(len(columns) / 7, abs=1e-6)


@pytest.mark.parametrize(("name", "offset"), [("previous", -1), ("self", 0), ("next", 1)])
def test_offset_scores_are_means_along_a_diagonal(name: str, offset: int) -> None:
    weights = random_weights(2, 1, 1, 7)
    expected = np.diagonal(weights[0, 0], offset).mean()
    assert cell(trace_with_attention(weights), name) == pytest.approx(expected, abs=1e-6)


def test_the_same_token_is_looked_for_elsewhere_whatever_its_case() -> None:
    weights = random_weights(3, 1, 1, 7)
    expected = (weights[0, 0, 1, 3] + weights[0, 0, 3, 1]) / 2
    trace = trace_with_attention(weights, SENTENCE)
    assert cell(trace, "same_token") == pytest.approx(expected, abs=1e-6)
    assert cell(trace, "same_token_uniform") == pytest.approx(1 / 7, abs=1e-6)


def test_special_tokens_are_not_the_same_token_as_each_other() -> None:
    ends = (
        token("[SEP]", 0, -1, special=True),
        token("a", 1, 0),
        token("[SEP]", 2, -1, special=True),
    )
    assert not same_token_pairs(ends).any()


def test_the_distance_is_counted_in_tokens() -> None:
    weights = random_weights(4, 1, 1, 5)
    expected = np.mean([sum(weights[0, 0, i, j] * abs(i - j) for j in range(5)) for i in range(5)])
    trace = trace_with_attention(weights)
    assert cell(trace, "distance") == pytest.approx(expected, abs=1e-5)
    # Rows of 5 places: (0+1+2+3+4) / 5 twice, (1+0+1+2+3) / 5 twice, (2+1+0+1+2) / 5.
    assert cell(trace, "distance_uniform") == pytest.approx((10 + 10 + 7 + 7 + 6) / 25, abs=1e-6)


def test_a_causal_head_is_measured_on_what_it_may_see() -> None:
    weights = np.array([[[[1, 0, 0], [0.5, 0.5, 0], [0.9, 0.1, 0]]]], dtype=np.float32)
    trace = causal(trace_with_attention(weights, plain_tokens("red", "is", "red")))
    assert np.isnan(cell(trace, "next"))
    assert np.isnan(cell(trace, "next_uniform"))
    assert cell(trace, "previous") == pytest.approx((0.5 + 0.1) / 2, abs=1e-6)
    assert cell(trace, "previous_uniform") == pytest.approx((1 / 2 + 1 / 3) / 2, abs=1e-6)
    assert cell(trace, "same_token") == pytest.approx(0.9, abs=1e-6)
    assert cell(trace, "same_token_uniform") == pytest.approx(1 / 3, abs=1e-6)
    assert cell(trace, "first_uniform") == pytest.approx((1 + 1 / 2 + 1 / 3) / 3, abs=1e-6)


def test_what_a_text_does_not_have_is_no_number() -> None:
    frame = pattern_table(trace_with_attention(random_weights(5, 2, 3, 4)))
    for name in ("cls", "sep", "punctuation", "delimiter", "same_token", "other_sentence"):
        assert frame[name].isna().all()
    assert frame["induction"].isna().all()


def test_columns_are_layer_head_scores_beside_chance_class_and_confidence() -> None:
    frame = pattern_table(trace_with_attention(random_weights(6, 2, 3, 4)))
    pairs = [column for name in SCORES for column in (name, f"{name}_uniform")]
    assert list(frame.columns) == ["layer", "head", *pairs, "class", "confidence"]
    assert frame["layer"].tolist() == [1, 1, 1, 2, 2, 2]
    assert frame["head"].tolist() == [1, 2, 3, 1, 2, 3]


# ---- planted heads ----------------------------------------------------------------------------


def network(plant: str | None, tokens: tuple[Token, ...], seed: int = 7) -> Trace:
    """Two layers of three heads with random queries and keys; at layer 2, head 3 a plant.

    Every vector is a sum of three codes: of its position, of its word, and noise. The planted
    head's keys are the codes; its queries ask for the code of the position before, of the first
    position, of its own, or of its word (a little less where it stands itself).
    """
    size = len(tokens)
    generator = np.random.default_rng(seed)
    dim = 3 * size
    queries = generator.normal(0, 0.3, (2, 3, size, dim)).astype(np.float32)
    keys = generator.normal(0, 0.3, (2, 3, size, dim)).astype(np.float32)
    places = np.eye(size, dim)
    names = sorted({each.display for each in tokens})
    words = np.array([np.eye(1, dim, size + names.index(each.display))[0] for each in tokens])
    asked = {
        "previous": np.roll(places, 1, axis=0),
        "next": np.roll(places, -1, axis=0),
        "first": np.broadcast_to(places[0], places.shape),
        "self": places,
        "same_token": 2 * words - places,
    }
    if plant is not None:
        keys[1, 2] = places + words
        queries[1, 2] = 12 * asked[plant]
    rules = (Layer(1.0, None),) * 2
    return Trace("planted", tokens, queries, keys, keys.copy(), rules, causal=False)


PLANTS = ["previous", "next", "first", "self", "same_token"]


@pytest.mark.parametrize(
    ("plant", "masked"),  # no causal head sees what comes next
    [*((name, False) for name in PLANTS), *((name, True) for name in PLANTS if name != "next")],
)
def test_a_planted_head_is_found_by_name_with_its_number(plant: str, masked: bool) -> None:
    trace = network(plant, WORDS)
    trace = causal(trace) if masked else trace
    frame = pattern_table(trace)
    found = frame[frame["class"] == plant]
    assert list(zip(found["layer"], found["head"], strict=True)) == [(2, 3)]
    own = literal_scores(trace.attention(1, 2), masked)[plant]
    assert found[plant].item() == pytest.approx(own, abs=1e-5)
    assert own > 0.6
    bar = max(THRESHOLDS[plant], found[f"{plant}_uniform"].item())
    assert found["confidence"].item() == pytest.approx((own - bar) / (1 - bar), abs=1e-5)


@pytest.mark.parametrize("plant", PLANTS)
def test_the_same_network_without_the_plant_is_not_flagged(plant: str) -> None:
    frame = pattern_table(network(None, WORDS))
    assert plant not in set(frame["class"])
    rest = pattern_table(network(plant, WORDS)).drop(index=5)
    assert plant not in set(rest["class"])


def literal_scores(matrix: Array, masked: bool) -> dict[str, float]:
    """The five scores of a head on WORDS, spelled out pair by pair."""
    size = len(WORDS)
    names = [each.display for each in WORDS]
    pairs: dict[str, list[float]] = {name: [] for name in PLANTS}
    for i in range(size):
        last = i if masked else size - 1
        if i:
            pairs["previous"].append(float(matrix[i, i - 1]))
        if i < last:
            pairs["next"].append(float(matrix[i, i + 1]))
        pairs["first"].append(float(matrix[i, 0]))
        pairs["self"].append(float(matrix[i, i]))
        others = [j for j in range(last + 1) if j != i and names[j] == names[i]]
        if others:
            pairs["same_token"].append(float(sum(matrix[i, j] for j in others)))
    return {name: float(np.mean(values)) if values else np.nan for name, values in pairs.items()}


# ---- classes ----------------------------------------------------------------------------------


def looking_back(share: float, own: float) -> Trace:
    """One head on eight tokens: so much to the token before, to itself, and the rest evenly."""
    size = 8
    weights = np.full((size, size), (1 - share - own) / (size - 2), dtype=np.float32)
    weights[np.arange(size), np.arange(size) - 1] = share
    weights[np.arange(size), np.arange(size)] = own
    return trace_with_attention(weights[None, None])


def test_thresholds_are_those_of_the_definitions_and_can_be_moved() -> None:
    assert (THRESHOLDS["previous"], THRESHOLDS["next"]) == (0.5, 0.5)
    assert (THRESHOLDS["sep"], THRESHOLDS["punctuation"], THRESHOLDS["broad"]) == (0.6, 0.6, 0.78)
    trace = looking_back(0.65, 0.05)
    assert pattern_table(trace)["class"].item() == "previous"
    low = pattern_table(trace, {"previous": 0.64})
    assert low["confidence"].item() == pytest.approx(0.01 / 0.36, abs=1e-5)
    moved = pattern_table(trace, {"previous": 0.66, "broad": 0.9})
    assert moved["class"].item() == "none"
    assert np.isnan(moved["confidence"].item())
    with pytest.raises(ValueError, match="no class is called 'sideways'"):
        pattern_table(trace, {"sideways": 0.5})


def test_a_score_below_the_uniform_baseline_is_no_pattern() -> None:
    """Of eight tokens a uniform head gives each 0.125."""
    limits = {"previous": 0.9, "self": 0.05, "broad": 1.0}
    below = pattern_table(looking_back(0.3, 0.1), limits)
    assert below["self"].item() == pytest.approx(0.1)
    assert below["class"].item() == "none"
    assert pattern_table(looking_back(0.3, 0.2), limits)["class"].item() == "self"


# ---- evidence ---------------------------------------------------------------------------------


def copying(text: str) -> Trace:
    """A head that gives all attention to other copies of the token, where there are any."""
    names = text.split()
    size = len(names)
    weights = np.eye(size, dtype=np.float32)
    for i, name in enumerate(names):
        others = [j for j in range(size) if names[j] == name and j != i]
        if others:
            weights[i] = np.eye(size, dtype=np.float32)[others].mean(axis=0)
    return trace_with_attention(weights[None, None], plain_tokens(*names))


def test_one_repeated_word_is_no_evidence_for_same_token() -> None:
    """Two query tokens have another copy to look at; six are asked for."""
    once = pattern_table(copying("it rained and then it was a very fine day"))
    assert once["same_token"].item() == 1
    assert once["class"].item() != "same_token"
    often = pattern_table(copying("it rained and then it was fine and then rained"))
    assert often["class"].item() == "same_token"


def test_every_pattern_states_how_many_query_tokens_it_needs() -> None:
    for pattern in NAMING.values():
        assert pattern.min_query_tokens >= MIN_QUERY_TOKENS
    size = MIN_QUERY_TOKENS  # so that one token fewer has a token before it
    back = np.eye(size, k=-1, dtype=np.float32)
    back[0, 0] = 1
    assert pattern_table(trace_with_attention(back[None, None]))["class"].item() == "none"
    longer = np.eye(size + 1, k=-1, dtype=np.float32)
    longer[0, 0] = 1
    assert pattern_table(trace_with_attention(longer[None, None]))["class"].item() == "previous"


def test_a_table_of_a_short_text_keeps_its_scores_and_loses_its_names() -> None:
    table = pattern_table(looking_back(0.9, 0.05))
    held = withhold_classes(table)
    assert table["class"].item() == "previous"
    assert (held["class"].item(), held["previous"].item()) == (
        "too_short",
        table["previous"].item(),
    )
    assert np.isnan(held["confidence"].item())


def test_an_even_head_is_broad() -> None:
    frame = pattern_table(trace_with_attention(np.full((1, 1, 9, 9), 1 / 9, dtype=np.float32)))
    assert frame["class"].item() == "broad"
    assert frame["confidence"].item() == pytest.approx(1, abs=1e-5)


def resting_on(columns: dict[int, float]) -> Trace:
    """One head on SENTENCE that gives these columns so much from every token."""
    size = len(SENTENCE)
    rest = (1 - sum(columns.values())) / (size - len(columns))
    row = np.array([columns.get(place, rest) for place in range(size)], dtype=np.float32)
    return trace_with_attention(np.broadcast_to(row, (1, 1, size, size)).copy(), SENTENCE)


def test_the_most_specific_pattern_names_the_head() -> None:
    """[CLS] is the first token; [SEP] is another special token."""
    assert pattern_table(resting_on({0: 0.88}))["class"].item() == "first"
    assert pattern_table(resting_on({6: 0.88}))["class"].item() == "sep"
    assert pattern_table(resting_on({2: 0.44, 5: 0.44}))["class"].item() == "punctuation"


def test_delimiters_are_tested_one_by_one_as_clark_et_al_do_and_not_by_their_sum() -> None:
    table = pattern_table(resting_on({0: 0.4, 5: 0.2, 6: 0.35}))
    assert table["delimiter"].item() > 0.9
    assert table["class"].item() == "none"


def test_induction_is_taken_as_it_is_given() -> None:
    trace = trace_with_attention(random_weights(8, 1, 2, 6))
    given = Induction(np.array([[0.9, 0.1]]), np.array([[0.02, 0.02]]))
    frame = pattern_table(trace, induction=given)
    assert frame["induction"].tolist() == [0.9, 0.1]
    assert frame["induction_uniform"].tolist() == [0.02, 0.02]
    assert frame["class"].iloc[0] == "induction"
    assert frame["class"].iloc[1] != "induction"


def test_induction_pairs_lead_to_what_followed_an_earlier_copy() -> None:
    pairs = induction_pairs(plain_tokens("a", "b", "c", "a", "b"))
    assert np.argwhere(pairs).tolist() == [[3, 1], [4, 2]]


# ---- several texts ----------------------------------------------------------------------------


@pytest.fixture
def corpus() -> list[Trace]:
    """Texts of several lengths, one of them with a repeated word."""
    traces = [
        trace_with_attention(random_weights(10 + size, 2, 2, size)) for size in (3, 5, 8, 4, 6)
    ]
    return [*traces, trace_with_attention(random_weights(30, 2, 2, len(WORDS)), WORDS)]


def test_scores_of_a_corpus_are_means_over_all_its_tokens(corpus: list[Trace]) -> None:
    frame = pattern_table(iter(corpus))
    for row, (layer, head) in enumerate([(0, 0), (0, 1), (1, 0), (1, 1)]):
        values = [np.diagonal(each.attention(layer, head), -1) for each in corpus]
        assert frame["previous"].iloc[row] == pytest.approx(np.concatenate(values).mean(), abs=1e-6)
        chance = [np.full(each.shape[2] - 1, 1 / each.shape[2]) for each in corpus]
        assert frame["previous_uniform"].iloc[row] == pytest.approx(
            np.concatenate(chance).mean(), abs=1e-6
        )
    one = pattern_table(corpus[-1])
    assert frame["same_token"].to_numpy() == pytest.approx(one["same_token"].to_numpy(), abs=1e-6)


def test_intervals_are_those_of_a_bootstrap_written_as_a_loop(corpus: list[Trace]) -> None:
    frame = pattern_table(corpus)
    generator = np.random.default_rng(SEED)
    draws = [generator.multinomial(6, np.full(6, 1 / 6)) for _ in range(RESAMPLES)]
    diagonals = [np.diagonal(each.attention(1, 0), -1) for each in corpus]
    means = []
    for draw in draws:
        picked = [each for each, times in zip(diagonals, draw, strict=True) for _ in range(times)]
        means.append(np.concatenate(picked).mean())
    low, high = np.percentile(means, [2.5, 97.5])
    assert frame["previous_low"].iloc[2] == pytest.approx(low, abs=1e-5)
    assert frame["previous_high"].iloc[2] == pytest.approx(high, abs=1e-5)
    assert (frame["previous_low"] <= frame["previous"]).all()
    assert (frame["previous"] <= frame["previous_high"]).all()


def test_stability_is_how_often_the_class_comes_again() -> None:
    size = 4
    before = np.full((1, 1, size, size), 0.02, dtype=np.float32)
    before[0, 0] += np.eye(size, k=-1, dtype=np.float32) * 0.94
    before[0, 0, 0] = [0.06, 0.47, 0.47, 0.0]
    elsewhere = np.full((1, 1, size, size), 0.25, dtype=np.float32)
    texts = [trace_with_attention(each) for each in (before, before, elsewhere)]
    frame = pattern_table(texts)
    assert frame["class"].item() == "previous"  # (2 x 0.96 + 0.25) / 3 = 0.72
    generator = np.random.default_rng(SEED)
    draws = np.array([generator.multinomial(3, np.full(3, 1 / 3)) for _ in range(RESAMPLES)])
    again = (draws @ np.array([0.96, 0.96, 0.25]) / 3 > 0.5).mean()
    assert 0.5 < again < 1
    assert frame["stability"].item() == pytest.approx(again)


def test_a_single_text_says_nothing_about_others() -> None:
    frame = pattern_table([trace_with_attention(random_weights(9, 1, 2, 5))])
    assert frame["previous_low"].isna().all()
    assert frame["stability"].isna().all()
    assert "previous_low" not in pattern_table(trace_with_attention(random_weights(9, 1, 2, 5)))


def test_the_same_texts_give_the_same_intervals(corpus: list[Trace]) -> None:
    first, again = pattern_table(corpus), pattern_table([measure_text(each) for each in corpus])
    assert first.equals(again)


def test_texts_of_different_models_and_no_text_are_refused(corpus: list[Trace]) -> None:
    with pytest.raises(ValueError, match="different models"):
        pattern_table([*corpus, trace_with_attention(random_weights(1, 3, 2, 4))])
    with pytest.raises(ValueError, match="no text"):
        pattern_table([])


# ---- the bundled model ------------------------------------------------------------------------


def test_minilm_has_its_previous_token_head() -> None:
    frame = pattern_table(trace_text(load("bundled/minilm"), "Oh, this book? I've enjoyed it."))
    found = frame[frame["class"] == "previous"]
    assert list(zip(found["layer"], found["head"], strict=True)) == [(1, 3)]
    assert found["previous"].item() > 0.99
    assert found["confidence"].item() > 0.98
    assert found["previous_uniform"].item() == pytest.approx(1 / 13)


def test_every_share_lies_between_nothing_and_everything() -> None:
    frame = pattern_table(trace_text(load("bundled/minilm"), "leaves fall", "in autumn, leaves"))
    shares = frame[[name for name in MEASURED if name != "distance"]]
    assert shares.notna().all(axis=None)
    assert ((shares >= 0) & (shares <= 1 + 1e-6)).all(axis=None)
