"""What a model expects to read: the next word, a word behind a mask, an answer to a text."""

from core.model.language.answers import answer
from core.model.language.guesses import MAX_MASKS, Guess, Masked, masked_words, next_words

__all__ = ["MAX_MASKS", "Guess", "Masked", "answer", "masked_words", "next_words"]
