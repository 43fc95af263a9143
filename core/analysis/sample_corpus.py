"""The built-in sample corpus: English sentences by topic, with the pronouns that were marked.

The sentences and the notation of their marks stand in ``corpus/sample.txt``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SAMPLE = Path(__file__).parent / "corpus" / "sample.txt"
TOPICS = (
    "coreference",
    "agreement",
    "quotation",
    "lists",
    "numbers",
    "questions",
    "nesting",
    "narrative",
)
PRONOUNS = frozenset[str]().union(
    ("he", "him", "his", "himself"),
    ("she", "her", "hers", "herself"),
    ("it", "its", "itself"),
    ("they", "them", "their", "theirs", "themselves"),
)
_MARK = re.compile(r"\[(?P<noun>[^\[\]{}]*)\]|\{(?P<pronoun>[^\[\]{}]*)\}")
_WORD = re.compile(r"\w+(?:[-'’]\w+)*")

Span = tuple[int, int]


@dataclass(frozen=True)
class Mention:
    """A pronoun, and the nouns it might refer to.

    Attributes
    ----------
    pronoun : its first character and the one after the last.
    candidates : the same of two or more nouns, in the order of the text.
    antecedent : which of the candidates it refers to.
    """

    pronoun: Span
    candidates: tuple[Span, ...]
    antecedent: int

    @property
    def nearest(self) -> int | None:
        """The last candidate before the pronoun; None where all come after it."""
        before = [i for i, span in enumerate(self.candidates) if span[1] <= self.pronoun[0]]
        return before[-1] if before else None


@dataclass(frozen=True)
class Sentence:
    """One sentence of a corpus: its text without marks, its topic, its marked pronouns."""

    text: str
    topic: str
    mentions: tuple[Mention, ...] = ()


class CorpusError(ValueError):
    """A line of a corpus that cannot be read: which, and why."""


@cache
def sample_corpus() -> tuple[Sentence, ...]:
    """All sentences of the sample corpus, in the order of the file.

    Raises
    ------
    CorpusError
        When the file was edited and a line of it cannot be read.
    """
    return read_corpus(SAMPLE.read_text("utf-8"), SAMPLE.name)


@cache
def sample_sentences() -> tuple[str, ...]:
    """The texts of :func:`sample_corpus`, in the same order."""
    return tuple(sentence.text for sentence in sample_corpus())


def read_corpus(source: str, name: str = "corpus") -> tuple[Sentence, ...]:
    """The sentences of a corpus as it is written in a file; `name` is how errors call that file.

    Raises
    ------
    CorpusError
        On a topic that is not one of `TOPICS`, a sentence before the first topic, a sentence that
        occurs twice, and a mark that cannot be read; the line is named.
    """
    sentences: dict[str, Sentence] = {}
    topic = None
    for number, line in enumerate(map(str.strip, source.split("\n")), start=1):
        if not line or line.startswith("#"):
            continue
        try:
            if line.startswith("=="):
                topic = _read_topic(line)
                continue
            sentence = read_sentence(line, topic)
            if sentence.text in sentences:
                raise CorpusError("the sentence occurs twice")
        except CorpusError as error:
            raise CorpusError(f"{name}, line {number}: {error}") from None
        sentences[sentence.text] = sentence
    return tuple(sentences.values())


def read_sentence(line: str, topic: str | None) -> Sentence:
    """A marked sentence.

    >>> found = read_sentence("The [cat] fled the [dog]; {it=cat} was small.", "narrative")
    >>> found.text
    'The cat fled the dog; it was small.'
    >>> found.mentions
    (Mention(pronoun=(22, 24), candidates=((4, 7), (17, 20)), antecedent=0),)
    """
    if topic is None:
        raise CorpusError('a sentence before the first topic, such as "== lists"')
    text, nouns, pronouns = _split(line)
    if "=" in text or any(mark in text for mark in "[]{}"):
        raise CorpusError("a bracket or an equals sign that belongs to no mark")
    mentions = tuple(
        _mention(span, antecedent, nouns) for span, antecedent in sorted(pronouns.items())
    )
    if nouns and not mentions:
        raise CorpusError("nouns are marked, but no pronoun")
    return Sentence(text, topic, mentions)


def _read_topic(line: str) -> str:
    topic = line.removeprefix("==").strip()
    if topic not in TOPICS:
        raise CorpusError(f'no topic is called "{topic}", but {", ".join(TOPICS)}')
    return topic


def _split(line: str) -> tuple[str, dict[str, Span], dict[Span, str]]:
    """The text without marks; where each marked noun is; what each marked pronoun refers to."""
    text, end = "", 0
    nouns: dict[str, Span] = {}
    pronouns: dict[Span, str] = {}
    for mark in _MARK.finditer(line):
        text += line[end : mark.start()]
        end = mark.end()
        _check_apart(line, mark)
        if mark["noun"] is not None:
            word = _read_noun(mark["noun"], nouns)
            nouns[word] = (len(text), len(text) + len(word))
        else:
            word, antecedent = _read_pronoun(mark["pronoun"])
            pronouns[len(text), len(text) + len(word)] = antecedent
        text += word
    return text + line[end:], nouns, pronouns


def _check_apart(line: str, mark: re.Match[str]) -> None:
    """A mark holds a whole word: a letter or hyphen beside it belongs inside."""
    beside = line[: mark.start()][-1:] + line[mark.end() :][:1]
    if any(char.isalnum() or char in "-[]{}" for char in beside):
        raise CorpusError(f'"{mark[0]}" must stand apart: a mark holds one whole word')


def _read_noun(word: str, nouns: dict[str, Span]) -> str:
    if not _WORD.fullmatch(word):
        raise CorpusError(f'"[{word}]" is not one word')
    if word in nouns:
        raise CorpusError(f'"[{word}]" is marked twice')
    return word


def _read_pronoun(mark: str) -> tuple[str, str]:
    pronoun, equals, antecedent = mark.partition("=")
    if not equals:
        raise CorpusError(f'"{{{mark}}}" does not say what it refers to, as in {{she=nurse}}')
    if pronoun.casefold() not in PRONOUNS:
        raise CorpusError(f'"{pronoun}" in "{{{mark}}}" is no pronoun that can be marked')
    return pronoun, antecedent


def _mention(pronoun: Span, antecedent: str, nouns: dict[str, Span]) -> Mention:
    if antecedent not in nouns:
        raise CorpusError(f'no noun "[{antecedent}]" is marked for a pronoun to refer to')
    target = nouns[antecedent]
    spans = sorted(nouns.values())
    candidates = tuple(span for span in spans if target > pronoun or span < pronoun)
    if len(candidates) < 2:
        raise CorpusError(f'the pronoun of "{antecedent}" has no other candidate noun')
    return Mention(pronoun, candidates, candidates.index(target))
