"""The built-in corpus: English sentences by topic, in ``sample.txt`` next to this file."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from core.corpus.files import Sentence

SAMPLE = Path(__file__).with_name("sample.txt")


@cache
def sample_corpus() -> tuple[Sentence, ...]:
    """All sentences of the sample corpus with their topics, in the order of the file."""
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
