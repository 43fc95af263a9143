"""Settings of a deployment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import streamlit as st

from core.model import catalog
from core.model.downloading import hub
from core.ui.serve import access
from core.ui.serve.access import read_offer

ROOT = Path(__file__).parents[3]
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


def test_threads_of_a_pass_sleep_while_they_wait() -> None:
    """As OpenMP says when PyTorch is imported, which the app's first page does later."""
    opened = "from streamlit.testing.v1 import AppTest; AppTest.from_file('app.py').run(timeout=60)"
    done = subprocess.run(
        [sys.executable, "-c", f"{opened}; import torch"],
        cwd=ROOT,
        env={k: v for k, v in os.environ.items() if k != "OMP_WAIT_POLICY"}
        | {"OMP_DISPLAY_ENV": "true"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "OMP_WAIT_POLICY = 'PASSIVE'" in done.stderr
