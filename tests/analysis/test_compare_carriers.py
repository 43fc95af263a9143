"""Which heads carry a difference: exchanges made up, planted heads, and random weights."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from core.analysis.effect.table import LEVEL, carriers, leading_carriers
from core.analysis.statistics import interval_of_mean
from core.model import untrained_twin
from core.model.interventions.exchange import Exchange, exchange
from core.model.interventions.probe import as_input
from tests.analysis.test_error_rates import ALONE, most_by_chance, opened, random_model
from tests.analysis.traces import Stack
from tests.model.families import SENTENCES

VALUES = np.array([[0.04, -0.9, 0.3], [0.2, 0.5, np.nan]])
DRAWS = 0.01 * np.random.default_rng(0).normal(size=(99, 2, 3))
FACTS: Any = {"measure": "kl", "unit": "share of the way", "replace": "resample"}


def test_heads_carry_where_they_beat_chance_and_go_far_enough() -> None:
    draws = DRAWS.copy()
    draws[:50, 0, 2] = 0.4  # L2 H3 goes no further than chance
    draws[:, 1, 0] = np.minimum(9 * draws[:, 1, 0], 0.19)  # L5 H1 does, but of six heads one may
    found = [Exchange(values=VALUES, draws=draws, same_answer=False, **FACTS)]
    table = carriers(Stack((2, 5), 6), found, found)
    assert (10 * table["layer"] + table["head"]).tolist() == [52, 23, 51, 21, 22, 53]
    assert table["carries"].tolist() == [True, False, False, False, False, False]
    assert table["p"].tolist()[:4] == [0.01, 0.51, 0.01, 0.01]
    assert table.attrs == FACTS | {"draws": 99, "variants": 1}


def test_intervals_are_over_the_variants_that_have_a_difference() -> None:
    values = VALUES + 0.01 * np.arange(6)[:, None, None]
    found = [Exchange(values=each, draws=DRAWS, same_answer=False, **FACTS) for each in values]
    same = Exchange(values=VALUES * np.nan, draws=DRAWS * np.nan, same_answer=True, **FACTS)
    table = carriers(Stack.of(2), [same, *found], [same, *found])
    assert (table["share"][0], table.attrs["variants"]) == (pytest.approx(0.525), 6)
    assert [table["low"][0], table["high"][0]] == interval_of_mean(values)[:, 1, 1].tolist()
    nothing = carriers(Stack.of(2), [same], [same])
    assert not nothing["carries"].any()
    assert nothing.attrs["variants"] == 0


def _carriers(model: Any, a: str, b: str) -> Any:
    units = [[place] for place in range(min(len(as_input(model, each).ids) for each in (a, b)))]
    found = exchange(model, a, b, units, units, draws=0)
    fresh = exchange(model, a, b, units, units, heads=leading_carriers([found]))
    return carriers(Stack.of(model.layers), [found], [fresh]).query("carries")


@pytest.mark.parametrize("planted", ALONE, ids=lambda each: each.name)
def test_a_planted_change_is_carried_by_the_planted_heads_alone(planted: Any) -> None:
    needed = sorted(head.place for head in planted.heads if head.needed)
    for example in planted.examples:
        carrying = _carriers(opened(planted.folder), example.text, example.contrast)
        assert sorted(zip(carrying["layer"], carrying["head"], strict=True)) == needed
        assert carrying["share"].tolist() == pytest.approx([1] * len(needed), abs=0.01)


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "spread"), product(["bert", "gpt2"], [0.02, 0.2]))
def test_random_weights_hardly_ever_carry(name: str, spread: float, tmp_path: Any) -> None:
    model, claimed = random_model(name, spread, tmp_path), []
    for seed, word in product(range(5), ("book", "cat", "river", "said")):
        text = next(each for each in SENTENCES if word in each)
        claimed.append(len(_carriers(untrained_twin(model, seed), text, text.replace(word, "it"))))
    assert np.count_nonzero(claimed) <= most_by_chance(LEVEL, len(claimed))
