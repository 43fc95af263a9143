"""What the words of a text are, as far as spelling and neighbours tell: pronouns and likely nouns.

No tagger: rules for English that would rather miss a noun than take a verb for one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.analysis.arrays import Bools, Indices
from core.analysis.english import (
    BEFORE_NOUNS,
    BEFORE_OTHERS,
    FUNCTION_WORDS,
    INTERJECTIONS,
    IRREGULAR_PASTS,
    PRONOUNS,
)
from core.model.trace import Token
from core.vocabulary import join_pieces

_ENDS_SENTENCE = frozenset(".!?")
_APOSTROPHES = "'’"
_VERB_ENDINGS = ("ed", "ing", "ly")
_BODIES = ("body", "one", "thing")  # "nobody", "someone", "everything" name nothing
_MIN_FUNCTION_WORDS = 0.2  # of the words of English prose; here 0.3 to 0.6, a list of nouns has 0.1
_SHORT = 6  # words: a sentence of so few may have no function word ("Cats chase mice.")
_MIN_WORDS = 0.6  # of the words and marks; code and numbers have fewer
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
    prose: bool  # whether the text is recognised as English sentences
    in_pieces: bool  # whether any word is of several tokens


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
    ends = [
        name in _ENDS_SENTENCE or token.special for name, token in zip(names, tokens, strict=True)
    ]
    return Words(
        names=names,
        ordinary=ordinary,
        whole=whole,
        content=content.astype(np.bool_),
        nouns=np.array(nouns, np.bool_),
        pronouns=whole & np.array([name in PRONOUNS for name in names], np.bool_),
        sentence=np.cumsum([0, *ends[:-1]]),
        prose=_is_prose(_bare_words(tokens)),
        in_pieces=any(count > 1 for word, count in pieces.items() if word >= 0),
    )


def _bare_words(tokens: Sequence[Token]) -> list[str]:
    """The words and marks of a text in lower case, whole and alike however tokens cut them.

    Apostrophes are left out: "I've" is "I" and "ve", or "I" and "'ve", as the tokenizer has it.
    """
    words: dict[int, list[Token]] = {}
    for token in tokens:
        if not token.special:
            words.setdefault(token.word, []).append(token)
    bare = (join_pieces(each).casefold().strip(_APOSTROPHES) for each in words.values())
    return [each for each in bare if each]


def _is_prose(words_and_marks: Sequence[str]) -> bool:
    """Whether these are English sentences, as far as their commonest words and marks tell."""
    words = [each for each in words_and_marks if each.isalpha()]
    function = sum(word in FUNCTION_WORDS for word in words)
    ends = sum(each in _ENDS_SENTENCE for each in words_and_marks)
    return (
        len(words) > max(1, _MIN_WORDS * len(words_and_marks))
        and (function >= _MIN_FUNCTION_WORDS * len(words) or (len(words) <= _SHORT and ends == 1))
        and len(set(words)) >= _MIN_DISTINCT * len(words)
    )


def _names_something(name: str) -> bool:
    vague = name.endswith(_BODIES) and name.startswith(("any", "every", "no", "some"))
    return len(name) > 1 and name not in FUNCTION_WORDS | INTERJECTIONS and not vague


def _is_noun(names: Sequence[str], content: Bools, position: int) -> bool:
    """Whether a content word is likely a noun, by its ending and the words beside it."""
    name = names[position]
    before = names[position - 1] if position else ""
    follows_word = position > 0 and bool(content[position - 1])
    next_is_word = position + 1 < len(names) and bool(content[position + 1])
    if next_is_word and not (name.endswith("s") or _may_be_verb(names[position + 1])):
        return False  # "brown" in "brown fox": the noun comes later; but "dogs" in "dogs sleep"
    if before in BEFORE_NOUNS:
        return True  # "the drawing"
    if before in BEFORE_OTHERS or (follows_word and name.endswith("s")):
        return False  # "she left", "fox jumps"
    return not _is_verb(name)


def _is_verb(name: str) -> bool:
    return name in IRREGULAR_PASTS or (len(name) > 4 and name.endswith(_VERB_ENDINGS))


def _may_be_verb(name: str) -> bool:
    return _is_verb(name) or name.endswith("s")
