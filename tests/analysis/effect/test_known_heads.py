"""Effects where the answer is known: planted heads, and heads of random weights."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.analysis.effect import effect_table
from core.model import effects, load, trace_text
from core.model.bundled.planted import PLANTED
from core.model.bundled.planted.judging import JUDGES, judged
from tests.model.families import SENTENCES

if TYPE_CHECKING:
    from core.model import LoadedModel
    from core.model.interventions.heads import Replace
    from tests.conftest import ModelOf

opened = cache(load)
ALONE = [each for name, each in PLANTED.items() if not name.endswith("twins")]


@pytest.mark.parametrize("planted", ALONE, ids=lambda each: each.name)
@pytest.mark.parametrize("replace", ["mean", "zero"])
def test_planted_heads_are_first_by_effect_and_all_others_under_their_control(
    planted: object, replace: Replace
) -> None:
    model: LoadedModel = opened(planted.name)  # type: ignore[attr-defined]
    examples = planted.examples  # type: ignore[attr-defined]
    texts = tuple(text for each in examples for text in (each.text, each.contrast))
    for example in examples:
        found = effects(model, example.text, replace, "logit_difference", reference=texts)
        table = effect_table(trace_text(model, example.text), found)
        needed = np.array([head.needed for head in planted.heads])  # type: ignore[attr-defined]
        first = table["effect"].abs().nlargest(int(needed.sum())).index
        assert set(first) == set(np.flatnonzero(needed))
        assert not table["exceeds"][~needed].any()
        if replace == "mean":
            assert table["exceeds"][needed].all()


def test_no_method_that_takes_one_head_sees_twins_and_no_gradient_what_is_saturated() -> None:
    twins, saturated = (
        judged(PLANTED[f"bundled/planted-{name}"]) for name in ("twins", "saturated")
    )
    for method in ("zero", "mean", "resample", "attribution"):
        assert twins[method][0, [0, 2]].max() < 0.02
    assert saturated["attribution"][0, 2] < 0.02
    assert saturated["mean"][0, 2] > 0.9
    sink = judged(PLANTED["bundled/planted-sink"])
    assert sink["attention"][0, 0] > 0.9
    assert max(sink[method][0, 0] for method in JUDGES if method != "attention") < 1e-3


@pytest.mark.parametrize("name", ["bert", "gpt2", "llama"])
def test_of_random_weights_no_more_heads_exceed_than_is_said(name: str, model_of: ModelOf) -> None:
    model = model_of(name)
    exceeds, chance = [], 0.0
    for text in SENTENCES:
        found = effects(model, text, "mean", "sentence", reference=SENTENCES)
        table = effect_table(trace_text(model, text), found)
        exceeds += table["exceeds"].tolist()
        chance = table.attrs["chance"]
    spread = 3 * np.sqrt(chance * (1 - chance) / len(exceeds))
    assert np.mean(exceeds) < chance + spread
