"""Each model of the catalogue, by its published config.json: its size, and a small copy that opens.

The copies have random weights. What only costs time is smaller: words, layers and widths. The rest
is as published: the ratio of heads to key heads, windows, kinds of layers, rotary settings.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import transformers
from transformers import AutoConfig, PreTrainedConfig

from core.model import catalog
from core.model.running.network import build_with, count_numbers
from tests.model.families import VOCABULARY

CONFIGS: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parent / "catalogue_configs.json").read_text("utf-8")
)
SPECS = {spec.name: spec for spec in catalog.reading("text") if not spec.bundled}
HEAD_DIM = 8  # of a small copy
WIDTHS = re.compile(
    r"hidden_size$|intermediate_size|^d_(model|kv|ff)$|_ffn_dim|^dim$|^hidden_dim$|^n_embd$|^head_dim$"
    r"|^query_pre_attn_scalar$"
)
LAYERS = re.compile(r"^n_layers?$|^num_(hidden_)?layers$|^(en|de)coder_layers$")
TOKENS = {"pad": 0, "bos": 2, "cls": 2, "decoder_start": 2, "eos": 3, "sep": 3}
FORCED = {"forced_bos_token_id", "forced_eos_token_id"}  # of written text alone


def config_of(settings: dict[str, Any]) -> PreTrainedConfig:
    config: PreTrainedConfig = AutoConfig.for_model(**settings)
    return config


def class_of(config: PreTrainedConfig) -> Any:
    assert config.architectures is not None
    return getattr(transformers, config.architectures[0])


def head_width(settings: dict[str, Any]) -> int:
    """Dims of a head as published."""
    for name in ("head_dim", "d_kv"):
        if name in settings:
            return int(settings[name])
    widths = ("hidden_size", "n_embd", "dim", "d_model")
    heads = ("num_attention_heads", "n_head", "n_heads", "encoder_attention_heads")
    width, count = (
        next(settings[key] for key in keys if key in settings) for keys in (widths, heads)
    )
    return int(width // count)


def period(settings: dict[str, Any]) -> int:
    """After how many layers their kinds repeat, at least two."""
    kinds = settings.get("layer_types", [])
    counts = range(1, len(kinds) + 1)
    repeats = (n for n in counts if kinds == (kinds[:n] * len(kinds))[: len(kinds)])
    return max(2, next(repeats, 1), settings.get("global_attn_every_n_layers", 1))


def smaller(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings with fewer words, layers and dims, and the ids of a small tokenizer."""
    factor, layers = head_width(settings) // HEAD_DIM, period(settings)
    small = dict(settings, vocab_size=VOCABULARY)
    for name, value in settings.items():
        if LAYERS.search(name):
            small[name] = layers
        elif WIDTHS.search(name):
            small[name] = value // factor
        elif name == "layer_types":
            small[name] = value[:layers]
        elif name in FORCED:
            small[name] = None
        elif name.endswith("_token_id"):
            small[name] = TOKENS[name.removesuffix("_token_id")]
    return small


def test_every_model_has_its_published_config() -> None:
    assert set(CONFIGS) == set(SPECS)


@pytest.mark.parametrize("name", SPECS)
def test_the_size_is_that_of_the_weights_that_the_config_describes(name: str) -> None:
    """Some files hold a little more: masks (GPT-2, Pythia), or tied weights twice (Qwen3)."""
    config = config_of(CONFIGS[name])
    weights = count_numbers(build_with(class_of(config)._from_config, config, "eager"))
    assert 0.78 * SPECS[name].weights < weights < 1.01 * SPECS[name].weights
