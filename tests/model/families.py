"""Tiny random models of many families, each saved with a fast tokenizer, as people publish them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from tokenizers import (
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import AutoModel, PreTrainedModel, PreTrainedTokenizerFast

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from pathlib import Path

    from _pytest.mark import ParameterSet

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
QWEN_SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


# ---- tokenizers -------------------------------------------------------------------------------


def wordpiece(segments: bool = True, padded: bool = False) -> PreTrainedTokenizerFast:
    """A BERT-style tokenizer: [CLS] A [SEP] B [SEP], with segment ids 0 and 1.

    Some networks take no segment ids. Sentence-transformers publish tokenizers that pad every text
    unless told not to.
    """
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    normalizer, splitter = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    text = normalizer.normalize_str(" ".join((*SENTENCES, *PAIR)))
    words = {word for word, _ in splitter.pre_tokenize_str(text)}
    letters = set("".join(words))
    pieces = letters | {"##" + letter for letter in letters}
    pieces |= {word for word in words if len(word) <= 5}  # longer ones fall into pieces
    vocabulary = {piece: index for index, piece in enumerate([*specials, *sorted(pieces)])}
    core = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    core.normalizer = normalizer
    core.pre_tokenizer = splitter
    core.decoder = decoders.WordPiece()
    core.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(name, core.token_to_id(name)) for name in ("[CLS]", "[SEP]")],
    )
    if padded:
        core.enable_padding(pad_id=0, pad_token="[PAD]", length=40)
    return PreTrainedTokenizerFast(
        tokenizer_object=core,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_input_names=["input_ids", *["token_type_ids"] * segments, "attention_mask"],
    )


def byte_level(
    padding_side: str = "right",
    pad: bool = True,
    start: bool = False,
    limit: int | None = None,
) -> PreTrainedTokenizerFast:
    """A GPT-2-style byte-level BPE; `start` puts a token first, as LLaMA 3 and OPT do.

    The published GPT-2 names no padding token; decoders are often published with it on the left. Of
    a network that takes any length, the tokenizer says where to stop.
    """
    end = "<|endoftext|>"
    core = _byte_level_core([end, "<pad>"])
    if start:
        core.post_processor = processors.TemplateProcessing(
            single=f"{end} $A", pair=f"{end} $A {end} $B", special_tokens=[(end, 0)]
        )
    return PreTrainedTokenizerFast(
        tokenizer_object=core,
        bos_token=end,
        eos_token=end,
        pad_token="<pad>" if pad else None,
        padding_side=padding_side,
        model_max_length=limit,
        model_input_names=["input_ids", "attention_mask"],
    )


def qwen_bytes() -> PreTrainedTokenizerFast:
    """Byte-level BPE over Qwen's own split of the text, which takes digits one by one."""
    tokenizer = byte_level()
    core = tokenizer.backend_tokenizer
    core.normalizer = normalizers.NFC()
    core.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(QWEN_SPLIT), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    return tokenizer


def roberta_bytes() -> PreTrainedTokenizerFast:
    """RoBERTa's byte-level BPE: <s> A </s></s> B </s>, all in segment 0."""
    core = _byte_level_core(["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
    core.post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False
    )
    return _roberta_like(core)


def unigram() -> PreTrainedTokenizerFast:
    """XLM-RoBERTa's sentence pieces, whose words begin with a visible blank."""
    specials = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    core = Tokenizer(models.Unigram())
    core.normalizer = normalizers.NFKC()
    core.pre_tokenizer = pre_tokenizers.Metaspace()
    core.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=160, special_tokens=specials, unk_token="<unk>")
    core.train_from_iterator(SENTENCES, trainer)
    core.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B:0 </s>:0",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    return _roberta_like(core)


def _byte_level_core(specials: list[str]) -> Tokenizer:
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=specials,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    core.train_from_iterator(SENTENCES, trainer)
    return core


def _roberta_like(core: Tokenizer) -> PreTrainedTokenizerFast:
    return PreTrainedTokenizerFast(
        tokenizer_object=core,
        bos_token="<s>",
        cls_token="<s>",
        eos_token="</s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token="<mask>",
        model_input_names=["input_ids", "attention_mask"],
    )


# ---- families ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Family:
    """What a tiny model is built from, and what its attention is known to be."""

    name: str
    config: str  # class of transformers
    settings: dict[str, Any]
    tokenizer: Callable[[], PreTrainedTokenizerFast]
    causal: bool = False
    pairs: bool = False  # the tokenizer has a template for two sentences
    key_heads: int = HEADS
    dim: int = HIDDEN // HEADS
    limit: int = 64  # tokens the model takes
    dtype: torch.dtype = field(default=torch.float32)  # in which the weights are saved


def _common(**more: object) -> dict[str, Any]:
    """Settings that most configurations call by the same names."""
    return {
        "hidden_size": HIDDEN,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "intermediate_size": 48,
        "max_position_embeddings": 64,
        "initializer_range": SPREAD,
    } | more


_WITHOUT_PAD, _PADDED_LEFT = partial(byte_level, pad=False), partial(byte_level, "left")
_STARTING, _LIMITED = partial(byte_level, start=True), partial(byte_level, limit=64)
_UNSEGMENTED, _SAVED_PADDING = partial(wordpiece, segments=False), partial(wordpiece, padded=True)
_START_AND_END = {"bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 1}
_DECODER = _common(num_key_value_heads=HEADS, **_START_AND_END)
_GROUPED = _common(num_key_value_heads=2, **_START_AND_END)
_ROBERTA = _common(
    max_position_embeddings=66,  # two rows are spent: positions start after the padding index
    pad_token_id=1,
    bos_token_id=0,
    eos_token_id=2,
    type_vocab_size=1,
)
_GPT2: dict[str, Any] = {
    "n_embd": HIDDEN,
    "n_layer": LAYERS,
    "n_head": HEADS,
    "n_positions": 64,
    "initializer_range": SPREAD,
    "bos_token_id": 0,
    "eos_token_id": 0,
}
_GPT2_SCALED = _GPT2 | {"scale_attn_by_inverse_layer_idx": True}
_DISTILBERT: dict[str, Any] = {
    "dim": HIDDEN,
    "hidden_dim": 48,
    "n_layers": LAYERS,
    "n_heads": HEADS,
    "max_position_embeddings": 64,
    "initializer_range": SPREAD,
}
_OPT: dict[str, Any] = {
    "hidden_size": HIDDEN,
    "ffn_dim": 48,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "max_position_embeddings": 64,
    "word_embed_proj_dim": HIDDEN,
    "init_std": SPREAD,
} | _START_AND_END
_WINDOWED = {"sliding_window": WINDOW}
_GEMMA2 = _WINDOWED | {
    "head_dim": 8,
    "query_pre_attn_scalar": 20,  # a scale that is not 1/sqrt(dim)
    "attn_logit_softcapping": 2.0,
}
_MODERNBERT = _common(
    local_attention=2 * WINDOW,
    global_attn_every_n_layers=2,
    pad_token_id=0,
    cls_token_id=2,
    sep_token_id=3,
    bos_token_id=2,
    eos_token_id=3,
)
_BLOOM: dict[str, Any] = {
    "hidden_size": HIDDEN,
    "n_layer": LAYERS,
    "n_head": HEADS,
    "initializer_range": SPREAD,
} | _START_AND_END
_DEBERTA = _common(relative_attention=True, pos_att_type=["p2c", "c2p"], type_vocab_size=0)
_GPT_OSS = _WINDOWED | {
    "head_dim": 8,
    "num_local_experts": 2,
    "num_experts_per_tok": 1,
    "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
}


def _grouped(
    name: str,
    config: str,
    tokenizer: Callable[[], PreTrainedTokenizerFast],
    settings: Mapping[str, Any] = MappingProxyType({}),
    **more: Any,
) -> Family:
    """A decoder in which two heads share a key head."""
    own = _GROUPED | dict(settings)
    return Family(name, config, own, tokenizer, causal=True, key_heads=2, **more)


CAPTURED = (
    Family("bert", "BertConfig", _common(), wordpiece, pairs=True),
    Family("roberta", "RobertaConfig", _ROBERTA, roberta_bytes, pairs=True),
    Family("distilbert", "DistilBertConfig", _DISTILBERT, _UNSEGMENTED, pairs=True),
    Family("electra", "ElectraConfig", _common(embedding_size=16), wordpiece, pairs=True),
    Family("albert", "AlbertConfig", _common(embedding_size=16), wordpiece, pairs=True),
    Family("modernbert", "ModernBertConfig", _MODERNBERT, _UNSEGMENTED, pairs=True),
    Family("xlm-roberta", "XLMRobertaConfig", _ROBERTA, unigram, pairs=True),
    Family("gpt2", "GPT2Config", _GPT2, byte_level, causal=True),
    Family("gpt_neox", "GPTNeoXConfig", _common(**_START_AND_END), byte_level, causal=True),
    Family("opt", "OPTConfig", _OPT, _STARTING, causal=True),
    _grouped("llama", "LlamaConfig", _STARTING),
    _grouped("qwen2", "Qwen2Config", qwen_bytes),
    _grouped("qwen3", "Qwen3Config", qwen_bytes, {"head_dim": 16}, dim=16),
    _grouped("mistral", "MistralConfig", _STARTING, _WINDOWED),
    _grouped("gemma2", "Gemma2Config", byte_level, _GEMMA2),
    Family("phi", "PhiConfig", _DECODER, byte_level, causal=True),
    # They compute attention themselves, and add terms for positions to its scores.
    Family("bloom", "BloomConfig", _BLOOM, _LIMITED, causal=True),
    Family("deberta-v2", "DebertaV2Config", _DEBERTA, wordpiece, pairs=True),
    # Its softmax holds a learned sink beside the keys, so its rows sum to less than one.
    _grouped("gpt_oss", "GptOssConfig", byte_level, _GPT_OSS),
    # The same architectures as people publish them, each with one thing out of the ordinary.
    Family("gpt2 without a pad token", "GPT2Config", _GPT2, _WITHOUT_PAD, causal=True),
    Family("gpt2 padded left", "GPT2Config", _GPT2, _PADDED_LEFT, causal=True),
    Family("gpt2 scaled by layer", "GPT2Config", _GPT2_SCALED, byte_level, causal=True),
    _grouped("mistral padded left", "MistralConfig", _PADDED_LEFT, _WINDOWED),
    Family("bert with saved padding", "BertConfig", _common(), _SAVED_PADDING),
    Family("distilbert with segment ids", "DistilBertConfig", _DISTILBERT, wordpiece, pairs=True),
    _grouped("llama in half precision", "LlamaConfig", byte_level, dtype=torch.bfloat16),
)

_T5: dict[str, Any] = {
    "d_model": HIDDEN,
    "d_kv": 8,
    "d_ff": 48,
    "num_layers": 2,
    "num_heads": HEADS,
    "pad_token_id": 1,
    "decoder_start_token_id": 1,
}
_BART: dict[str, Any] = {
    "d_model": HIDDEN,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": HEADS,
    "decoder_attention_heads": HEADS,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_position_embeddings": 64,
    "init_std": SPREAD,
    "pad_token_id": 1,
    "bos_token_id": 0,
    "eos_token_id": 2,
    "decoder_start_token_id": 2,
    "forced_eos_token_id": None,
}
ENCODER_DECODERS = (
    Family("t5", "T5Config", _T5, roberta_bytes),
    Family("bart", "BartConfig", _BART, roberta_bytes),
)
FAMILIES = {family.name: family for family in (*CAPTURED, *ENCODER_DECODERS)}


def build(family: Family, folder: Path) -> Path:
    """Save the family's tiny network and its tokenizer into the folder; returns the folder."""
    torch.manual_seed(SEED)
    config = getattr(transformers, family.config)(vocab_size=VOCABULARY, **family.settings)
    network = stirred(AutoModel.from_config(config), 0)
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
            if spread := vectors if parameter.ndim == 1 else matrices:
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
