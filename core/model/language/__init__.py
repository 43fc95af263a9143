"""What a model expects to read: the next word, or a word behind a mask."""

from core.model.language.guesses import MAX_MASKS, Guess, Masked, masked_words, next_words

__all__ = ["MAX_MASKS", "Guess", "Masked", "masked_words", "next_words"]
