"""What a browser says of its widgets is short and can be read; a server ends well."""

from __future__ import annotations

import json
import threading
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime import RuntimeState

from core.ui.serve import sessions
from core.ui.serve.sessions import LONG_TEXT, MOST_BYTES, is_possible, possible
from tests.server import process_at
from tests.test_visitor import table
from tests.tools.visitor import ConnectionLostError, Visitor, run_visit

pytestmark = pytest.mark.slow

MEGABYTE = 10**6


def widget(reader: Any, kind: str = "json_value") -> Any:
    return SimpleNamespace(deserializer=reader, value_type=kind)


def test_a_long_state_is_refused_before_it_is_parsed() -> None:
    long = json.dumps({"cell": [[]] * (MOST_BYTES // 4)})
    for state in (
        WidgetState(id="one", json_value=long),
        WidgetState(id="one", json_trigger_value=long),
        WidgetState(id="one", string_value=long),
    ):
        assert not is_possible(state, widget(pytest.fail, state.WhichOneof("value") or ""))


def test_pasted_lines_may_be_longer() -> None:
    text = "€" * 1_000_000
    box = widget(str, "string_value")
    assert is_possible(WidgetState(id=f"$$ID-1-{LONG_TEXT}", string_value=text), box)
    assert not is_possible(WidgetState(id="$$ID-1-text", string_value=text), box)
    assert not is_possible(WidgetState(id=f"$$ID-1-{LONG_TEXT}", json_value=text), box)


@pytest.mark.parametrize(
    ("kind", "state"),
    [
        ("json_value", {"int_value": 5}),
        ("string_value", {"double_value": 1.5}),
        ("string_value", {"bytes_value": b"text"}),
        ("double_array_value", {"trigger_value": True}),
    ],
)
def test_a_state_of_another_kind_than_its_widget_is_refused(kind: str, state: Any) -> None:
    assert not is_possible(WidgetState(id="one", **state), widget(lambda value: value, kind))


def test_a_whole_number_is_one_of_the_kind_that_a_field_of_numbers_reads() -> None:
    assert is_possible(WidgetState(id="one", int_value=5), widget(int, "double_value"))


def test_states_that_no_widget_has_are_dropped_unread_and_all_are_bounded_together() -> None:
    states = [WidgetState(id=f"of nobody {i}", json_value=f"{0:100000}") for i in range(19)]
    assert possible(states, {"one": widget(pytest.fail)}) == []
    assert possible(states, {}) == states[:5]
    read: list[str] = []
    widgets = {state.id: widget(read.append) for state in states}
    text = WidgetState(id=f"$$ID-1-{LONG_TEXT}", string_value="€" * MOST_BYTES)
    widgets[text.id] = widget(str, "string_value")
    assert possible([text, *states * 2], widgets) == [text, *states[:5]]
    assert len(read) == 5


@pytest.mark.parametrize("text", ["[" * 100_000, "1" * 5_000, "{", "[1, 2"])
def test_what_cannot_be_read_is_refused(text: str) -> None:
    assert not is_possible(WidgetState(id="one", json_value=text), widget(json.loads))


def test_of_an_uploader_only_names_of_files_are_read_and_no_file_is_looked_up() -> None:
    """Streamlit looks files up in a run, and warns of each try outside of one."""
    uploader = widget(pytest.fail, "file_uploader_state_value")
    files = WidgetState(id="one")
    files.file_uploader_state_value.uploaded_file_info.add(file_id="a", name="a.txt", size=1)
    assert is_possible(files, uploader)
    assert not is_possible(WidgetState(id="one", string_value="a"), uploader)


def test_a_widget_without_a_value_is_as_it_was() -> None:
    assert is_possible(WidgetState(id="one"), widget(lambda value: value))


def test_forged_states_take_no_memory_and_end_no_page(quiet_app: str) -> None:
    """Parsed, each of five messages of 4 MB would be 64 MB; one of 24 MB ends the connection."""
    cells: list[list[int]] = [[]] * 1_000_000

    async def visit() -> None:
        async with Visitor(quiet_app, patience=300) as visitor:
            await visitor.open("heatmap", text="leaves fall in autumn")
            before = process_at(quiet_app).memory_info().rss
            for _ in range(5):
                await visitor.set("heatmap_table", {"view": {"held": cells}})
                settings, _ = table(visitor)
                assert settings["held"] == []
                assert visitor.errors() == []
            assert process_at(quiet_app).memory_info().rss - before < 60 * MEGABYTE
            await visitor.set("heatmap_table", {"view": {"held": [2, 3]}})
            assert "cell=2" in visitor.query
            with pytest.raises(ConnectionLostError):
                await visitor.set("heatmap_table", {"view": {"held": cells * 6}})

    run_visit(visit())


def test_a_server_ends_well_while_its_first_model_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread that loads belongs to no visitor's run."""
    loaded, statuses = threading.Event(), list[int]()
    thread = threading.Thread(target=loaded.wait, name="first load", daemon=True)
    thread.start()
    monkeypatch.setattr("os._exit", statuses.append)
    server: Any = SimpleNamespace(state=RuntimeState.STOPPED)
    sessions._end_at_once(server)
    loaded.set()
    assert statuses == [0]


def test_as_many_files_may_be_open_as_visits_need() -> None:
    """Streamlit keeps three of each visit for two minutes: the 82nd was refused with 256."""
    resource = pytest.importorskip("resource", reason="no such limit on Windows")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
    try:
        sessions.allow_descriptors()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert hard == before[1]
    assert soft == min(sessions.DESCRIPTORS, hard if hard > 0 else sessions.DESCRIPTORS)
