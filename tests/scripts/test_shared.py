"""What views share: where a step leads, when a report is made, how a share is written."""

from __future__ import annotations

import pytest

from core.vocabulary import percent
from tests.scripts.conftest import Run

SCRIPTS = "shared/controls shared/reports shared/weight_words"
LAYERS, HEADS = ("3", "6"), ("1", "2", "3", "4")  # of a hybrid
MEANS = {"layer": ("mean", *LAYERS), "head": ("mean", "max", *HEADS)}
TOLD = """
const told = [], reporter = new Reporter(), state = { held: [2] }
const tell = (name, { at, ...value }) => told.push([name, value])
reporter.component = { setStateValue: tell, setTriggerValue: tell }
const sent = [reporter.isFromServer(1), reporter.isFromServer(1)]
reporter.sendReport("view", { held: [1] }, 9000)
reporter.sendReport("view", state, 9000)
state.held = [3]
sent.push(reporter.isFromServer(2))
for (let times = 0; times < 2; times++) reporter.flush()
reporter.sendReport("open", { head: 4 })
reporter.sendReport("view", state, 9000)
reporter.stop()
reporter.flush()
return [sent, told]
"""
SHARES = (0, 4e-4, 0.001, 0.004, 0.05, 0.0695, 0.099, 0.4312, 0.6, 0.99, 0.994, 0.9995, 1)


@pytest.mark.parametrize(
    ("choices", "values", "step", "expected"),
    [
        ({}, "3 2", (1, 0), {"layer": "6"}),
        ({}, "3 2", (-1, 0), {}),
        ({}, "3 2", (0, 1), {"head": "3"}),
        ({}, "3 4", (0, 1), {"layer": "6", "head": "1"}),  # those between do not attend
        ({}, "6 1", (0, -1), {"layer": "3", "head": "4"}),
        ({}, "6 4", (0, 1), {}),
        (MEANS, "3 1", (0, -1), {"head": "max"}),
        (MEANS, "3 mean", (0, -1), {}),
        (MEANS, "mean 4", (0, 1), {}),
        (MEANS, "3 2", (-1, 0), {"layer": "mean"}),
        ({"head": ()}, "3 1", (0, 1), {}),
        ({"layer": ()}, "3 4", (0, 1), {}),
    ],
)
def test_a_step_leads_to_the_next_of_what_is_offered(
    run: Run,
    choices: dict[str, tuple[str, ...]],
    values: str,
    step: tuple[int, int],
    expected: dict[str, str],
) -> None:
    offered = {"layer": LAYERS, "head": HEADS} | choices
    sent = {key: [[each, each] for each in options] for key, options in offered.items() if options}
    shown, by = (dict(zip(("layer", "head"), each, strict=True)) for each in (values.split(), step))
    assert run("return stepped(sent, shown, by)", sent=sent, shown=shown, by=by) == expected


def test_of_reports_that_wait_the_last_is_told_once_as_it_was_made(run: Run) -> None:
    sent, told = run(TOLD)
    assert sent == [True, False, True]
    assert told == [["view", {"held": [2], "serial": 1}], ["open", {"head": 4, "serial": 2}]]


def test_a_share_is_written_as_in_sentences(run: Run) -> None:
    assert run("return shares.map(percent)", shares=SHARES) == list(map(percent, SHARES))
