"""The sentences of an atlas: as far as the model read them, or put together from its tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from core.atlas.data import CorpusTokens


def read_texts(
    tokens: CorpusTokens, given: Sequence[str], *, whole: bool
) -> tuple[tuple[str, ...], CorpusTokens]:
    """One text a sentence, numbered from 0, and the tokens with their spans in it.

    The `given` ones end with the last token that the model read, unless they are wanted `whole`.
    """
    if not given:
        return _from_tokens(tokens)
    if whole:
        return tuple(given), tokens
    ends = np.zeros(len(given), dtype=np.int64)
    np.maximum.at(ends, tokens.sentence, tokens.spans[:, 1])
    return tuple(text[:end] for text, end in zip(given, ends, strict=True)), tokens


def _from_tokens(tokens: CorpusTokens) -> tuple[tuple[str, ...], CorpusTokens]:
    """Sentences put together from their tokens, and the columns with the spans in them."""
    texts = [""] * (int(tokens.sentence[-1]) + 1)
    spans = np.zeros_like(tokens.spans)
    word_before = -1
    for index, (sentence, display) in enumerate(zip(tokens.sentence, tokens.displays, strict=True)):
        if tokens.special[index]:
            continue
        start = texts[sentence]
        same_word = bool(start) and tokens.word[index] == word_before
        chunk = (display.removeprefix("##") if same_word else display).strip()
        if start and not same_word:
            start += " "
        spans[index] = len(start), len(start) + len(chunk)
        texts[sentence] = start + chunk
        word_before = tokens.word[index]
    return tuple(texts), replace(tokens, spans=spans)
