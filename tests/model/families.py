"""Tiny random models of many families, each saved with a fast tokenizer, as people publish them."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from _pytest.mark import ParameterSet
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    AutoModel,
    BertTokenizer,
    GPT2Tokenizer,
    PreTrainedConfig,
    PreTrainedModel,
    Qwen2Tokenizer,
    RobertaTokenizer,
    TokenizersBackend,
    XLMRobertaTokenizer,
)

SENTENCES = (
    "Oh, this book? I've enjoyed it.",
    "The cat sat on the mat because it was tired of the long, long walk home.",
    "Where is it?",
    "Numbers such as 3.14 and 2024 split; so do naïve, café and Zürich.",
    "A bank by the river is not the bank that lends you money.",
    "She said that he said that they said nothing at all.",
)
PAIR = ("Oh, this book?", "I've enjoyed it, and the cat enjoyed it too.")

VOCABULARY = 320
HEADS = 4
HIDDEN = 32
LAYERS = 3
WINDOW = 4  # tokens; shorter than every sentence, so that a missing window shows
SPREAD = 0.3  # standard deviation of the weights: attention far from uniform, yet not one-hot
SEED = 20240917


# ---- tokenizers -------------------------------------------------------------------------------


def wordpiece(segments: bool = True, padded: bool = False) -> TokenizersBackend:
    """BERT's tokenizer: [CLS] A [SEP] B [SEP], with segment ids 0 and 1.

    Some networks take no segment ids. Sentence-transformers publish tokenizers that pad every text
    unless told not to.
    """
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    steps: Any = BertTokenizer().backend_tokenizer
    text = steps.normalizer.normalize_str(" ".join((*SENTENCES, *PAIR)))
    words = {word for word, _ in steps.pre_tokenizer.pre_tokenize_str(text)}
    letters = set("".join(words))
    pieces = letters | {"##" + letter for letter in letters}
    pieces |= {word for word in words if len(word) <= 5}  # longer ones fall into pieces
    vocabulary = {piece: index for index, piece in enumerate([*specials, *sorted(pieces)])}
    tokenizer = BertTokenizer(vocab=vocabulary)
    if padded:
        tokenizer.backend_tokenizer.enable_padding(pad_id=0, pad_token="[PAD]", length=40)
    return _without_class(tokenizer, ["token_type_ids"] * segments)


def byte_level(
    padding_side: str = "right",
    pad: bool = True,
    start: bool = False,
    limit: int | None = None,
) -> TokenizersBackend:
    """GPT-2's byte-level BPE; `start` puts a token first, as LLaMA 3 and OPT do.

    The published GPT-2 names no padding token; decoders are often published with it on the left. Of
    a network that takes any length, the tokenizer says where to stop.
    """
    pairs = _pairs_of_bytes(_END, "<pad>")
    tokenizer = GPT2Tokenizer(**pairs, pad_token="<pad>" if pad else None)
    if start:
        tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{_END} $A", pair=f"{_END} $A {_END} $B", special_tokens=[(_END, 0)]
        )
    return _without_class(tokenizer, padding_side=padding_side, model_max_length=limit)


_END = "<|endoftext|>"


def qwen_bytes() -> TokenizersBackend:
    """Byte-level BPE over Qwen's own split of the text, which takes digits one by one."""
    pairs = _pairs_of_bytes(_END, "<pad>")
    return _without_class(Qwen2Tokenizer(**pairs, bos_token=_END, pad_token="<pad>"))


def roberta_bytes() -> TokenizersBackend:
    """RoBERTa's byte-level BPE: <s> A </s></s> B </s>, all in segment 0."""
    return _without_class(RobertaTokenizer(**_pairs_of_bytes(*_ROBERTA_SPECIALS)))


_ROBERTA_SPECIALS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")


def unigram() -> TokenizersBackend:
    """XLM-RoBERTa's sentence pieces, whose words begin with a visible blank."""
    core = Tokenizer(models.Unigram())
    core.normalizer = normalizers.NFKC()
    core.pre_tokenizer = pre_tokenizers.Metaspace()
    core.train_from_iterator(
        SENTENCES,
        trainers.UnigramTrainer(
            vocab_size=160, special_tokens=list(_ROBERTA_SPECIALS), unk_token="<unk>"
        ),
    )
    pieces = [tuple(each) for each in _model_of(core)["vocab"]]
    return _without_class(XLMRobertaTokenizer(vocab=pieces))


def _pairs_of_bytes(*specials: str) -> dict[str, Any]:
    """Vocabulary and merges of byte-level BPE."""
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=list(specials),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    core.train_from_iterator(SENTENCES, trainer)
    model = _model_of(core)
    return {"vocab": model["vocab"], "merges": [tuple(each) for each in model["merges"]]}


def _without_class(
    tokenizer: TokenizersBackend, more: Iterable[str] = (), **settings: Any
) -> TokenizersBackend:
    """The tokenizer as tokenizer.json has it, from which a class of its own takes but a part."""
    return TokenizersBackend(
        tokenizer_object=tokenizer.backend_tokenizer,
        model_input_names=["input_ids", *more, "attention_mask"],
        **tokenizer.special_tokens_map,
        **settings,
    )


def _model_of(core: Tokenizer) -> dict[str, Any]:
    model: dict[str, Any] = json.loads(core.to_str())["model"]
    return model


# ---- families ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Family:
    """What a tiny model is built from, and what its attention is known to be."""

    name: str
    kind: str  # as config.json names the type
    tokenizer: Callable[[], TokenizersBackend]
    settings: dict[str, Any] = field(default_factory=dict)  # where they differ from `sweep.sizes`
    pairs: bool = False  # the tokenizer has a template for two sentences
    dim: int = HIDDEN // HEADS
    limit: int = 64  # tokens the model takes
    layers: int = LAYERS
    dtype: torch.dtype = field(default=torch.float32)  # in which the weights are saved

    def configured(self, **changes: Any) -> PreTrainedConfig:
        """Its configuration, with ids as its tokenizer has them, and with `changes`."""
        from tests.model.sweep.sizes import config_class, tiny_settings

        kind, tokenizer = config_class(self.kind), self.tokenizer()
        ids = {f"{role}_token_id": getattr(tokenizer, f"{role}_token_id") for role in _ROLES}
        known = ids | dict.fromkeys(("initializer_range", "init_std"), SPREAD)
        names = known.keys() & {each.name for each in fields(kind)}
        own = {name: known[name] for name in names}
        return kind(**(tiny_settings(kind, self.layers) | own | self.settings | changes))


_ROLES = ("pad", "bos", "eos", "cls", "sep")
_WITHOUT_PAD, _PADDED_LEFT = partial(byte_level, pad=False), partial(byte_level, "left")
_STARTING, _LIMITED = partial(byte_level, start=True), partial(byte_level, limit=64)
_UNSEGMENTED, _SAVED_PADDING = partial(wordpiece, segments=False), partial(wordpiece, padded=True)
# Two rows are spent: positions start after the padding index.
_ROBERTA = {"max_position_embeddings": 66, "type_vocab_size": 1}
_SCALED = {"scale_attn_by_inverse_layer_idx": True}
_DEBERTA = {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]}
_PLAIN = {"attention_bias": False}
_GROUPED = {"num_key_value_heads": 2}  # two heads share a key head
_LLAMA, _QWEN3 = _PLAIN | _GROUPED, _PLAIN | _GROUPED | {"head_dim": 16}
_GEMMA2 = _PLAIN | {"query_pre_attn_scalar": 20}  # a scale that is not 1/sqrt(dim)
_GPT_OSS = {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}}

CAPTURED = (
    Family("bert", "bert", wordpiece, pairs=True),
    Family("roberta", "roberta", roberta_bytes, _ROBERTA, pairs=True),
    Family("distilbert", "distilbert", _UNSEGMENTED, pairs=True),
    Family("electra", "electra", wordpiece, {"embedding_size": 16}, pairs=True),
    Family("albert", "albert", wordpiece, {"embedding_size": 16}, pairs=True),
    Family("modernbert", "modernbert", _UNSEGMENTED, _PLAIN, pairs=True),
    Family("xlm-roberta", "xlm-roberta", unigram, _ROBERTA, pairs=True),
    Family("gpt2", "gpt2", byte_level),
    Family("gpt_neox", "gpt_neox", byte_level),
    Family("opt", "opt", _STARTING),
    Family("llama", "llama", _STARTING, _LLAMA),
    Family("qwen2", "qwen2", qwen_bytes, _GROUPED),
    Family("qwen3", "qwen3", qwen_bytes, _QWEN3, dim=16),
    Family("mistral", "mistral", _STARTING),
    Family("gemma2", "gemma2", byte_level, _GEMMA2),
    Family("phi", "phi", byte_level),
    # They compute attention themselves, and add terms for positions to its scores.
    Family("bloom", "bloom", _LIMITED, {"n_layer": LAYERS}),
    Family("deberta-v2", "deberta-v2", wordpiece, _DEBERTA, pairs=True),
    # Its softmax holds a learned sink beside the keys, so its rows sum to less than one.
    Family("gpt_oss", "gpt_oss", byte_level, _GPT_OSS),
    # The same architectures as people publish them, each with one thing out of the ordinary.
    Family("gpt2 without a pad token", "gpt2", _WITHOUT_PAD),
    Family("gpt2 padded left", "gpt2", _PADDED_LEFT),
    Family("gpt2 scaled by layer", "gpt2", byte_level, _SCALED),
    Family("mistral padded left", "mistral", _PADDED_LEFT),
    Family("bert with saved padding", "bert", _SAVED_PADDING),
    Family("distilbert with segment ids", "distilbert", wordpiece, pairs=True),
    Family("llama in half precision", "llama", byte_level, _LLAMA, dtype=torch.bfloat16),
)
_BART = {"decoder_start_token_id": 2, "forced_eos_token_id": None}
ENCODER_DECODERS = (
    Family("t5", "t5", roberta_bytes, {"decoder_start_token_id": 1}, layers=2),
    Family("bart", "bart", roberta_bytes, _BART, layers=2),
)
FAMILIES = {family.name: family for family in (*CAPTURED, *ENCODER_DECODERS)}


def build(family: Family, folder: Path, **changes: Any) -> Path:
    """Save the family's tiny network and its tokenizer into the folder; returns the folder.

    `changes` replace settings of its configuration.
    """
    torch.manual_seed(SEED)
    network = stirred(AutoModel.from_config(family.configured(**changes)), 0)
    network.to(family.dtype)  # type: ignore[arg-type]
    network.save_pretrained(folder)
    family.tokenizer().save_pretrained(folder)
    return folder


def stirred(network: PreTrainedModel, matrices: float, vectors: float = 0.1) -> PreTrainedModel:
    """The network in evaluation mode, with noise of these standard deviations on its weights.

    Biases start at zero and norms at one, which hides mistakes; fresh matrices of networks with a
    head often make them say the same whatever they read.
    """
    with torch.no_grad():
        for parameter in network.parameters():
            spread = vectors if parameter.ndim == 1 else matrices
            if spread and parameter.is_floating_point():
                parameter.add_(torch.randn_like(parameter) * spread)
    return network.eval()


def nightly(names: Iterable[str], *, but: Collection[str]) -> list[ParameterSet]:
    """The names as parameters of a test, which only at night runs for more than those of `but`."""
    return [pytest.param(n, marks=() if n in but else pytest.mark.nightly) for n in names]


Weights = dict[str, torch.Tensor]


def rewrite(folder: Path, change: Callable[[Weights], Weights]) -> Path:
    """Change the saved weights; returns the folder."""
    path = folder / "model.safetensors"
    before = load_file(path)
    after = change(before)
    assert any(after.get(name) is not each for name, each in before.items())
    save_file(after, path, {"format": "pt"})
    return folder


def without(part: str) -> Callable[[Weights], Weights]:
    """The change that leaves out tensors with this part in their names."""
    return lambda weights: {name: each for name, each in weights.items() if part not in name}


def changed(
    part: str, change: Callable[[torch.Tensor], torch.Tensor]
) -> Callable[[Weights], Weights]:
    """The change of every tensor with this part in its name."""
    return lambda weights: {
        name: change(each).contiguous() if part in name else each for name, each in weights.items()
    }
