"""A type's tiny network with enlarged random weights, saved as people publish models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from safetensors.torch import save_file

from tests.model.families import HIDDEN, SEED, SPREAD, VOCABULARY, wordpiece
from tests.model.sweep.overrides import WITHOUT_NETWORK
from tests.model.sweep.sizes import networks, tiny_config

if TYPE_CHECKING:
    from pathlib import Path

    from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerFast


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
    torch.manual_seed(SEED)
    try:
        network = network_class._from_config(config)
    except (ImportError, AttributeError):
        if kind not in WITHOUT_NETWORK:
            raise
        config.save_pretrained(folder)
        save_file({"weight": torch.zeros(1)}, folder / "model.safetensors")
    else:
        enlarge(network)
        network.save_pretrained(folder)
    tokenizer_for(config).save_pretrained(folder)


def build_causal(kind: str, folder: Path) -> None:
    """Save the type's network with its head for words and a fast tokenizer into the folder."""
    from transformers import AutoModelForCausalLM

    config = tiny_config(kind)
    config.tie_word_embeddings = False
    torch.manual_seed(SEED)
    network = AutoModelForCausalLM.from_config(config)
    enlarge(network)
    network.save_pretrained(folder)
    tokenizer_for(config).save_pretrained(folder)


def enlarge(network: PreTrainedModel) -> None:
    """Weights spread as in `tests.model.families`: attention far from uniform, yet not one-hot.

    Biases start at zero and norms at one, which hides mistakes, so they are moved a little.
    """
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if not parameter.is_floating_point():
                continue
            noise = torch.randn(parameter.shape).to(parameter.dtype)
            if parameter.ndim >= 2:
                # T5 does not scale its scores; its queries begin smaller instead.
                smaller = HIDDEN**-0.5 if name.endswith(".q.weight") else 1
                parameter.copy_(noise * SPREAD * smaller)
            else:
                parameter.add_(noise * 0.1)


def tokenizer_for(config: PreTrainedConfig) -> PreTrainedTokenizerFast:
    """[CLS] A [SEP] B [SEP], with segment ids only where the network tells segments apart."""
    tokenizer = wordpiece()
    assert len(tokenizer) < VOCABULARY
    segments = getattr(getattr(config, "text_config", config), "type_vocab_size", None)
    if not isinstance(segments, int) or segments < 2:
        tokenizer.model_input_names = ["input_ids", "attention_mask"]
    return tokenizer
