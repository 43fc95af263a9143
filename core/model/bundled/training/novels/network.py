"""Settings, tokenizer and untrained network of gpt2-novels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import GPT2LMHeadModel, PreTrainedTokenizerFast

DOCUMENT_MARK = "<|endoftext|>"


@dataclass(frozen=True)
class Settings:
    """Shape of the network, and how it learns.

    Attributes
    ----------
    vocabulary : tokens of the byte-level BPE, including the document mark.
    layers, heads, width : as in GPT-2; a head has width / heads dims.
    positions : longest input in tokens.
    window : tokens per training example. With longer ones heads learn to look nearby first, and
        rest on the first token much later.
    batch : examples per step.
    from_sentence : share of the examples that begin where a sentence begins, not anywhere.
    learning_rate : peak of AdamW's; large, because first-token heads form sooner with it.
    warm_up : steps to the peak; from there a cosine takes it to zero at the deadline.
    weight_decay : of matrices; biases and layer norms have none.
    betas, clip : of AdamW, and the largest gradient norm of a step.
    late_part : share of the time, at the end, in which the positions after `window` are learned and
        nothing else changes, so the first positions do exactly what they did.
    late_batch : examples of `positions` tokens per step in that time.
    seed : of the initial weights and of the order of examples.
    """

    vocabulary: int = 4096
    layers: int = 4
    heads: int = 4
    width: int = 128
    positions: int = 128
    window: int = 64
    batch: int = 64
    from_sentence: float = 0.5
    learning_rate: float = 3e-3
    warm_up: int = 300
    weight_decay: float = 0.1
    betas: tuple[float, float] = (0.9, 0.95)
    clip: float = 1.0
    late_part: float = 0.08
    late_batch: int = 8
    seed: int = 1


def train_tokenizer(texts: Iterable[str], settings: Settings) -> PreTrainedTokenizerFast:
    """Byte-level BPE (Radford et al. 2019) that puts the document mark before every text.

    The mark is special, so pages can hide it. A second text follows the first without a mark,
    since the network met marks only at the first position.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=settings.vocabulary,
        special_tokens=[DOCUMENT_MARK],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    template = processors.TemplateProcessing(
        single=f"{DOCUMENT_MARK} $A",
        pair=f"{DOCUMENT_MARK} $A $B:1",
        special_tokens=[(DOCUMENT_MARK, tokenizer.token_to_id(DOCUMENT_MARK))],
    )
    tokenizer.post_processor = processors.Sequence(
        [processors.ByteLevel(trim_offsets=True), template]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=DOCUMENT_MARK,
        eos_token=DOCUMENT_MARK,
        model_max_length=settings.positions,
        model_input_names=["input_ids", "attention_mask"],
        clean_up_tokenization_spaces=False,
    )


def new_network(settings: Settings, mark: int) -> GPT2LMHeadModel:
    """GPT-2 with random weights; `mark` is the id of the document mark."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(settings.seed)
    config = GPT2Config(
        vocab_size=settings.vocabulary,
        n_positions=settings.positions,
        n_layer=settings.layers,
        n_head=settings.heads,
        n_embd=settings.width,
        activation_function="gelu_pytorch_tanh",  # GPT-2's own, as one fused operation
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=mark,
        eos_token_id=mark,
        use_cache=False,
    )
    return GPT2LMHeadModel(config)
