"""Which texts of a corpus are run when not all of them may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.model.tracing import CHARACTERS_A_TOKEN, token_lengths, usable_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from core.model.loaded import LoadedModel

SEED = 0
_AT_ONCE = 256  # texts that are tokenized before it is asked whether they are enough
_AT_ONCE_CHARACTERS = 2**16  # of them together, unless one alone is longer: about 0.03 s
_BYTES_A_TOKEN = 4.5  # of UTF-8: English has 4 to 5, other languages fewer (Chinese 3)


@dataclass(frozen=True)
class Chosen:
    """Texts of a corpus within a budget.

    Attributes
    ----------
    places : of the texts, ascending.
    lengths : how many tokens the model gets of each, special ones included.
    of : how many texts the corpus has.
    """

    places: tuple[int, ...]
    lengths: tuple[int, ...]
    of: int

    @property
    def tokens(self) -> int:
        """Of all chosen texts together."""
        return sum(self.lengths)


@dataclass(frozen=True)
class Estimate:
    """What is known of a corpus without a tokenizer.

    Attributes
    ----------
    texts, characters : all that the corpus has.
    tokens : about how many of them will be run, from the characters; within the budget.
    whole : whether all texts seem to fit into the budget.
    """

    texts: int
    characters: int
    tokens: int
    whole: bool


def estimate_texts(
    model: LoadedModel, texts: Sequence[str], most_tokens: int, max_tokens: int | None = None
) -> Estimate:
    """About how many tokens :func:`choose_texts` would choose, at once and without a tokenizer."""
    limit = usable_tokens(model, max_tokens)
    special = model.tokenizer.num_special_tokens_to_add()
    sizes = np.fromiter(map(_bytes, texts), dtype=np.int64, count=len(texts))
    tokens = int(np.minimum(limit, special + np.ceil(sizes / _BYTES_A_TOKEN)).sum())
    characters = sum(map(len, texts))
    return Estimate(len(texts), characters, min(tokens, most_tokens), tokens <= most_tokens)


def choose_texts(
    model: LoadedModel,
    texts: Sequence[str],
    most_tokens: int,
    max_tokens: int | None = None,
    tell: Callable[[int, int], object] | None = None,
) -> Chosen:
    """Random texts (fixed seed) of at most so many tokens together, but one at least.

    All of them where they fit. No more texts are tokenized than are needed to know.

    Parameters
    ----------
    max_tokens : texts are cut at this length if the model would take more.
    tell : is called every few hundredths of a second with the texts that were looked at, and the
        tokens that were chosen of them. It may raise, to stop.

    A text without any token counts as one of them, so that their number is bounded too.
    """
    usable = usable_tokens(model, max_tokens) * CHARACTERS_A_TOKEN
    order = np.random.default_rng(SEED).permutation(len(texts))
    places: list[int] = []
    lengths: list[int] = []
    left = most_tokens
    for some in _portions(order.tolist(), [min(usable, len(text)) for text in texts]):
        for place, length in zip(
            some, token_lengths(model, [texts[i] for i in some], max_tokens), strict=True
        ):
            if places and max(1, length) > left:
                return _in_order(places, lengths, len(texts))
            places.append(place)
            lengths.append(length)
            left -= max(1, length)
        if tell is not None:
            tell(len(places), most_tokens - left)
    return _in_order(places, lengths, len(texts))


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def _portions(order: list[int], characters: list[int]) -> Iterator[list[int]]:
    """Places in this order, a few hundred at a time, and fewer where their texts are long."""
    portion: list[int] = []
    size = 0
    for place in order:
        if portion and (len(portion) == _AT_ONCE or size + characters[place] > _AT_ONCE_CHARACTERS):
            yield portion
            portion, size = [], 0
        portion.append(place)
        size += characters[place]
    if portion:
        yield portion


def _in_order(places: list[int], lengths: list[int], of: int) -> Chosen:
    pairs = sorted(zip(places, lengths, strict=True))
    return Chosen(tuple(place for place, _ in pairs), tuple(length for _, length in pairs), of)
