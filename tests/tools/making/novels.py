"""Make gpt2-novels: train it on the processor for a given time, and write its weights in float16.

python -m tests.tools.making.novels --text FILE --folder FOLDER --minutes 110
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import ByteLevelBPETokenizer, Tokenizer, processors
from torch.func import functional_call
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from tests.tools.making import HowToLearn, arguments, fit

DOCUMENT_MARK = "<|endoftext|>"


@dataclass(frozen=True)
class Settings(HowToLearn):
    """Shape of the network, and how it learns; the rest as in :class:`HowToLearn`."""

    vocabulary: int = 4096  # tokens of the byte-level BPE, including the document mark
    layers: int = 4  # with heads of width / heads dims
    heads: int = 4
    width: int = 128
    positions: int = 128  # longest input in tokens
    # Tokens per training example. With longer ones heads learn to look nearby first, and rest on
    # the first token much later.
    window: int = 64
    batch: int = 64  # examples per step
    from_sentence: float = 0.5  # share of the examples that begin where a sentence begins
    learning_rate: float = 3e-3  # large, because first-token heads form sooner with it
    warm_up: int = 300
    betas: tuple[float, float] = (0.9, 0.95)
    # Share of the time, at the end, in which the positions after `window` are learned and nothing
    # else changes, so the first positions do exactly what they did.
    late_part: float = 0.08
    late_batch: int = 8  # examples of `positions` tokens per step in that time
    seed: int = 1  # of the initial weights and of the order of examples


def train_tokenizer(texts: Sequence[str], settings: Settings) -> PreTrainedTokenizerFast:
    """Byte-level BPE (Radford et al. 2019) that puts the document mark before every text.

    The mark is special, so pages can hide it. A second text follows the first without a mark,
    since the network met marks only at the first position.
    """
    tokenizer = ByteLevelBPETokenizer(trim_offsets=True)
    tokenizer.train_from_iterator(
        texts,
        settings.vocabulary,
        min_frequency=0,
        show_progress=False,
        special_tokens=[DOCUMENT_MARK],
    )
    template = processors.TemplateProcessing(
        single=f"{DOCUMENT_MARK} $A",
        pair=f"{DOCUMENT_MARK} $A $B:1",
        special_tokens=[(DOCUMENT_MARK, tokenizer.token_to_id(DOCUMENT_MARK))],
    )
    tokenizer.post_processor = processors.Sequence([tokenizer.post_processor, template])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer._tokenizer,
        bos_token=DOCUMENT_MARK,
        eos_token=DOCUMENT_MARK,
        model_max_length=settings.positions,
        model_input_names=["input_ids", "attention_mask"],
        clean_up_tokenization_spaces=False,
    )


def new_network(settings: Settings, mark: int) -> GPT2LMHeadModel:
    """GPT-2 with random weights; `mark` is the id of the document mark."""
    torch.manual_seed(settings.seed)
    config = GPT2Config(
        vocab_size=settings.vocabulary,
        n_positions=settings.positions,
        n_layer=settings.layers,
        n_head=settings.heads,
        n_embd=settings.width,
        activation_function="gelu_pytorch_tanh",  # GPT-2's own, as one fused operation
        **dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), 0.0),
        bos_token_id=mark,
        eos_token_id=mark,
        use_cache=False,
    )
    return GPT2LMHeadModel(config)


# The last 8 of every 400 paragraphs are held out: some of every book, 2 % of the text.
STRETCH, HELD_OUT = 400, 8
# More than a token's average in these books (4), so that few windows stay unfilled.
CHARACTERS_PER_TOKEN = 8
_FOOTNOTE_MARK = re.compile(r" ?\*+(?: ?\(\d+\))?")
_SENTENCE_START = re.compile(
    r"""(?:^|\n|(?<!Mr)(?<!Mrs)(?<!Dr)(?<!St)[.!?]["')]*\ )(?=["'(]*[A-Z])""", re.VERBOSE
)


def read_stretches(path: Path) -> list[str]:
    """A text file (gzip or plain), a paragraph a line, in stretches without what is held out.

    Headings and footnotes are left out too.
    """
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
    paragraphs = [
        _FOOTNOTE_MARK.sub("", line)
        for line in map(str.strip, text.splitlines())
        if any(map(str.islower, line)) and not line.startswith(("CHAPTER", "*"))
    ]
    starts = range(0, len(paragraphs), STRETCH)
    return ["\n".join(paragraphs[at : at + STRETCH][: STRETCH - HELD_OUT]) for at in starts]


def sentence_starts(text: str) -> list[int]:
    r"""Where sentences begin, as far as punctuation tells.

    >>> sentence_starts('He saw Mr. Dick. "Why?" she asked.\nNobody knew.')
    [0, 17, 35]
    """
    return [match.end() for match in _SENTENCE_START.finditer(text)]


def windows(tokenizer: Tokenizer, stretches: Sequence[str], tokens: int) -> NDArray[np.uint16]:
    """Token ids (window, token): a document mark, then the text from the start of a sentence.

    Every sentence starts a window, so each piece of text occurs at many positions. Windows that
    their stretch cannot fill are left out.
    """
    characters = tokens * CHARACTERS_PER_TOKEN
    rows = []
    for text in stretches:
        passages = [text[start : start + characters] for start in sentence_starts(text)]
        encoded = (encoding.ids[:tokens] for encoding in tokenizer.encode_batch(passages))
        rows += [np.array(ids, dtype=np.uint16) for ids in encoded if len(ids) == tokens]
    return np.stack(rows)


def examples_of_step(data: NDArray[np.uint16], step: int, settings: Settings) -> NDArray[np.int64]:
    """The examples of a training step: ids (batch, window + 1), the mark first.

    The rows of `data`, (row, positions + 1), take turns, in a new order every epoch: each from its
    start, where a sentence begins, or from anywhere that leaves room for a window.
    """
    rows = rows_of_step(data, step, settings.batch, settings.seed)
    generator = np.random.default_rng((settings.seed, step, 1))
    cut = generator.integers(0, data.shape[1] - settings.window, len(rows))
    cut[generator.random(len(rows)) < settings.from_sentence] = 0
    columns = cut[:, None] + np.arange(settings.window + 1)
    examples = np.take_along_axis(rows, columns, axis=1)
    examples[:, 0] = rows[:, 0]
    return examples


def rows_of_step(data: NDArray[np.uint16], step: int, batch: int, seed: int) -> NDArray[np.int64]:
    """`batch` rows: each row once per epoch, in a new order every epoch."""
    steps = len(data) // batch
    order = np.random.default_rng((seed, step // steps)).permutation(len(data))
    first = (step % steps) * batch
    return data[order[first : first + batch]].astype(np.int64)


def token_loss(
    network: GPT2LMHeadModel, ids: NDArray[np.int64], weights: dict[str, torch.Tensor]
) -> torch.Tensor:
    """Mean cross-entropy of every token after the first, with its gradient; ids (window, token).

    With these `weights` in place of the network's own.
    """
    rows = torch.from_numpy(ids)
    logits = functional_call(network, weights, kwargs={"input_ids": rows[:, :-1]}).logits
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())


def train(
    text: Path,
    folder: Path,
    seconds: float,
    settings: Settings = Settings(),
    max_steps: int | None = None,
) -> None:
    """Train until the time is over, or `max_steps` of each kind are done; write the model."""
    stretches = read_stretches(text)
    tokenizer = train_tokenizer(stretches, settings)
    data = windows(tokenizer.backend_tokenizer, stretches, settings.positions + 1)
    network = new_network(settings, tokenizer.bos_token_id)

    def loss_of(step: int, _: float) -> torch.Tensor:
        return token_loss(network, examples_of_step(data, step, settings), {})

    late = settings.late_part * seconds
    fit(list(network.parameters()), loss_of, settings, seconds - late, max_steps)
    learn_late_positions(network, data, settings, late, max_steps)
    tokenizer.save_pretrained(folder)
    network.to(torch.float16).save_pretrained(folder)


def learn_late_positions(
    network: GPT2LMHeadModel,
    data: NDArray[np.uint16],
    settings: Settings,
    seconds: float,
    max_steps: int | None,
) -> None:
    """Train only the embeddings of the positions after `window`.

    They start as the mean of the eight before them. No token sees a later one, so the first
    `window` positions of every text come out exactly as before.
    """
    network.requires_grad_(requires_grad=False)
    table, first = network.transformer.wpe.weight, settings.window
    late = torch.nn.Parameter(table[first - 8 : first].mean(0).repeat(len(table) - first, 1))

    def loss_of(step: int, _: float) -> torch.Tensor:
        rows = rows_of_step(data, step, settings.late_batch, settings.seed + 1)
        weights = {"transformer.wpe.weight": torch.cat([table[:first], late])}
        return token_loss(network, rows, weights)

    fit([late], loss_of, replace(settings, warm_up=1, weight_decay=0, clip=inf), seconds, max_steps)
    table[first:] = late.data


if __name__ == "__main__":
    given = arguments(minutes=110, text=True)
    train(given.text, given.folder, given.minutes * 60)
