"""English words by what they are, as ``english.toml`` has them."""

import tomllib
from pathlib import Path

_FILE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_LISTS = {name: frozenset(words.split()) for name, words in _FILE["words"].items()}

# Pronouns of the third person, each with the one that stands for all its forms.
PRONOUNS = {form: name for name, forms in _FILE["pronouns"].items() for form in forms.split()}
FUNCTION_WORDS = _LISTS["function"]
IRREGULAR_PASTS = _LISTS["irregular_pasts"]
INTERJECTIONS = _LISTS["interjections"]
BEFORE_NOUNS = _LISTS["before_nouns"]
BEFORE_OTHERS = _LISTS["before_others"]
