"""Choosing a model: what is offered, what is refused, what stays usable."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

import pytest
import torch

from core.model import CATALOG, load, loading
from core.model.catalog import bundled_folder
from core.model.downloading import downloads, hub
from core.model.errors import NotDownloadedError, OutOfMemoryError
from core.ui import cache
from core.ui.frame import model_chip
from tests.model.families import FAMILIES, build
from tests.opening import open_app
from tests.pages.conftest import alerts, model_facts, pick

if TYPE_CHECKING:
    from pathlib import Path

NOVELS = bundled_folder(CATALOG[1])


def test_what_was_loaded_is_said_behind_the_name() -> None:
    facts = model_facts(open_app())
    assert "6 layers × 12 heads × 32 dims" in facts
    assert "22.7 M parameters" in facts
    error = re.search(r"\*\*Numbers checked\*\* \(error below (0\.0*1)\)", facts)
    assert error is not None
    assert float(error[1]) / 10 <= load("bundled/minilm").probe_error < float(error[1])


def test_the_box_says_how_a_model_reads_and_what_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Llama 3.2 1B takes 6.2 GB of memory, Qwen3 0.6B 3.8."""
    model_chip._model_label.cache_clear()
    monkeypatch.setattr(model_chip, "available_bytes", lambda: 6_000_000_000)
    monkeypatch.setattr(model_chip, "is_local", lambda spec: spec.name == "gpt2")
    options = open_app().selectbox(key="model").options
    model_chip._model_label.cache_clear()
    assert options[:3] == [
        "↔ bundled/minilm",
        "→ bundled/gpt2-novels",
        "↔ bert-base-uncased · 440 MB",
    ]
    for label in (
        "→ gpt2 · here",
        "→ gemma-3-270m · 536 MB · licence",
        "→ Qwen3-0.6B · 1.5 GB",
        "→ Llama-3.2-1B · too large here",
        "↔ xlm-roberta-base · 1.1 GB",
        "↔→ t5-small · 242 MB",
    ):
        assert label in options


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


def test_a_folder_that_is_opened_is_not_said_to_stand_in_for_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(NOVELS.parent)
    app = open_app("heatmap", model=NOVELS.name)
    assert not app.error
    assert "4 layers × 4 heads" in model_facts(app)
    assert "Shown instead" not in model_facts(app)


def test_a_slow_load_does_not_hold_up_those_whose_model_is_loaded() -> None:
    open_app("heatmap")
    with loading._LOAD_LOCK:  # as while another visitor's model is loaded
        app = open_app("heatmap", text="Another text.")
    assert "6 layers × 12 heads" in model_facts(app)


def test_what_a_folder_holds_and_is_not_used_is_said_on_the_page(tmp_path: Path) -> None:
    folder = build(FAMILIES["bert"], tmp_path)
    (folder / "adapter_config.json").write_text("{}")
    app = open_app("heatmap", model=str(folder))
    assert "is not applied: merge it with PEFT" in alerts(app)


def test_a_sheet_made_for_a_model_that_cannot_be_had_is_told_in_one_line() -> None:
    app = open_app("heatmap", model="bert-base-uncased")
    assert not app.error
    (line,) = app.warning
    assert line.value.startswith(
        "**This is MiniLM (6 layers, 12 heads): a sheet made for `bert-base-uncased` has other"
    )
