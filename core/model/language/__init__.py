"""What a model expects to read: the next word, or a word behind a mask."""

from core.model.language.guesses import Guess, Masked, masked_words, next_words

__all__ = ["Guess", "Masked", "masked_words", "next_words"]
