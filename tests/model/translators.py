"""Tiny random translators, saved with tokenizers of their own families."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import PreTrainedModel

from tests.model.families import SEED, Family, stirred

_WORDS = ["▁the", "▁cat", "▁mat", "▁sat"]
_PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁", *"thecams", *_WORDS]
_SCORED = [(each, 0.0 if each in _PIECES[:4] else -float(len(each) < 3) - 1) for each in _PIECES]
_MBART = ("en_XX", "de_DE", "ro_RO")
# The type, classes of network and tokenizer, and three of the languages.
TRANSLATORS = {
    "nllb": ("m2m_100", "M2M100", "NllbTokenizer", ("eng_Latn", "deu_Latn", "fra_Latn")),
    "mbart": ("mbart", "MBart", "MBartTokenizer", _MBART),
    "mbart50": ("mbart", "MBart", "MBart50Tokenizer", _MBART),
}


def build_translator(name: str, folder: Path) -> tuple[PreTrainedModel, tuple[str, str, str]]:
    """Save a network and its tokenizer, from the first language to the second.

    Returns the network, in evaluation mode, and three languages.
    """
    kind, network_class, tokenizer_class, languages = TRANSLATORS[name]
    source, target, _ = languages
    make: Any = getattr(transformers, tokenizer_class)
    vocabulary: Any = {piece: place for place, piece in enumerate(_PIECES)}
    if kind == "mbart":
        codes = sys.modules[make.__module__].FAIRSEQ_LANGUAGE_CODES  # type: ignore[attr-defined]
        vocabulary = _SCORED + [(piece, -1.0) for piece in (*codes, "<mask>")]
    tokenizer = make(vocab=vocabulary, src_lang=source, tgt_lang=target)
    start = tokenizer.convert_tokens_to_ids(target if name == "mbart" else "</s>")
    settings = {"vocab_size": len(tokenizer), "decoder_start_token_id": start}
    config = Family(name, kind, lambda: tokenizer, settings, layers=2).configured()
    torch.manual_seed(SEED)
    make = getattr(transformers, f"{network_class}ForConditionalGeneration")
    network = stirred(make._from_config(config, attn_implementation="eager"), 0)
    network.generation_config.max_length = None
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    (folder / "generation_config.json").unlink()
    return network, languages
