"""The vectors that a network begins with: one a token of its vocabulary, whatever the context.

They are what the network itself brings to the question which words are alike. Positions and
segments are not in them yet, and no layer has mixed them. Where a family makes them narrower than
its layers (ALBERT, ELECTRA), scales them (Gemma) or reads its answers off them too (GPT-2), they
are still the rows that ids choose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.model.checks.vocabulary import input_table
from core.model.refusal import refusing_to
from core.model.tokens import display_name, is_byte_level

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

    from core.model.loaded import LoadedModel
    from core.model.trace import Array, Trace

MOST_SAMPLED = 2000  # words: two million pairs, and 33 MB at the widest table known (4,096)
_LEAST_WORDS = 100  # whole words of a vocabulary; of one with fewer all entries are drawn from
_LEAST_LETTERS = 2  # single letters, most of them of other scripts, are close to each other
_CONTINUES = "##"  # WordPiece's mark of a piece that goes on with a word
_BEGINS = ("Ġ", "▁")  # marks of byte-level and of SentencePiece vocabularies where a word begins
_SEED = 0


@refusing_to("read")
def token_embeddings(model: LoadedModel, trace: Trace) -> Array | None:
    """The input embedding of each token of a trace, float32 (token, dim).

    None where the network has no table of them. `dim` is the table's own width.
    """
    return _rows(model, [token.id for token in trace.tokens])


@refusing_to("read")
def sample_embeddings(model: LoadedModel, most: int = MOST_SAMPLED) -> Array | None:
    """Input embeddings of random words of the vocabulary, float32 (word, dim), the same each time.

    Words are entries of two letters or more that begin a word, special tokens left out; a
    vocabulary with hardly any is sampled as a whole. None as for :func:`token_embeddings`.
    """
    ids = whole_words(model)
    if len(ids) > most:
        ids = np.random.default_rng(_SEED).choice(ids, most, replace=False).tolist()
    return _rows(model, ids)


def whole_words(model: LoadedModel) -> list[int]:
    """Ids of the vocabulary's words, or of all but special tokens where they are too few."""
    tokenizer, table = model.tokenizer, _table(model)
    size = len(tokenizer) if table is None else min(len(tokenizer), table.shape[0])
    special, byte_level = set(tokenizer.all_special_ids), is_byte_level(tokenizer)
    names = tokenizer.convert_ids_to_tokens(list(range(size)))
    ordinary = [(i, name) for i, name in enumerate(names) if name and i not in special]
    marked = sum(name.startswith(_BEGINS) for _, name in ordinary) >= _LEAST_WORDS
    words = [
        i
        for i, name in ordinary
        if (name.startswith(_BEGINS) if marked else not name.startswith(_CONTINUES))
        and _is_word(display_name(name, byte_level))
    ]
    return words if len(words) >= _LEAST_WORDS else [i for i, _ in ordinary]


def _is_word(text: str) -> bool:
    return len(text) >= _LEAST_LETTERS and text.isalpha()


def _rows(model: LoadedModel, ids: Sequence[int]) -> Array | None:
    import torch

    table = _table(model)
    if table is None:
        return None
    with torch.inference_mode():
        rows: Array = table[torch.tensor(ids, device=table.device)].float().cpu().numpy()
    return rows


def _table(model: LoadedModel) -> torch.Tensor | None:
    """The weights that turn ids into vectors, (vocabulary, dim); None where there are none."""
    table, two_axes = input_table(model.network), 2
    return table if table is not None and table.ndim == two_axes else None
