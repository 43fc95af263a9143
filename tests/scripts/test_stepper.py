"""Where a step leads, from layer to layer and from head to head."""

from __future__ import annotations

import pytest

from tests.scripts.conftest import RunWith

LAYERS, HEADS = ("3", "6"), ("1", "2", "3", "4")  # of a hybrid
MEANS = {"layer": ("mean", *LAYERS), "head": ("mean", "max", *HEADS)}


@pytest.mark.parametrize(
    ("choices", "values", "step", "expected"),
    [
        ({}, ("3", "2"), (1, 0), {"layer": "6"}),
        ({}, ("3", "2"), (-1, 0), {}),
        ({}, ("6", "2"), (1, 0), {}),
        ({}, ("3", "2"), (0, 1), {"head": "3"}),
        ({}, ("3", "4"), (0, 1), {"layer": "6", "head": "1"}),  # those between do not attend
        ({}, ("6", "1"), (0, -1), {"layer": "3", "head": "4"}),
        ({}, ("6", "4"), (0, 1), {}),
        (MEANS, ("3", "1"), (0, -1), {"head": "max"}),
        (MEANS, ("3", "mean"), (0, -1), {}),
        (MEANS, ("3", "4"), (0, 1), {"layer": "6", "head": "1"}),
        (MEANS, ("mean", "4"), (0, 1), {}),
        (MEANS, ("3", "2"), (-1, 0), {"layer": "mean"}),
        ({"head": ()}, ("3", "1"), (0, 1), {}),
        ({"layer": ()}, ("3", "4"), (0, 1), {}),
        ({"layer": ()}, ("3", "4"), (1, 0), {}),
    ],
)
def test_a_step_leads_to_the_next_of_what_is_offered(
    run_with: RunWith,
    choices: dict[str, tuple[str, ...]],
    values: tuple[str, str],
    step: tuple[int, int],
    expected: dict[str, str],
) -> None:
    offered = {"layer": LAYERS, "head": HEADS} | choices
    sent = {key: [[each, each] for each in options] for key, options in offered.items() if options}
    shown = dict(zip(("layer", "head"), values, strict=True))
    by = dict(zip(("layer", "head"), step, strict=True))
    body = "return stepped(choices, values, step)"
    run = run_with("shared/stepper")
    assert run(body, choices=sent, values=shown, step=by) == expected
