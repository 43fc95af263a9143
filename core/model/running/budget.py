"""Choose which texts of a corpus to run when not all of them fit the budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from core.model.running.loaded import LoadedModel
from core.model.text.inputs import token_lengths, usable_tokens

_SEED = 0
_BYTES_PER_TOKEN = 4.5  # of UTF-8: 4 to 5 in English, fewer in other languages (Chinese 3)


@dataclass(frozen=True)
class Chosen:
    """Texts of a corpus that fit a token budget.

    Attributes
    ----------
    places : indices of the texts, ascending.
    lengths : tokens the model gets for each text, special tokens included.
    corpus_size : number of texts in the corpus.
    """

    places: tuple[int, ...]
    lengths: tuple[int, ...]
    corpus_size: int

    @property
    def tokens(self) -> int:
        """Total tokens of the chosen texts."""
        return sum(self.lengths)


@dataclass(frozen=True)
class Estimate:
    """What is known about a corpus before tokenizing it.

    Attributes
    ----------
    texts, characters : size of the corpus.
    tokens : how many tokens will be run, estimated from the characters and capped at the budget.
    whole : whether the whole corpus seems to fit the budget.
    """

    texts: int
    characters: int
    tokens: int
    whole: bool


def estimate_texts(
    model: LoadedModel, texts: Sequence[str], budget: int, max_tokens: int | None = None
) -> Estimate:
    """Estimate what :func:`choose_texts` will choose, without running the tokenizer."""
    special = model.tokenizer.num_special_tokens_to_add()
    sizes = np.array([len(text.encode("utf-8", "replace")) for text in texts], dtype=np.int64)
    lengths = np.minimum(
        usable_tokens(model, max_tokens), special + np.ceil(sizes / _BYTES_PER_TOKEN)
    )
    tokens = int(lengths.sum())
    return Estimate(len(texts), sum(map(len, texts)), min(tokens, budget), tokens <= budget)


def choose_texts(
    model: LoadedModel,
    texts: Sequence[str],
    budget: int,
    max_tokens: int | None = None,
    report: Callable[[int, int], object] | None = None,
) -> Chosen:
    """Draw random texts (fixed seed) until the token budget is spent; at least one text.

    Takes every text if all of them fit, and tokenizes no more texts than it needs to know.

    Parameters
    ----------
    budget : total tokens; a text without tokens counts as one, which bounds the number of texts.
    max_tokens : cut each text at this length, if the model would take more.
    report : called after each text with the numbers of texts and tokens chosen so far. It may raise
        an exception to stop.
    """
    order = np.random.default_rng(_SEED).permutation(len(texts)).tolist()
    lengths: dict[int, int] = {}
    spent = 0
    for place in order:
        (length,) = token_lengths(model, [texts[place]], max_tokens)
        cost = max(1, length)
        if lengths and spent + cost > budget:
            break
        lengths[place] = length
        spent += cost
        if report is not None:
            report(len(lengths), spent)
    places = tuple(sorted(lengths))
    return Chosen(places, tuple(lengths[place] for place in places), len(texts))
