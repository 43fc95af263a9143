"""Choosing a model: what is offered, what is refused, what stays usable."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

import pytest
import torch

from core.model import loading
from core.model.downloading import downloads, hub
from core.model.errors import NotDownloadedError, OutOfMemoryError
from core.ui import cache
from tests.model.families import FAMILIES, build
from tests.opening import open_app
from tests.pages.conftest import alerts, model_facts, pick

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
    monkeypatch.setattr("core.model.loading.pick_device", lambda: next(devices))
    facts = model_facts(open_app(model=folder))
    half = (switch, device) == ("1", "cuda")
    assert ("**Numbers checked in bfloat16**" in facts) == half
    assert ("**Numbers checked** (error" in facts) != half


def test_a_hub_out_of_reach_is_told_and_the_picture_stays() -> None:
    app = open_app("heatmap", model="somebody/some-model")
    assert "The model hub did not answer" in alerts(app)
    assert "6 layers × 12 heads" in model_facts(app)


def test_a_model_that_must_be_downloaded_is_not_fetched_by_a_link(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files = (("model.safetensors", 440_000_000),)
    monkeypatch.setattr(hub, "ask", lambda repo, _token: hub.HubModel(repo, "a" * 40, files))
    monkeypatch.setattr(downloads, "join", lambda *_: pytest.fail("a link started a download"))
    app = open_app("heatmap", model="bert-base-uncased")
    if not app.warning:
        pytest.skip("bert-base-uncased is in the local cache")
    assert "440 MB must be downloaded" in alerts(app)
    assert [button.label for button in app.button if button.key == "model_way_out"] == ["Download"]


def test_memory_that_runs_out_while_loading_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(name: str) -> None:
        raise OutOfMemoryError("{name} needs about 9000 MB of memory.", "Pick another.", name)

    working = cache.model
    monkeypatch.setattr(
        cache,
        "model",
        lambda name, *modality: fails(name) if name == "large" else working(name, *modality),
    )
    app = open_app("heatmap", model="large")
    assert "needs about 9000 MB of memory" in alerts(app)
    assert "6 layers × 12 heads" in model_facts(app)


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


def test_a_restricted_site_offers_only_its_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADSCOPE_MODELS", "bundled/minilm")
    app = open_app("heatmap", model="gpt2")
    assert "asks for model `gpt2`. This site offers: `bundled/minilm`." in alerts(app)
    assert app.selectbox(key="model").options == ["↔ bundled/minilm"]
    assert "6 layers × 12 heads" in model_facts(app)


def test_a_slow_load_does_not_hold_up_those_whose_model_is_loaded() -> None:
    open_app("heatmap")
    with loading._LOAD_LOCK:  # as while another visitor's model is loaded
        app = open_app("heatmap", text="Another text.")
    assert "6 layers × 12 heads" in model_facts(app)
