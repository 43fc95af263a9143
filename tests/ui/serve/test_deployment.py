"""Settings of a deployment."""

from __future__ import annotations

import pytest
import streamlit as st

from core.model.opening import catalog, hub
from core.ui.serve import access
from core.ui.serve.access import read_offer

CATALOGUE = tuple(spec.name for spec in catalog.reading("text"))


@pytest.mark.parametrize(
    ("setting", "names", "any_hub_id"),
    [
        ("", (), False),
        (" , ", (), False),
        (" gpt2, bundled/minilm ,gpt2", ("gpt2", "bundled/minilm"), False),
        (" Catalogue ", CATALOGUE, False),
        ("ANY", CATALOGUE, True),
        ("my/model, catalogue", ("my/model", *CATALOGUE), False),
        ("my/model,any", ("my/model", *CATALOGUE), True),
        ("anything", ("anything",), False),
    ],
)
def test_an_operator_lists_models(setting: str, names: tuple[str, ...], any_hub_id: bool) -> None:
    assert read_offer(setting) == (names, any_hub_id)


def test_a_model_that_becomes_private_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was public when it was asked about first, which counts for a while only."""
    asked, now = list[str](), [0.0]
    monkeypatch.setattr(hub, "ask", lambda repo, **_: asked.append(repo))
    monkeypatch.setattr("streamlit.runtime.caching.cache_utils.TTLCACHE_TIMER", lambda: now[0])
    st.cache_resource.clear()  # begins anew, with this clock
    for now[0] in (0.0, access.PUBLIC_SECONDS / 2, access.PUBLIC_SECONDS + 1):
        access._check_public("some/model")
    st.cache_resource.clear()
    assert asked == ["some/model"] * 2
