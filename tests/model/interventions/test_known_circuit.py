"""The circuit of GPT-2 small that names the indirect object (Wang et al. 2022), heads from 0.

"When Mary and John went to the store, John gave a drink to" continues with "Mary". Only with
published weights: the methods are proved on random networks and on planted heads.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from core.analysis.head_patterns import pattern_table
from core.model import LoadedModel, effects, trace_text
from core.model.interventions.direct import DirectParts, parts_of
from core.model.interventions.probe import probe_of
from tests.model.test_bundled_model import published

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAME_MOVERS = ((9, 9), (10, 0), (9, 6))
NEGATIVE = ((10, 7), (11, 10))
S_INHIBITION = ((7, 3), (7, 9), (8, 6), (8, 10))
PREVIOUS = ((2, 2), (4, 11))
TEMPLATES = (
    "When {} and {} went to the shops, {} gave the bag to",
    "After {} and {} went to the park, {} gave a drink to",
)
PAIRS = (("John", "Mary"), ("Tom", "James"), ("Martin", "Amy"), ("Dan", "Mary"))
OTHERS = ("Mark", "Anna", "Paul")  # of a text without the circuit's question: three names
PROSE = (
    "The old house stood at the end of a narrow road, and nobody in the village could remember who"
    " had lived there before the war. Its windows were broken and the garden was full of weeds."
)


@dataclass(frozen=True)
class Prompt:
    """A text, the name it asks for, and the name that is said twice."""

    text: str
    wanted: str
    twice: str
    other: str


PROMPTS = [
    Prompt(template.format(*pair, twice), wanted, twice, template.format(*OTHERS))
    for template in TEMPLATES
    for pair in PAIRS
    for wanted, twice in (pair, pair[::-1])
]


@cache
def lead(prompt: Prompt) -> DirectParts:
    """What writes the lead of the wanted name over the other."""
    model, names = published("gpt2"), (prompt.wanted, prompt.twice)
    return parts_of(probe_of(model, prompt.text, "logit_difference", words=names))


def attention_from_end(model: LoadedModel) -> dict[str, NDArray[Any]]:
    """Mean attention from the last token to each of the names, (layer, head)."""
    rows: dict[str, list[Any]] = {"wanted": [], "first": [], "second": []}
    for each in PROMPTS:
        trace = trace_text(model, each.text)
        names = [token.display for token in trace.tokens]
        first = names.index(each.twice)
        places = names.index(each.wanted), first, names.index(each.twice, first + 1)
        attention = trace.attention()
        for kind, place in zip(rows, places, strict=True):
            rows[kind].append(attention[:, :, -1, place])
    return {kind: np.mean(each, axis=0) for kind, each in rows.items()}


def rank(values: NDArray[Any], head: tuple[int, int]) -> int:
    """How many heads have a larger value."""
    return int((values > values[head]).sum())


@pytest.mark.hub
def test_name_movers_write_the_wanted_name_and_negative_ones_the_other() -> None:
    written = np.mean([lead(each).heads for each in PROMPTS], axis=0)
    assert all(written[head] > 0 and rank(written, head) < 5 for head in NAME_MOVERS)
    assert all(written[head] < 0 and rank(-written, head) < 5 for head in NEGATIVE)


@pytest.mark.hub
def test_name_movers_look_at_the_wanted_name_and_s_inhibition_at_the_second_of_the_other() -> None:
    """Means of 0.59 and 0.51 are published for their own prompts."""
    seen = attention_from_end(published("gpt2"))
    assert np.mean([seen["wanted"][head] for head in NAME_MOVERS]) > 0.3
    for head in NAME_MOVERS:
        assert seen["wanted"][head] > max(seen["first"][head], seen["second"][head])
    assert np.mean([seen["second"][head] for head in S_INHIBITION]) > 0.25
    assert all(rank(seen["second"], head) < 30 for head in S_INHIBITION)


@pytest.mark.hub
def test_the_wanted_name_leads_and_loses_its_lead_without_s_inhibition() -> None:
    """Every head gives what it gives where three other names stand at the same places."""
    gpt2, falls = published("gpt2"), []
    before = np.array([lead(each).value for each in PROMPTS])
    for each in PROMPTS:
        options: Any = {"words": (each.wanted, each.twice), "reference": (each.other,), "draws": 0}
        falls.append(effects(gpt2, each.text, "resample", "logit_difference", **options).values)
    fall = np.mean(falls, axis=0)
    assert before.mean() > 1.5
    assert (before > 0).mean() > 0.8
    assert sum(fall[head] > 0 and rank(fall, head) < 20 for head in S_INHIBITION) >= 3
    assert sum(fall[head] for head in NEGATIVE) < 0


@pytest.mark.hub
def test_previous_token_heads_look_one_back() -> None:
    table = pattern_table(trace_text(published("gpt2"), PROSE))
    scores = table["previous"].to_numpy().reshape(12, 12)
    assert scores[4, 11] > 0.5
    assert all(rank(scores, head) < 12 for head in PREVIOUS)
