"""The tokenizer and the untrained network of gpt2-novels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.model.bundled.training.novels import DOCUMENT_MARK

if TYPE_CHECKING:
    from collections.abc import Iterable

    from transformers import GPT2LMHeadModel, PreTrainedTokenizerFast

    from core.model.bundled.training.settings import Settings


def train_tokenizer(texts: Iterable[str], settings: Settings) -> PreTrainedTokenizerFast:
    """Byte-level BPE (Radford et al. 2019) that puts the document mark before every text itself.

    The mark is special, so pages can hide it; a second text follows the first without a mark of
    its own, since the network met marks at the first position only.
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
    tokenizer.post_processor = processors.Sequence(
        [
            processors.ByteLevel(trim_offsets=True),
            processors.TemplateProcessing(
                single=f"{DOCUMENT_MARK} $A",
                pair=f"{DOCUMENT_MARK} $A $B:1",
                special_tokens=[(DOCUMENT_MARK, tokenizer.token_to_id(DOCUMENT_MARK))],
            ),
        ]
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
        activation_function="gelu_pytorch_tanh",  # GPT-2's own, in one fused operation
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=mark,
        eos_token_id=mark,
        use_cache=False,
    )
    return GPT2LMHeadModel(config)
