"""Novels, one paragraph per line -> windows of tokens, for training and held out."""

from __future__ import annotations

import gzip
import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.model.bundled.training.novels.network import Settings

if TYPE_CHECKING:
    from tokenizers import Tokenizer


# The last 8 of every 400 paragraphs are held out: some of every book, 2 % of the text.
STRETCH, HELD_OUT = 400, 8
# More than a token's average in these books (4), so that few windows stay unfilled.
CHARACTERS_PER_TOKEN = 8
_BATCH = 2_000  # passages tokenized at once
_FOOTNOTE_MARK = re.compile(r" ?\*+(?: ?\(\d+\))?")
_SENTENCE_START = re.compile(
    r"""(?:^|\n|(?<!Mr)(?<!Mrs)(?<!Dr)(?<!St)[.!?]["')]*\ )(?=["'(]*[A-Z])""", re.VERBOSE
)


def read_paragraphs(path: Path) -> list[str]:
    """The paragraphs of a text file (gzip or plain), without headings and footnotes."""
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
    lines = (line.strip() for line in text.splitlines())
    return [
        _FOOTNOTE_MARK.sub("", line)
        for line in lines
        if any(map(str.islower, line)) and not line.startswith(("CHAPTER", "*"))
    ]


def split(paragraphs: Sequence[str]) -> tuple[list[str], list[str]]:
    """Stretches of text for training, and held-out ones; paragraphs are joined by line ends."""
    train, held_out = [], []
    for start in range(0, len(paragraphs), STRETCH):
        stretch = paragraphs[start : start + STRETCH]
        train.append("\n".join(stretch[: STRETCH - HELD_OUT]))
        held_out.append("\n".join(stretch[STRETCH - HELD_OUT :]))
    return train, [text for text in held_out if text]


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
    passages = (
        text[start : start + characters] for text in stretches for start in sentence_starts(text)
    )
    rows = []
    while batch := list(islice(passages, _BATCH)):
        encoded = (encoding.ids[:tokens] for encoding in tokenizer.encode_batch(batch))
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
