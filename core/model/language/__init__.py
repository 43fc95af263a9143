"""What a model expects to read: the next word, a word behind a mask, an answer to a text."""

from core.model.language.answers import answer
from core.model.language.guesses import Guess, Masked, masked_words, next_words

__all__ = ["Guess", "Masked", "answer", "masked_words", "next_words"]
