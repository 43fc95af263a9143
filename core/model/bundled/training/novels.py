"""Novels, one paragraph a line -> windows of tokens, those to learn from and those kept back."""

from __future__ import annotations

import gzip
import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from core.model.bundled.training.settings import Settings

DOCUMENT_MARK = "<|endoftext|>"
# Of every 400 paragraphs the last 8 are kept back: some of every book, 2 % of the text.
STRETCH, KEPT_BACK = 400, 8
# More characters than a token has in these books on average (4): a window is seldom left unfilled.
CHARACTERS_PER_TOKEN = 8
_FOOTNOTE_MARK = re.compile(r" ?\*+(?: ?\(\d+\))?")
_SENTENCE_START = re.compile(
    r"""(?:^|\n|(?<!Mr)(?<!Mrs)(?<!Dr)(?<!St)[.!?]["')]*\ )(?=["'(]*[A-Z])""", re.VERBOSE
)


def read_paragraphs(path: Path) -> list[str]:
    """The paragraphs of a text file (gzip or plain), without headings and footnotes."""
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
    lines = (line.strip() for line in text.splitlines())
    return [_FOOTNOTE_MARK.sub("", line) for line in lines if _is_prose(line)]


def _is_prose(line: str) -> bool:
    """Not a heading (capitals alone, or a chapter's title) and not a footnote."""
    return any(map(str.islower, line)) and not line.startswith(("CHAPTER", "*"))


def split(paragraphs: Sequence[str]) -> tuple[list[str], list[str]]:
    """Stretches of text to learn from, and stretches kept back, paragraphs joined by line ends."""
    learn, keep = [], []
    for start in range(0, len(paragraphs), STRETCH):
        stretch = paragraphs[start : start + STRETCH]
        learn.append("\n".join(stretch[: STRETCH - KEPT_BACK]))
        keep.append("\n".join(stretch[STRETCH - KEPT_BACK :]))
    return learn, [text for text in keep if text]


def sentence_starts(text: str) -> list[int]:
    r"""Where sentences begin, as far as punctuation tells.

    >>> sentence_starts('He saw Mr. Dick. "Why?" she asked.\nNobody knew.')
    [0, 17, 35]
    """
    return [match.end() for match in _SENTENCE_START.finditer(text)]


def windows(
    tokenizer: Tokenizer, stretches: Sequence[str], tokens: int, longest_batch: int = 2_000
) -> NDArray[np.uint16]:
    """Token ids (window, token): a document mark, then the text from one sentence's start on.

    Every sentence begins a window, so a piece of text is met at many positions. Windows that the
    end of their stretch leaves unfilled are left out.
    """
    rows = []
    for batch in _batches(_passages(stretches, tokens * CHARACTERS_PER_TOKEN), longest_batch):
        encoded = (encoding.ids[:tokens] for encoding in tokenizer.encode_batch(batch))
        rows += [np.array(ids, dtype=np.uint16) for ids in encoded if len(ids) == tokens]
    return np.stack(rows)


def examples_of_step(learn: NDArray[np.uint16], step: int, settings: Settings) -> NDArray[np.int64]:
    """The examples a step learns from: ids (batch, window + 1), the mark first.

    The rows of `learn`, (row, positions + 1), take turns, in a new order every epoch: each from its
    start, where a sentence begins, or from anywhere that leaves room for a window.
    """
    rows = rows_in_turn(learn, step, settings.batch, settings.seed)
    chance = np.random.default_rng((settings.seed, step, 1))
    cut = chance.integers(0, learn.shape[1] - settings.window, len(rows))
    cut[chance.random(len(rows)) < settings.from_sentence] = 0
    columns = cut[:, None] + np.arange(settings.window + 1)
    examples = np.take_along_axis(rows, columns, axis=1)
    examples[:, 0] = rows[:, 0]
    return examples


def rows_in_turn(learn: NDArray[np.uint16], step: int, batch: int, seed: int) -> NDArray[np.int64]:
    """`batch` rows: each once an epoch, in a new order every epoch."""
    a_epoch = len(learn) // batch
    order = np.random.default_rng((seed, step // a_epoch)).permutation(len(learn))
    first = (step % a_epoch) * batch
    return learn[order[first : first + batch]].astype(np.int64)


def _passages(stretches: Sequence[str], characters: int) -> Iterator[str]:
    for text in stretches:
        for start in sentence_starts(text):
            yield text[start : start + characters]


def _batches(items: Iterator[str], size: int) -> Iterator[list[str]]:
    batch: list[str] = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
