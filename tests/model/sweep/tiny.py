"""A type's tiny network with enlarged random weights, saved as people publish models."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, PreTrainedConfig, PreTrainedModel, TokenizersBackend

from tests.model.families import HIDDEN, SEED, SPREAD, VOCABULARY, stirred, wordpiece
from tests.model.sweep.sizes import WITHOUT_NETWORK, networks, tiny_config


def build(kind: str, folder: Path, **changes: Any) -> None:
    """Save the type's network and a fast tokenizer into the folder.

    `changes` replace settings of its tiny configuration.

    Where transformers cannot build the network (a package is missing, or it has a fault), one
    tensor stands for the weights: a visitor may have such a folder, and the app must say why not.
    """
    config = tiny_config(kind)
    if changes:
        config = type(config).from_dict(config.to_dict() | changes)
    network_class = networks(kind)[0]
    config.architectures = [network_class.__name__]  # as in published folders
    try:
        _save(network_class._from_config, config, folder)
    except (ImportError, AttributeError):
        if kind not in WITHOUT_NETWORK:
            raise
        config.save_pretrained(folder)
        save_file({"weight": torch.zeros(1)}, folder / "model.safetensors")
        tokenizer_for(config).save_pretrained(folder)


def build_causal(kind: str, folder: Path) -> None:
    """Save the type's network with its head for words and a fast tokenizer into the folder."""
    config = tiny_config(kind)
    config.tie_word_embeddings = False
    _save(AutoModelForCausalLM.from_config, config, folder)


def _save(
    make: Callable[[PreTrainedConfig], PreTrainedModel], config: PreTrainedConfig, folder: Path
) -> None:
    torch.manual_seed(SEED)
    network = stirred(make(config), SPREAD)
    for name, parameter in network.named_parameters():
        if name.endswith(".q.weight"):  # T5 does not scale its scores; its queries begin smaller
            parameter.data *= HIDDEN**-0.5
    network.save_pretrained(folder)
    tokenizer_for(config).save_pretrained(folder)


def tokenizer_for(config: PreTrainedConfig) -> TokenizersBackend:
    """[CLS] A [SEP] B [SEP], with segment ids only where the network tells segments apart."""
    segments = getattr(getattr(config, "text_config", config), "type_vocab_size", None)
    tokenizer = wordpiece(segments=isinstance(segments, int) and segments > 1)
    assert len(tokenizer) < VOCABULARY
    return tokenizer
