"""The words of the planted models: their vectors, and the tokenizer that all of them share."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tokenizers import Tokenizer

BEGIN, UNKNOWN = "<begin>", "<unknown>"
_WORDS = """
the a and then but again too round more in on with
cat dog bird fox king queen boy girl river garden house tree
saw met heard followed found liked sang slept ran
old small red quiet new . ,
"""
VOCABULARY = (BEGIN, UNKNOWN, *_WORDS.split())
CODE_DIM = 8
_STRIDE = 29  # through all codes, so that those of words in a row differ in more than two signs


def word_vectors() -> NDArray[np.float32]:
    """A vector a token of the vocabulary, (token, CODE_DIM).

    Four dims of a word are 1 and four -1: a word meets itself with 8 and any other with 4 or less.
    The begin token is 1 everywhere, so it meets every word with 0; an unknown word is 0.
    """
    codes = [
        [1 if dim in chosen else -1 for dim in range(CODE_DIM)]
        for chosen in itertools.combinations(range(CODE_DIM), CODE_DIM // 2)
    ]
    words = [codes[_STRIDE * index % len(codes)] for index in range(len(VOCABULARY) - 2)]
    return np.array([[1] * CODE_DIM, [0] * CODE_DIM, *words], np.float32)


def make_tokenizer() -> Tokenizer:
    """One token a word or mark, in lower case, and the begin token before every text."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    ids = {token: index for index, token in enumerate(VOCABULARY)}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token=UNKNOWN))
    tokenizer.add_special_tokens([BEGIN, UNKNOWN])
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{BEGIN} $A", pair=f"{BEGIN} $A $B:1", special_tokens=[(BEGIN, ids[BEGIN])]
    )
    return tokenizer
