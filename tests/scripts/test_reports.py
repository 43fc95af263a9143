"""When a view tells its page of what was done in it, and on which state."""

from __future__ import annotations

from tests.scripts.conftest import RunWith

TOLD = """
const told = [], reporter = new Reporter(), state = { held: [2] }
const tell = (name, { at, ...value }) => told.push([name, value])
reporter.component = { setStateValue: tell, setTriggerValue: tell }
const sent = [reporter.isSent(1), reporter.isSent(1)]
reporter.tell("view", { held: [1] }, 9000)
reporter.tell("view", state, 9000)
state.held = [3]
sent.push(reporter.isSent(2))
for (let times = 0; times < 2; times++) reporter.flush()
reporter.tell("open", { head: 4 })
reporter.tell("view", state, 9000)
reporter.stop()
reporter.flush()
return [sent, told]
"""


def test_of_reports_that_wait_the_last_is_told_once_as_it_was_made(run_with: RunWith) -> None:
    sent, told = run_with("shared/reports")(TOLD)
    assert sent == [True, False, True]
    assert told == [["view", {"held": [2], "serial": 1}], ["open", {"head": 4, "serial": 2}]]
