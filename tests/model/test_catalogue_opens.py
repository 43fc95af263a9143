"""Each model of the catalogue that reads texts has the size its published config.json describes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import transformers
from transformers import AutoConfig, PreTrainedConfig

from core.model import catalog
from core.model.running.network import build_with, count_numbers

CONFIGS: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parent / "catalogue_configs.json").read_text("utf-8")
)
SPECS = {spec.name: spec for spec in catalog.reading("text") if not spec.bundled}


def config_of(settings: dict[str, Any]) -> PreTrainedConfig:
    config: PreTrainedConfig = AutoConfig.for_model(**settings)
    return config


def class_of(config: PreTrainedConfig) -> Any:
    assert config.architectures is not None
    return getattr(transformers, config.architectures[0])


def test_every_model_has_its_published_config() -> None:
    assert set(CONFIGS) == set(SPECS)


@pytest.mark.parametrize("name", SPECS)
def test_the_size_is_that_of_the_weights_that_the_config_describes(name: str) -> None:
    """Some files hold a little more: masks (GPT-2, Pythia), or tied weights twice (Qwen3)."""
    config = config_of(CONFIGS[name])
    weights = count_numbers(build_with(class_of(config)._from_config, config, "eager"))
    assert 0.78 * SPECS[name].weights < weights < 1.01 * SPECS[name].weights
