"""What the words of a text are, as far as spelling and neighbours tell: pronouns and likely nouns.

No tagger: rules for English that would rather miss a noun than take a verb for one.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.corpus.sample import FORMS
from core.analysis.found_link.verbs import IRREGULAR_PASTS
from core.analysis.related_words.function_words import FUNCTION_WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.analysis.arrays import Bools, Indices
    from core.model.trace import Token

_ENDS_SENTENCE = frozenset(".!?")
_VERB_ENDINGS = ("ed", "ing", "ly")
_DETERMINERS_OF_NOUNS = """
a an the this that these those some any each every no my your his her its our their
"""
# What follows one of these is a verb or an adjective: "she left", "was hungry", "too big".
_WORDS_BEFORE_OTHERS = """
i you he she we they it who to am is are was were be been being do does did have has had will would
shall should can could may might must not t so too very more most s ve re ll d
"""
_DETERMINERS = frozenset(_DETERMINERS_OF_NOUNS.split())
_BEFORE_OTHERS = frozenset(_WORDS_BEFORE_OTHERS.split())
_BODIES = ("body", "one", "thing")  # "nobody", "someone", "everything" name nothing
_MIN_FUNCTION_WORDS = 0.2  # of the words of English prose; here 0.3 to 0.6, a list of nouns has 0.1
_MIN_WORDS = 0.6  # of the tokens; code, numbers and words in pieces have fewer
_MIN_DISTINCT = 0.1  # of the words; a list that repeats a few words is no prose


@dataclass(frozen=True, eq=False)
class Words:
    """The tokens of a text, one entry each."""

    names: tuple[str, ...]  # in lower case
    ordinary: Bools  # not special
    whole: Bools  # a word in one piece, all letters
    content: Bools  # such a word that names something
    nouns: Bools  # such a word that is likely a noun
    pronouns: Bools  # "it", "her", "themselves"
    sentence: Indices  # the number of its sentence, from 0
    prose: bool  # whether the text reads like English sentences


def read_words(tokens: Sequence[Token]) -> Words:
    """What the tokens of a text are."""
    pieces = Counter(token.word for token in tokens)
    names = tuple(token.display.casefold() for token in tokens)
    ordinary = np.array([not token.special for token in tokens], np.bool_)
    whole = np.array(
        [
            not token.special and pieces[token.word] == 1 and token.display.isalpha()
            for token in tokens
        ],
        np.bool_,
    )
    spelled = [name if one else "" for name, one in zip(names, whole, strict=True)]  # no pieces
    content = np.array([w and _names_something(n) for n, w in zip(names, whole, strict=True)])
    nouns = [bool(each) and _is_noun(spelled, content, i) for i, each in enumerate(content)]
    function = [w and name in FUNCTION_WORDS for name, w in zip(names, whole, strict=True)]
    ends = [
        name in _ENDS_SENTENCE or token.special for name, token in zip(names, tokens, strict=True)
    ]
    return Words(
        names=names,
        ordinary=ordinary,
        whole=whole,
        content=content.astype(np.bool_),
        nouns=np.array(nouns, np.bool_),
        pronouns=whole & np.array([name in FORMS for name in names], np.bool_),
        sentence=np.cumsum([0, *ends[:-1]]),
        prose=_is_prose([name for name in spelled if name], sum(function), int(ordinary.sum())),
    )


def _is_prose(words: Sequence[str], function: int, tokens: int) -> bool:
    """Whether so many tokens with these whole words, some of them function words, are sentences."""
    return (
        len(words) > max(1, _MIN_WORDS * tokens)
        and function >= _MIN_FUNCTION_WORDS * len(words)
        and len(set(words)) >= _MIN_DISTINCT * len(words)
    )


def _names_something(name: str) -> bool:
    vague = name.endswith(_BODIES) and name.startswith(("any", "every", "no", "some"))
    return len(name) > 1 and name not in FUNCTION_WORDS and not vague


def _is_noun(names: Sequence[str], content: Bools, position: int) -> bool:
    """Whether a content word is likely a noun, by its ending and the words beside it."""
    name = names[position]
    before = names[position - 1] if position else ""
    follows_word = position > 0 and bool(content[position - 1])
    next_is_word = position + 1 < len(names) and bool(content[position + 1])
    if next_is_word and not (name.endswith("s") or _may_be_verb(names[position + 1])):
        return False  # "brown" in "brown fox": the noun comes later; but "dogs" in "dogs sleep"
    if before in _DETERMINERS:
        return True  # "the drawing"
    if before in _BEFORE_OTHERS or (follows_word and name.endswith("s")):
        return False  # "she left", "fox jumps"
    return not _is_verb(name)


def _is_verb(name: str) -> bool:
    return name in IRREGULAR_PASTS or (len(name) > 4 and name.endswith(_VERB_ENDINGS))


def _may_be_verb(name: str) -> bool:
    return _is_verb(name) or name.endswith("s")
