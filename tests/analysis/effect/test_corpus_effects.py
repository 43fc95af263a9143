"""Effects over texts: by hand, on planted heads, and on random weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from core.analysis.effect.corpus import corpus_table, thresholds_table
from core.analysis.head_patterns.naming import NAMING
from core.model import effects, load, trace_text, untrained_twin
from core.model.bundled.planted import PLANTED
from tests.analysis.effect.test_effect_table import Made
from tests.model.families import SENTENCES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.model import LoadedModel
    from core.model.bundled.planted import PlantedModel

NOUNS = "cat dog bird fox king queen boy girl river garden house tree"
VERBS = "saw met heard followed found liked"


class Two:
    layer_labels = (2, 5)
    depth = 6


def _made(values: Sequence[float], controls: Sequence[float]) -> Made:
    return Made(
        np.array([values[:3], [*values[3:], np.nan]]),
        np.array([[controls[:3], [*controls[3:], np.nan]]]),
    )


# Three texts; five heads and one that its layer does not have.
TEXTS = [
    _made([1.0, -0.5, 0.2, 0.004, 0.3], [0.4, 0.1, 0.3, 0.0, 0.3]),
    _made([0.8, -0.7, 0.1, 0.004, 0.3], [0.5, 0.1, 0.0, 0.0, 0.2]),
    _made([1.2, 0.6, 0.3, 0.004, -0.3], [0.3, 0.2, 0.4, 0.0, 0.4]),
]


def _bounds(values: Sequence[float]) -> tuple[float, float]:
    """The interval of the mean, from every way to draw three of three, by their chances."""
    drawn = sorted(
        float(np.mean([values[i], values[j], values[k]]))
        for i in range(3)
        for j in range(3)
        for k in range(3)
    )
    return drawn[0], drawn[-1]  # each has a chance of 1 in 27, more than one tail


def test_means_intervals_shares_and_ranks_are_those_of_the_texts() -> None:
    table = corpus_table(Two(), TEXTS)
    assert table["layer"].tolist() == [2, 2, 2, 5, 5, 5]
    assert table["head"].tolist() == [1, 2, 3, 1, 2, 3]
    assert table["effect"].tolist()[:5] == pytest.approx([1.0, -0.2, 0.2, 0.004, 0.1])
    assert table["size"].tolist()[:5] == pytest.approx([1.0, 0.6, 0.2, 0.004, 0.3])
    assert table["control"].tolist()[:5] == pytest.approx([0.4, 0.4 / 3, 0.7 / 3, 0.0, 0.3])
    assert table["often"].tolist()[:5] == pytest.approx([1, 1, 1 / 3, 1, 1 / 3])
    assert table["others"].tolist()[:5] == pytest.approx([1, 0.5, 0, 0, 1])
    for head, each in enumerate([(1.0, 0.8, 1.2), (-0.5, -0.7, 0.6), (0.2, 0.1, 0.3)]):
        assert tuple(table.loc[head, ["low", "high"]]) == pytest.approx(_bounds(each))
    assert table.loc[2, "beyond_low"] == pytest.approx(-0.1)
    assert table.loc[1, "beyond_low"] == pytest.approx(0.4)
    assert table[["effect", "often", "others"]].isna().all(axis=1).tolist() == [False] * 5 + [True]
    assert table.attrs == {"measure": "kl", "unit": "nats", "replace": "mean", "texts": 3}


def test_a_head_passes_beyond_its_control_and_a_hundredth_of_the_largest() -> None:
    table = corpus_table(Two(), TEXTS)
    assert table["exceeds"].tolist() == [True, True, False, False, False, False]


def test_one_text_has_no_interval_and_none_no_table() -> None:
    table = corpus_table(Two(), TEXTS[:1])
    assert table["low"].isna().all()
    assert not table["exceeds"].any()
    with pytest.raises(ValueError, match="no text"):
        corpus_table(Two(), [])


def _table(model: LoadedModel, texts: Sequence[str], measure: str) -> pd.DataFrame:
    found = [
        effects(model, text, "mean", measure, reference=texts, draws=4, seed=place)  # type: ignore[arg-type]
        for place, text in enumerate(texts)
    ]
    return corpus_table(trace_text(model, texts[0]), found)


def _other_words(text: str, step: int) -> str:
    """The same sentence with other nouns and verbs of the planted models' vocabulary."""
    kinds = [each.split() for each in (NOUNS, VERBS)]
    swapped = {
        word: words[(place + step) % len(words)]
        for words in kinds
        for place, word in enumerate(words)
    }
    return " ".join(swapped.get(word, word) for word in text.split())


@pytest.mark.parametrize("planted", PLANTED.values(), ids=lambda each: each.name)
def test_planted_heads_pass_and_idle_ones_do_not(planted: PlantedModel) -> None:
    texts = [_other_words(each.text, step) for step in range(6) for each in planted.examples]
    table = _table(load(planted.name), texts, "logit_difference")
    twins = [head.role == "twin" for head in planted.heads]  # either can go
    needed = [head.needed for head in planted.heads]
    assert table["exceeds"].tolist() == (np.array(needed) & ~np.array(twins)).tolist()


@pytest.mark.parametrize("name", ["bundled/gpt2-novels", "bundled/planted-induction"])
def test_of_an_untrained_twin_no_more_heads_pass_than_one_in_twenty(name: str) -> None:
    twins = [untrained_twin(load(name), seed) for seed in range(3)]
    exceeds = np.concatenate([_table(twin, SENTENCES, "kl")["exceeds"] for twin in twins])
    assert len(exceeds) >= 24
    assert exceeds.mean() <= 0.05


def test_heads_over_each_threshold_are_counted_for_both() -> None:
    first, second = list(NAMING)[:2]
    patterns = [pd.DataFrame({"class": each}) for each in ([first, first, second], ["none"] * 3)]
    beyond = [pd.DataFrame({"exceeds": each}) for each in ([True, True, False], [False, True, 0])]
    table = thresholds_table((patterns[0], beyond[0]), (patterns[1], beyond[1]))
    counts = {
        row["threshold"]: (row["trained"], row["untrained"]) for row in table.to_dict("records")
    }
    assert set(counts) == {*NAMING, "effect"}
    some = {first: (2, 0), second: (1, 0), "effect": (2, 1)}
    assert {name: each for name, each in counts.items() if any(each)} == some
    assert set(table["heads"]) == {3}
