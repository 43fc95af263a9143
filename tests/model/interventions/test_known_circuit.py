"""The circuit of GPT-2 small that names the indirect object (Wang et al. 2022), heads from 0.

"When Mary and John went to the store, John gave a drink to" continues with "Mary". Only with
published weights: the methods are proved on random networks and on planted heads.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from core.model import LoadedModel
from core.model.interventions.direct import parts_of
from core.model.interventions.heads import head_table, replacement_rows, replacements
from core.model.interventions.probe import Probe, probe_of
from tests.model.test_bundled_model import published

NAME_MOVERS = ((9, 9), (10, 0), (9, 6))
NEGATIVE = ((10, 7), (11, 10))
S_INHIBITION = ((7, 3), (7, 9), (8, 6), (8, 10))
TEMPLATES = (
    "When {} and {} went to the shops, {} gave the bag to",
    "After {} and {} went to the park, {} gave a drink to",
)
PAIRS = (("John", "Mary"), ("Tom", "James"), ("Martin", "Amy"), ("Dan", "Mary"))
OTHERS = ("Mark", "Anna", "Paul")  # of a text without the circuit's question: three names
PROMPTS = [  # a text, the wanted name and that which is said twice, and the text of other names
    (template.format(*pair, twice), (wanted, twice), template.format(*OTHERS))
    for template in TEMPLATES
    for pair in PAIRS
    for wanted, twice in (pair, pair[::-1])
]


def rank(values: NDArray[Any], head: tuple[int, int]) -> int:
    """How many heads have a larger value."""
    return int((values > values[head]).sum())


def lead(gpt2: LoadedModel, text: str, names: tuple[str, str]) -> Probe:
    """How far the first name is ahead of the second."""
    first, second = gpt2.tokenizer.convert_tokens_to_ids([f"Ġ{name}" for name in names])
    probe = probe_of(gpt2, text, "logit_difference")
    return replace(probe, value=lambda _before, read: read[:, first] - read[:, second])


@pytest.mark.hub
def test_name_movers_write_the_wanted_name_which_leads_and_negative_ones_the_other() -> None:
    gpt2 = published("gpt2")
    leads = [parts_of(lead(gpt2, text, names)) for text, names, _ in PROMPTS]
    written = np.mean([each.heads for each in leads], axis=0)
    assert all(written[head] > 0 and rank(written, head) < 5 for head in NAME_MOVERS)
    assert all(written[head] < 0 and rank(-written, head) < 5 for head in NEGATIVE)
    before = np.array([each.value for each in leads])
    assert before.mean() > 1.5
    assert (before > 0).mean() > 0.8


@pytest.mark.hub
def test_the_wanted_name_loses_its_lead_without_s_inhibition() -> None:
    """Every head gives what it gives where three other names stand at the same places."""
    gpt2, falls = published("gpt2"), []
    for text, names, other in PROMPTS:
        probe = lead(gpt2, text, names)
        rows = replacement_rows(*replacements(probe, text, "resample", (other,)))
        falls.append(head_table(probe, rows)[1][0])
    fall = np.mean(falls, axis=0)
    assert sum(fall[head] > 0 and rank(fall, head) < 20 for head in S_INHIBITION) >= 3
    assert sum(fall[head] for head in NEGATIVE) < 0
