"""Choosing a model: what is offered, what is refused, what stays usable."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

import pytest
import torch

from core.model.errors import NotDownloadedError
from core.model.opening import load as loading
from core.ui import cache
from tests.model.families import FAMILIES, build
from tests.opening import open_app
from tests.pages.conftest import model_facts, pick

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("switch", "device"), [("1", "cuda"), ("0", "cuda"), ("1", "cpu")])
def test_half_precision_needs_the_switch_and_a_card_and_is_said(
    switch: str, device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The card is only said to be there: the network runs on the processor."""
    folder = str(build(replace(FAMILIES["llama"], dtype=torch.bfloat16), tmp_path))
    monkeypatch.setenv("HEADSCOPE_HALF", switch)
    devices = chain([device], repeat("cpu"))  # for the decision, and for the load itself
    monkeypatch.setattr("core.model.opening.load.pick_device", lambda: next(devices))
    facts = model_facts(open_app(model=folder))
    half = (switch, device) == ("1", "cuda")
    assert ("**Numbers checked in bfloat16**" in facts) == half
    assert ("**Numbers checked** (error" in facts) != half


def test_a_failure_is_remembered_until_someone_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    working = cache.model

    def counted(name: str, *modality: Any) -> object:
        if name != "gone/model":
            return working(name, *modality)
        asked.append(name)
        raise NotDownloadedError("{name} is not here.", "Download it.", name)

    monkeypatch.setattr(cache, "model", counted)
    app = open_app("heatmap", model="gone/model")
    pick(app, layer="2")
    pick(app, layer="3")
    assert asked == ["gone/model"]


def test_a_slow_load_does_not_hold_up_those_whose_model_is_loaded() -> None:
    open_app("heatmap")
    with loading._LOAD_LOCK:  # as while another visitor's model is loaded
        app = open_app("heatmap", text="Another text.")
    assert "6 layers × 12 heads" in model_facts(app)
