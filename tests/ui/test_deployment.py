"""Settings of a deployment; a server has files enough."""

from __future__ import annotations

from unittest.mock import Mock

import pytest
import streamlit as st

from core.model.opening import catalog, hub
from core.ui.serve import access, deployment
from core.ui.serve.access import read_offer

CATALOGUE = tuple(spec.name for spec in catalog.reading("text"))
OFFERS: dict[str, tuple[tuple[str, ...], bool]] = {  # names, and whether any id of the hub
    "": ((), False),
    " gpt2, bundled/minilm ,gpt2": (("gpt2", "bundled/minilm"), False),
    " Catalogue ": (CATALOGUE, False),
    "ANY": (CATALOGUE, True),
    "my/model, catalogue": (("my/model", *CATALOGUE), False),
    "anything": (("anything",), False),
}


def test_an_operator_lists_models() -> None:
    assert {setting: read_offer(setting) for setting in OFFERS} == OFFERS


def test_a_missing_file_of_secrets_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    look = Mock(return_value=False)
    monkeypatch.setattr(st.secrets, "load_if_toml_exists", look)
    deployment._has_secrets.cache_clear()
    assert deployment.setting("TOKENS") is deployment.setting("FOLDERS") is None
    look.assert_called_once()
    monkeypatch.setenv("HEADSCOPE_TOKENS", "7")
    assert deployment.setting("TOKENS") == "7"


def test_a_model_that_becomes_private_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was public when it was asked about first, which counts for a while only."""
    asked, now = list[str](), [0.0]
    monkeypatch.setattr(hub, "look_up", lambda repo, **_: asked.append(repo))
    monkeypatch.setattr("streamlit.runtime.caching.cache_utils.TTLCACHE_TIMER", lambda: now[0])
    st.cache_resource.clear()  # begins anew, with this clock
    for now[0] in (0.0, access.PUBLIC_SECONDS / 2, access.PUBLIC_SECONDS + 1):
        access._check_public("some/model")
    st.cache_resource.clear()
    assert asked == ["some/model"] * 2


def test_as_many_files_may_be_open_as_visits_need() -> None:
    """Streamlit keeps three of each visit for two minutes: the 82nd was refused with 256."""
    resource = pytest.importorskip("resource", reason="no such limit on Windows")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
    try:
        deployment.allow_descriptors()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert hard == before[1]
    assert soft == min(deployment.DESCRIPTORS, hard if hard > 0 else deployment.DESCRIPTORS)
