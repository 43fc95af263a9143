"""The built-in corpus: English sentences by topic, in ``sample.txt`` on the floor of models."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

SAMPLE = Path(__file__).parents[2] / "model" / "box" / "sample.txt"  # beside the sample images


class Sentence(NamedTuple):
    """One sentence of the corpus."""

    text: str
    topic: str


@cache
def sample_corpus() -> tuple[Sentence, ...]:
    """All sentences of the sample corpus, in the order of the file."""
    sentences, topic = [], ""
    for line in SAMPLE.read_text("utf-8").splitlines():
        if line.startswith("=="):
            topic = line.removeprefix("==").strip()
        elif line and not line.startswith("#"):
            sentences.append(Sentence(line, topic))
    return tuple(sentences)


@cache
def sample_sentences() -> tuple[str, ...]:
    """The texts of :func:`sample_corpus`, in the same order."""
    return tuple(sentence.text for sentence in sample_corpus())
