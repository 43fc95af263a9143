"""The catalogue's models of images: sizes by their published settings, and who is offered them."""

from __future__ import annotations

from typing import Any

import pytest
import transformers

from core.model import catalog
from core.model.running.network import build_with, count_numbers

_TINY = {"hidden_size": 192, "num_attention_heads": 3, "intermediate_size": 768}
_SMALL = {"hidden_size": 384, "num_attention_heads": 6}
_DINO = _SMALL | {"image_size": 518, "patch_size": 14}
# Class, configuration, and what the published config.json sets; the rest is transformers' default.
PUBLISHED: dict[str, tuple[str, str, dict[str, Any]]] = {
    "vit-base-patch16-224": ("ViTForImageClassification", "ViTConfig", {"num_labels": 1000}),
    "deit-tiny-patch16-224": (
        "ViTForImageClassification",
        "ViTConfig",
        _TINY | {"num_labels": 1000},
    ),
    "deit-small-patch16-224": (
        "ViTForImageClassification",
        "ViTConfig",
        _SMALL | {"intermediate_size": 1536, "num_labels": 1000},
    ),
    "dinov2-small": ("Dinov2Model", "Dinov2Config", _DINO),
    "dinov2-with-registers-small": (
        "Dinov2WithRegistersModel",
        "Dinov2WithRegistersConfig",
        _DINO,
    ),
    "clip-vit-base-patch32": ("CLIPModel", "CLIPConfig", {}),
}


def test_every_model_of_images_has_its_published_settings_here() -> None:
    downloaded = {spec.name for spec in catalog.reading("image") if not spec.bundled}
    assert downloaded == set(PUBLISHED)


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_size_is_that_of_the_weights_that_the_settings_describe(name: str) -> None:
    network, config, settings = PUBLISHED[name]
    empty = build_with(
        getattr(transformers, network)._from_config,
        getattr(transformers, config)(**settings),
        "eager",
    )
    spec = catalog.find(name)
    assert spec is not None
    assert 0.99 * spec.weights < count_numbers(empty) < 1.01 * spec.weights


def test_texts_and_images_share_the_catalogue_between_them() -> None:
    texts, images = catalog.reading("text"), catalog.reading("image")
    assert not {spec.name for spec in texts} & {spec.name for spec in images}
    every = {spec.name for spec in catalog.CATALOG}
    assert {spec.name for spec in (*texts, *images)} == every
    assert {spec.group for spec in images} == {"vision"}


def test_a_hub_id_finds_its_entry() -> None:
    spec = catalog.find("openai/clip-vit-base-patch32")
    assert spec is not None
    assert (spec.name, spec.modality) == ("clip-vit-base-patch32", "image")
