"""The corpus of an atlas: how to choose it, and what building, saving and opening takes."""
