"""Tiny random networks saved with their language-model heads, as people publish them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import PreTrainedModel

from tests.model.families import FAMILIES, SEED, stirred

DECODERS = {
    "gpt2": "GPT2LMHeadModel",
    "gpt_neox": "GPTNeoXForCausalLM",  # its head is not tied
    "opt": "OPTForCausalLM",
    "llama": "LlamaForCausalLM",
    "mistral": "MistralForCausalLM",
    "gemma2": "Gemma2ForCausalLM",  # its head bounds what it says
    "bloom": "BloomForCausalLM",  # its attention is watched
}
MASKED = {
    "bert": "BertForMaskedLM",
    "roberta": "RobertaForMaskedLM",
    "distilbert": "DistilBertForMaskedLM",
    "electra": "ElectraForMaskedLM",
    "albert": "AlbertForMaskedLM",
    "modernbert": "ModernBertForMaskedLM",
    "deberta-v2": "DebertaV2ForMaskedLM",
}
ANSWERING = {"t5": "T5ForConditionalGeneration", "bart": "BartForConditionalGeneration"}
WITH_HEAD = DECODERS | MASKED | ANSWERING


def build_with_head(
    name: str, kind: str, folder: Path, *, stir: float = 0.0, **settings: Any
) -> PreTrainedModel:
    """Save a family's network as that class of transformers; returns it, in evaluation mode.

    `stir` is the standard deviation of what is added to its matrices.
    """
    family = FAMILIES[name]
    config = family.configured(**settings)
    torch.manual_seed(SEED)
    network = getattr(transformers, kind)._from_config(config, attn_implementation="eager")
    network = stirred(network, matrices=stir)
    network.save_pretrained(folder)
    family.tokenizer().save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    return network
