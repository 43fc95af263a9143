"""The built-in corpora: sentences by topic, and the pronouns marked in them.

The sentences and an explanation of the marks are in ``sample.txt``, which all heads are measured
on and which stands on the floor of models, and in ``pronouns.txt``: minimal pairs for coreference
alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from core.analysis.english import PRONOUNS

SAMPLE = Path(__file__).parents[2] / "model" / "box" / "sample.txt"  # beside the sample images
PAIRS = Path(__file__).parent / "pronouns.txt"
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
# What a noun of a pair can be, and the pronouns that agree with it, "he" standing for all its
# forms. A person's noun, such as "surgeon", says no gender.
AGREES_WITH = {
    "male": {"he"},
    "female": {"she"},
    "person": {"he", "she"},
    "thing": {"it"},
    "animal": {"it"},
    "people": {"they"},
    "things": {"they"},
    "animals": {"they"},
}
PAIR_TOPICS = ("it", "he", "she", "they", "him", "her", "his", "its", "their", "them")
_WORD = r"\w+(?:[-'’]\w+)*"
_MARK = re.compile(
    rf"(?<![\w-])(?:\[(?P<noun>{_WORD})(?::(?P<kind>{'|'.join(AGREES_WITH)}))?\]"
    rf"|\{{(?P<pronoun>(?i:{'|'.join(PRONOUNS)}))=(?P<antecedent>{_WORD})\}})(?![\w-])"
)
_CHOICE = re.compile(rf"<(?P<first>{_WORD})\|(?P<second>{_WORD})>")
_TWO_ANTECEDENTS = re.compile(r"=(?P<first>[^{}|]+)\|(?P<second>[^{}|]+)\}")

Span = tuple[int, int]


@dataclass(frozen=True)
class Mention:
    """A pronoun and the nouns it might refer to."""

    pronoun: Span  # its first character, and last + 1
    candidates: tuple[Span, ...]  # the same of two or more nouns, in the order of the text
    antecedent: int  # which of the candidates it refers to
    kinds: tuple[str, ...] = ()  # what each candidate is, from `AGREES_WITH`; empty if unmarked

    @property
    def first(self) -> int | None:
        """The first candidate before the pronoun; None where all come after it."""
        return 0 if self.candidates[0][1] <= self.pronoun[0] else None

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
    pair: int | None = None  # the number of its minimal pair, from 0; None if it has none
    decided_by: Span | None = None  # the word that differs between the halves


class CorpusError(ValueError):
    """A line of a corpus that cannot be read: which, and why."""


@cache
def sample_corpus() -> tuple[Sentence, ...]:
    """All sentences of the sample corpus, in the order of the file."""
    return read_corpus(SAMPLE.read_text("utf-8"), SAMPLE.name)


@cache
def sample_sentences() -> tuple[str, ...]:
    """The texts of :func:`sample_corpus`, in the same order."""
    return tuple(sentence.text for sentence in sample_corpus())


@cache
def pronoun_pairs() -> tuple[Sentence, ...]:
    """The minimal pairs, one half after the other: two nouns agree, and meaning decides."""
    return read_corpus(PAIRS.read_text("utf-8"), PAIRS.name, PAIR_TOPICS)


@cache
def marked_sets() -> dict[str, tuple[Sentence, ...]]:
    """The sentences with marked pronouns by the name of their set: "pairs" and "sample"."""
    marked = tuple(sentence for sentence in sample_corpus() if sentence.mentions)
    return {"pairs": pronoun_pairs(), "sample": marked}


def read_corpus(
    source: str, name: str = "corpus", topics: Sequence[str] = TOPICS
) -> tuple[Sentence, ...]:
    """The sentences of a corpus file; `name` is what errors call it.

    Raises `CorpusError` for a topic that is not one of `topics`, a sentence before the first topic
    or a repeated one, and a mark that cannot be read; it names the line.
    """
    sentences: dict[str, Sentence] = {}
    topic, pairs = "", 0
    for number, line in enumerate(map(str.strip, source.split("\n")), start=1):
        if not line or line.startswith("#"):
            continue
        try:
            if line.startswith("=="):
                topic = line.removeprefix("==").strip()
                _check(topic in topics, f'"{topic}" is not one of {", ".join(topics)}')
                continue
            _check(topic != "", 'a sentence before the first topic, such as "== lists"')
            halves = read_pair(line, topic, pairs) if "<" in line else (read_sentence(line, topic),)
            _check(not any(half.text in sentences for half in halves), "the sentence occurs twice")
        except CorpusError as error:
            raise CorpusError(f"{name}, line {number}: {error}") from None
        pairs += len(halves) == 2
        sentences.update({half.text: half for half in halves})
    return tuple(sentences.values())


def read_pair(line: str, topic: str, number: int) -> tuple[Sentence, Sentence]:
    """The two sentences of a line with one ``<word|other word>`` and pronouns with two antecedents.

    >>> big, small = read_pair("The [cat] ate the [eel]; {it=cat|eel} was <fat|raw>.", "lists", 0)
    >>> big.text, small.text
    ('The cat ate the eel; it was fat.', 'The cat ate the eel; it was raw.')
    >>> big.mentions[0].antecedent, small.mentions[0].antecedent, big.decided_by
    (0, 1, (28, 31))
    """
    choice = _CHOICE.search(line)
    if choice is None or choice["first"] == choice["second"] or line.count("<") > 1:
        raise CorpusError("a pair needs one place for two different words, such as <big|small>")
    first, second = (_half(line, choice, topic, number, half) for half in ("first", "second"))
    antecedents = [[each.antecedent for each in half.mentions] for half in (first, second)]
    _check(
        antecedents[0] != antecedents[1],
        "the other word must give a pronoun another noun, as in {it=cat|dog}",
    )
    return first, second


def _half(line: str, choice: re.Match[str], topic: str, number: int, half: str) -> Sentence:
    before, after = (
        _TWO_ANTECEDENTS.sub(lambda both: f"={both[half]}}}", part)
        for part in (line[: choice.start()], line[choice.end() :])
    )
    sentence = read_sentence(before + choice[half] + after, topic)
    start = len(_MARK.sub(_plain, before))
    return replace(sentence, pair=number, decided_by=(start, start + len(choice[half])))


def read_sentence(line: str, topic: str) -> Sentence:
    """A marked sentence.

    >>> sentence = read_sentence("The [cat] fled the [dog]; {it=cat} was small.", "narrative")
    >>> sentence.text
    'The cat fled the dog; it was small.'
    >>> sentence.mentions
    (Mention(pronoun=(22, 24), candidates=((4, 7), (17, 20)), antecedent=0, kinds=()),)
    """
    nouns: dict[str, tuple[Span, str]] = {}
    pronouns: dict[Span, str] = {}
    removed = 0
    for mark in _MARK.finditer(line):
        word = _plain(mark)
        start = mark.start() - removed
        removed += len(mark[0]) - len(word)
        span = start, start + len(word)
        if mark["noun"]:
            _check(word not in nouns, f'"[{word}]" is marked twice')
            nouns[word] = span, mark["kind"] or ""
        else:
            pronouns[span] = mark["antecedent"]
    text = _MARK.sub(_plain, line)
    _check(
        not any(mark in text for mark in "=[]{}<>"),
        "a mark that cannot be read: marks are [noun], [noun:kind] and {pronoun=noun}, each for one"
        " whole word",
    )
    _check(bool(pronouns) or not nouns, "nouns are marked, but no pronoun")
    mentions = (_mention(text, span, noun, nouns) for span, noun in pronouns.items())
    return Sentence(text, topic, tuple(mentions))


def _mention(
    text: str, pronoun: Span, antecedent: str, nouns: dict[str, tuple[Span, str]]
) -> Mention:
    """A pronoun with the nouns before it; a noun after it counts if the antecedent is one."""
    _check(antecedent in nouns, f'no noun "[{antecedent}]" is marked for a pronoun to refer to')
    target, _ = nouns[antecedent]
    marked = [noun for noun in sorted(nouns.values()) if target > pronoun or noun[0] < pronoun]
    _check(len(marked) > 1, f'the pronoun for "{antecedent}" has no other candidate noun')
    candidates = tuple(span for span, _ in marked)
    kinds = tuple(kind for _, kind in marked if kind)
    word = text[slice(*pronoun)]
    if kinds:
        same = len(kinds) == len(marked) and len(set(kinds)) == 1
        _check(same, f'the candidates for "{word}" are not all marked with the same kind')
        agrees = PRONOUNS[word.casefold()] in AGREES_WITH[kinds[0]]
        _check(agrees, f'"{word}" does not agree with a noun marked {kinds[0]}')
    return Mention(pronoun, candidates, candidates.index(target), kinds)


def _plain(mark: re.Match[str]) -> str:
    return mark["noun"] or mark["pronoun"]


def _check(holds: bool, problem: str) -> None:
    if not holds:
        raise CorpusError(problem)
