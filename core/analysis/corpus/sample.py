"""The built-in corpora: sentences by topic, and the pronouns that were marked in them.

The sentences and the notation of their marks stand in ``corpus/sample.txt``, from which all heads
are measured, and in ``corpus/pronouns.txt``: minimal pairs that only serve coreference.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

SAMPLE = Path(__file__).parent / "sample.txt"
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
# What a noun of a pair can be, and the pronouns that agree with it: "he" stands for its other forms
# too. A person's noun, such as "surgeon", says no gender.
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
FORMS = {
    **dict.fromkeys(("he", "him", "his", "himself"), "he"),
    **dict.fromkeys(("she", "her", "hers", "herself"), "she"),
    **dict.fromkeys(("it", "its", "itself"), "it"),
    **dict.fromkeys(("they", "them", "their", "theirs", "themselves"), "they"),
}
PRONOUNS = frozenset(FORMS)
PAIR_TOPICS = ("it", "he", "she", "they", "him", "her", "his", "its", "their", "them")
_MARK = re.compile(r"\[(?P<noun>[^\[\]{}]*)\]|\{(?P<pronoun>[^\[\]{}]*)\}")
_CHOICE = re.compile(r"<(?P<first>[^<>|]+)\|(?P<second>[^<>|]+)>")
_TWO_ANTECEDENTS = re.compile(r"=(?P<first>[^{}|]+)\|(?P<second>[^{}|]+)\}")
_WORD = re.compile(r"\w+(?:[-'’]\w+)*")

Span = tuple[int, int]
Noun = tuple[Span, str]  # where it stands, and what it is; "" where that is not marked


@dataclass(frozen=True)
class Mention:
    """A pronoun, and the nouns it might refer to.

    Attributes
    ----------
    pronoun : its first character and the one after the last.
    candidates : the same of two or more nouns, in the order of the text.
    antecedent : which of the candidates it refers to.
    kinds : what each candidate is, of `AGREES_WITH`; empty where the nouns say nothing of it.
    """

    pronoun: Span
    candidates: tuple[Span, ...]
    antecedent: int
    kinds: tuple[str, ...] = ()

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
    """One sentence of a corpus: its text without marks, its topic, its marked pronouns.

    Attributes
    ----------
    pair : the number of the minimal pair that it is one half of, from 0; None for any other.
    decided_by : the word that differs between the halves.
    """

    text: str
    topic: str
    mentions: tuple[Mention, ...] = ()
    pair: int | None = None
    decided_by: Span | None = None


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


@cache
def pronoun_pairs() -> tuple[Sentence, ...]:
    """The minimal pairs, one half after the other: two nouns agree, and meaning decides.

    Raises
    ------
    CorpusError
        When the file was edited and a line of it cannot be read.
    """
    return read_corpus(PAIRS.read_text("utf-8"), PAIRS.name, PAIR_TOPICS)


@cache
def marked_sets() -> dict[str, tuple[Sentence, ...]]:
    """The sentences with marked pronouns by the name of their set: "pairs" and "sample"."""
    marked = tuple(sentence for sentence in sample_corpus() if sentence.mentions)
    return {"pairs": pronoun_pairs(), "sample": marked}


def read_corpus(
    source: str, name: str = "corpus", topics: Sequence[str] = TOPICS
) -> tuple[Sentence, ...]:
    """The sentences of a corpus as it is written in a file; `name` is how errors call that file.

    Raises
    ------
    CorpusError
        On a topic that is not one of `topics`, a sentence before the first topic, a sentence that
        occurs twice, and a mark that cannot be read; the line is named.
    """
    sentences: dict[str, Sentence] = {}
    topic, pairs = None, 0
    for number, line in enumerate(map(str.strip, source.split("\n")), start=1):
        if not line or line.startswith("#"):
            continue
        try:
            if line.startswith("=="):
                topic = _read_topic(line, topics)
                continue
            halves = read_pair(line, topic, pairs) if "<" in line else (read_sentence(line, topic),)
            if any(half.text in sentences for half in halves):
                raise CorpusError("the sentence occurs twice")
        except CorpusError as error:
            raise CorpusError(f"{name}, line {number}: {error}") from None
        pairs += len(halves) == 2
        sentences.update({half.text: half for half in halves})
    return tuple(sentences.values())


def read_pair(line: str, topic: str | None, number: int) -> tuple[Sentence, Sentence]:
    """The two sentences of a line with one ``<word|other word>`` and pronouns with two antecedents.

    >>> big, small = read_pair("The [cat] ate the [eel]; {it=cat|eel} was <fat|raw>.", "lists", 0)
    >>> big.text, small.text
    ('The cat ate the eel; it was fat.', 'The cat ate the eel; it was raw.')
    >>> big.mentions[0].antecedent, small.mentions[0].antecedent, big.decided_by
    (0, 1, (28, 31))
    """
    choices = list(_CHOICE.finditer(line))
    if len(choices) != 1 or "<" in _CHOICE.sub("", line):
        raise CorpusError("a pair has one place for two words, such as <big|small>")
    (choice,) = choices
    same = choice["first"] == choice["second"]
    if same or not all(_WORD.fullmatch(word) for word in choice.groups()):
        raise CorpusError(f'"{choice[0]}" is not one word and one other')
    first, second = (_half(line, choice, topic, number, of) for of in ("first", "second"))
    if [each.antecedent for each in first.mentions] == [
        each.antecedent for each in second.mentions
    ]:
        raise CorpusError("the other word must give a pronoun another noun, as in {it=cat|dog}")
    return first, second


def _half(line: str, choice: re.Match[str], topic: str | None, number: int, of: str) -> Sentence:
    before, after = (
        _TWO_ANTECEDENTS.sub(lambda both: f"={both[of]}}}", part)
        for part in (line[: choice.start()], line[choice.end() :])
    )
    sentence = read_sentence(before + choice[of] + after, topic)
    start = len(_split(before)[0])
    return replace(sentence, pair=number, decided_by=(start, start + len(choice[of])))


def read_sentence(line: str, topic: str | None) -> Sentence:
    """A marked sentence.

    >>> found = read_sentence("The [cat] fled the [dog]; {it=cat} was small.", "narrative")
    >>> found.text
    'The cat fled the dog; it was small.'
    >>> found.mentions
    (Mention(pronoun=(22, 24), candidates=((4, 7), (17, 20)), antecedent=0, kinds=()),)
    """
    if topic is None:
        raise CorpusError('a sentence before the first topic, such as "== lists"')
    text, nouns, pronouns = _split(line)
    if any(mark in text for mark in "=[]{}<>"):
        raise CorpusError("a bracket or an equals sign that belongs to no mark")
    mentions = tuple(
        _mention(text, span, antecedent, nouns) for span, antecedent in sorted(pronouns.items())
    )
    if nouns and not mentions:
        raise CorpusError("nouns are marked, but no pronoun")
    return Sentence(text, topic, mentions)


def _read_topic(line: str, topics: Sequence[str]) -> str:
    topic = line.removeprefix("==").strip()
    if topic not in topics:
        raise CorpusError(f'no topic is called "{topic}", but {", ".join(topics)}')
    return topic


def _split(line: str) -> tuple[str, dict[str, Noun], dict[Span, str]]:
    """The text without marks; the marked nouns; what each marked pronoun refers to."""
    text, end = "", 0
    nouns: dict[str, Noun] = {}
    pronouns: dict[Span, str] = {}
    for mark in _MARK.finditer(line):
        text += line[end : mark.start()]
        end = mark.end()
        _check_apart(line, mark)
        if mark["noun"] is not None:
            word, kind = _read_noun(mark["noun"], nouns)
            nouns[word] = ((len(text), len(text) + len(word)), kind)
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


def _read_noun(mark: str, nouns: dict[str, Noun]) -> tuple[str, str]:
    """The noun, and after a colon what it is; "" where nothing is said."""
    word, colon, kind = mark.partition(":")
    if colon and kind not in AGREES_WITH:
        raise CorpusError(f'"{kind}" in "[{mark}]" is none of {", ".join(AGREES_WITH)}')
    if not _WORD.fullmatch(word):
        raise CorpusError(f'"[{word}]" is not one word')
    if word in nouns:
        raise CorpusError(f'"[{word}]" is marked twice')
    return word, kind


def _read_pronoun(mark: str) -> tuple[str, str]:
    pronoun, equals, antecedent = mark.partition("=")
    if not equals:
        raise CorpusError(f'"{{{mark}}}" does not say what it refers to, as in {{she=nurse}}')
    if pronoun.casefold() not in PRONOUNS:
        raise CorpusError(f'"{pronoun}" in "{{{mark}}}" is no pronoun that can be marked')
    return pronoun, antecedent


def _mention(text: str, pronoun: Span, antecedent: str, nouns: dict[str, Noun]) -> Mention:
    if antecedent not in nouns:
        raise CorpusError(f'no noun "[{antecedent}]" is marked for a pronoun to refer to')
    target, _ = nouns[antecedent]
    marked = [noun for noun in sorted(nouns.values()) if target > pronoun or noun[0] < pronoun]
    if len(marked) < 2:
        raise CorpusError(f'the pronoun of "{antecedent}" has no other candidate noun')
    candidates = tuple(span for span, _ in marked)
    kinds = tuple(kind for _, kind in marked if kind)
    _check_agreement(text[slice(*pronoun)], kinds, len(candidates))
    return Mention(pronoun, candidates, candidates.index(target), kinds)


def _check_agreement(pronoun: str, kinds: tuple[str, ...], candidates: int) -> None:
    """Where the kinds of nouns are marked, all are marked, the same, and agree with the pronoun."""
    if not kinds:
        return
    if len(kinds) < candidates or len(set(kinds)) > 1:
        raise CorpusError(f'the candidates of "{pronoun}" are not all marked as of one kind')
    if FORMS[pronoun.casefold()] not in AGREES_WITH[kinds[0]]:
        raise CorpusError(f'"{pronoun}" does not agree with a noun that is marked {kinds[0]}')
