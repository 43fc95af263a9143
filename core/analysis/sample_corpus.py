"""The sentences that come with the project, with pronouns and what they stand for marked in some.

The file ``corpus/sample.txt`` says how it is written. The sentences were written for this project.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FILE = Path(__file__).parent / "corpus" / "sample.txt"
_MARK = re.compile(r"\[([^\[\]=<>]+)=(\d+)\]|<([^\[\]=<>]+)=(\d+)>")
_LEFT_OVER = re.compile(r"[\[\]<>]|=\d")

Span = tuple[int, int]  # first character and the one after the last


@dataclass(frozen=True)
class Mention:
    """A pronoun and the nouns it could stand for.

    Attributes
    ----------
    pronoun : its characters.
    candidates : those of the nouns, in the order of the sentence.
    antecedent : which of them it stands for, from 0; always one that comes before the pronoun.
    """

    pronoun: Span
    candidates: tuple[Span, ...]
    antecedent: int


@dataclass(frozen=True)
class Sentence:
    """One sentence of the corpus: what it is an example of, and its marked pronouns."""

    text: str
    topic: str
    mentions: tuple[Mention, ...] = ()


@cache
def sample_corpus() -> tuple[Sentence, ...]:
    """All sentences, in the order of the file."""
    return read_corpus(_FILE.read_text("utf-8"))


def sample_sentences() -> tuple[str, ...]:
    """Their texts, without marks."""
    return tuple(sentence.text for sentence in sample_corpus())


def read_corpus(text: str) -> tuple[Sentence, ...]:
    """The sentences of a file in the corpus's notation.

    Raises
    ------
    ValueError
        For a sentence before the first topic, one that stands there twice, a mark that is not
        whole, a number that is no noun's or several nouns', and a pronoun before its noun; the
        message names the line.
    """
    found: dict[str, Sentence] = {}
    topic = ""
    for number, line in enumerate(text.splitlines(), 1):
        content = line.strip()
        if not content or content.startswith("#"):
            continue
        if content.startswith("== "):
            topic = content.removeprefix("== ").strip()
            continue
        try:
            if not topic:
                raise ValueError("a sentence before the first topic")
            sentence = _read_sentence(content, topic)
            if sentence.text in found:
                raise ValueError("this sentence stands there twice")
        except ValueError as error:
            raise ValueError(f"line {number}: {error}: {content!r}") from error
        found[sentence.text] = sentence
    return tuple(found.values())


def _read_sentence(line: str, topic: str) -> Sentence:
    """The sentence without its marks, and what they mark."""
    text, nouns, pronouns, last = "", {}, [], 0
    for mark in _MARK.finditer(line):
        text += line[last : mark.start()]
        last = mark.end()
        noun, noun_number, pronoun, pronoun_number = mark.groups()
        word, number = noun or pronoun, noun_number or pronoun_number
        span = (len(text), len(text) + len(word))
        text += word
        if noun is None:
            pronouns.append((number, span))
        elif number in nouns:
            raise ValueError(f"two nouns have the number {number}")
        else:
            nouns[number] = span
    text += line[last:]
    if _LEFT_OVER.search(text):
        raise ValueError("a mark is not whole")
    return Sentence(text, topic, tuple(_mention(nouns, *each) for each in pronouns))


def _mention(nouns: dict[str, Span], number: str, pronoun: Span) -> Mention:
    if number not in nouns:
        raise ValueError(f"no noun has the number {number}")
    if nouns[number] > pronoun:
        raise ValueError(f"the pronoun comes before its noun, number {number}")
    return Mention(pronoun, tuple(nouns.values()), list(nouns).index(number))
