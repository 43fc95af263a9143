"""The address that other machines can reach."""

from __future__ import annotations

import pytest
from streamlit import config

from core.ui.serve import reach


@pytest.fixture(autouse=True)
def _network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamlit.net_util.get_internal_ip", lambda: "192.0.2.77")


@pytest.mark.parametrize("own", ["localhost:8501", "127.0.0.1:8501"])
def test_the_machines_own_name_becomes_its_address_in_the_network(own: str) -> None:
    assert reach.address_for_others(own) == "192.0.2.77:8501"


def test_a_server_that_listens_to_this_machine_only_keeps_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(config, "get_option", {"server.address": "127.0.0.1"}.get)
    assert reach.address_for_others("localhost:8501") == "localhost:8501"
