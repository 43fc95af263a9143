"""Tiny random translators, saved with tokenizers of their own families."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
import transformers

from tests.model.families import SEED, stirred

if TYPE_CHECKING:
    from pathlib import Path

    from transformers import PreTrainedModel

_WORDS = ["▁the", "▁cat", "▁mat", "▁sat"]
_LETTERS = ["▁", *"thecams"]
_SIZES = {
    **{f"{part}_{name}": size for part in ("encoder", "decoder") for name, size in (
        ("layers", 2), ("attention_heads", 2), ("ffn_dim", 32))},
    "d_model": 16,
    "max_position_embeddings": 64,
}  # fmt: skip


class Translator(NamedTuple):
    """A family: its classes of transformers, and three of its languages."""

    network: str
    tokenizer: str
    languages: tuple[str, str, str]


_MBART_LANGUAGES = ("en_XX", "de_DE", "ro_RO")
TRANSLATORS = {
    "nllb": Translator("M2M100", "NllbTokenizer", ("eng_Latn", "deu_Latn", "fra_Latn")),
    "mbart": Translator("MBart", "MBartTokenizer", _MBART_LANGUAGES),
    "mbart50": Translator("MBart", "MBart50Tokenizer", _MBART_LANGUAGES),
}


def build_translator(kind: str, folder: Path) -> tuple[PreTrainedModel, tuple[str, str, str]]:
    """Save a network and its tokenizer, from the first language to the second.

    Returns the network, in evaluation mode, and three languages.
    """
    family = TRANSLATORS[kind]
    source, target, _ = family.languages
    tokenizer = getattr(transformers, family.tokenizer)(
        vocab=_vocabulary(kind), src_lang=source, tgt_lang=target
    )
    config = getattr(transformers, f"{family.network}Config")(
        vocab_size=len(tokenizer),
        decoder_start_token_id=tokenizer.convert_tokens_to_ids(
            target if kind == "mbart" else "</s>"
        ),
        **_SIZES,
    )
    torch.manual_seed(SEED)
    kind_of_network = getattr(transformers, f"{family.network}ForConditionalGeneration")
    network = stirred(kind_of_network._from_config(config, attn_implementation="eager"), 0.3)
    network.generation_config.max_length = None
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    (folder / "generation_config.json").unlink()
    return network, family.languages


def _vocabulary(kind: str) -> Any:
    """Pieces as each class takes them: its special tokens first."""
    named = ["<s>", "<pad>", "</s>", "<unk>"]
    if kind == "nllb":
        return {piece: place for place, piece in enumerate([*named, *_LETTERS, *_WORDS])}
    module: Any = sys.modules[getattr(transformers, TRANSLATORS[kind].tokenizer).__module__]
    pieces = [*named, *_LETTERS, *_WORDS, *module.FAIRSEQ_LANGUAGE_CODES, "<mask>"]
    return [(piece, 0.0 if piece in named else -float(len(piece) < 3) - 1) for piece in pieces]
