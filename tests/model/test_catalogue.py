"""Each model of the catalogue has the size its published config.json describes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import transformers
from transformers import AutoConfig

from core.model.opening import catalog
from core.model.running.network import build_with, count_numbers

_TINY = {"hidden_size": 192, "num_attention_heads": 3, "intermediate_size": 768}
_SMALL = {"hidden_size": 384, "num_attention_heads": 6}
_DINO = _SMALL | {"image_size": 518, "patch_size": 14}
_VIT = {"model_type": "vit", "architectures": ["ViTForImageClassification"], "num_labels": 1000}
# Of models of images: what the published config.json sets; the rest is transformers' default.
IMAGES: dict[str, dict[str, Any]] = {
    "vit-base-patch16-224": _VIT,
    "deit-tiny-patch16-224": _VIT | _TINY,
    "deit-small-patch16-224": _VIT | _SMALL | {"intermediate_size": 1536},
    "dinov2-small": _DINO | {"model_type": "dinov2", "architectures": ["Dinov2Model"]},
    "dinov2-with-registers-small": _DINO
    | {"model_type": "dinov2_with_registers", "architectures": ["Dinov2WithRegistersModel"]},
    "clip-vit-base-patch32": {"model_type": "clip", "architectures": ["CLIPModel"]},
}
TEXTS: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parent / "catalogue_configs.json").read_text("utf-8")
)
CONFIGS = TEXTS | IMAGES
SPECS = {spec.name: spec for spec in catalog.CATALOG if not spec.bundled}


def test_every_model_has_its_published_config() -> None:
    assert set(CONFIGS) == set(SPECS)


@pytest.mark.parametrize("name", SPECS)
def test_the_size_is_that_of_the_weights_that_the_config_describes(name: str) -> None:
    """Some files hold a little more: masks (GPT-2, Pythia), or tied weights twice (Qwen3)."""
    config: Any = AutoConfig.for_model(**CONFIGS[name])
    network: Any = getattr(transformers, config.architectures[0])
    numbers = count_numbers(build_with(network._from_config, config, "eager"))
    assert (0.99 if name in IMAGES else 0.78) < numbers / SPECS[name].weights < 1.01


def test_texts_and_images_share_the_catalogue_between_them() -> None:
    texts, images = catalog.reading("text"), catalog.reading("image")
    names = [spec.name for spec in (*texts, *images)]
    assert sorted(names) == sorted(spec.name for spec in catalog.CATALOG)
    assert {spec.group for spec in images} == {"vision"}


def test_a_hub_id_finds_its_entry() -> None:
    spec = catalog.find("openai/clip-vit-base-patch32")
    assert spec is not None
    assert (spec.name, spec.modality) == ("clip-vit-base-patch32", "image")
