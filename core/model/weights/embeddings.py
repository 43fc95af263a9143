"""Input embeddings: the network's own context-free vector for each entry of its vocabulary.

They contain no positions or segments, and no layer has mixed them. Even where a family makes them
narrower than its layers (ALBERT, ELECTRA), scales them (Gemma) or shares them with its output
(GPT-2), they are the rows that ids select.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from core.model.checks.vocabulary import input_table
from core.model.refusal import refusing_to
from core.model.running.loaded import LoadedModel
from core.model.text.tokens import BEGINS, CONTINUES, display_name, spelling_of
from core.model.trace import Array, Trace

if TYPE_CHECKING:
    import torch

MAX_SAMPLED = 2000  # words: two million pairs, and 33 MB for the widest known table (4,096)
_MIN_WORDS = 100  # a vocabulary with fewer whole words is sampled as a whole
_MIN_LETTERS = 2  # single letters, mostly of other scripts, are close to each other
_SEED = 0


@refusing_to("read")
def token_embeddings(model: LoadedModel, trace: Trace) -> Array | None:
    """The input embedding of each token in a trace, float32 (token, dim of the table).

    None if the network has no such table.
    """
    return _rows(model, [token.id for token in trace.tokens])


@refusing_to("read")
def sample_embeddings(model: LoadedModel, max_words: int = MAX_SAMPLED) -> Array | None:
    """Input embeddings of random words of the vocabulary, float32 (word, dim), the same each time.

    Words are entries of two or more letters that begin a word, without special tokens; a vocabulary
    with few of them is sampled as a whole. None as for :func:`token_embeddings`.
    """
    ids = whole_words(model)
    if len(ids) > max_words:
        ids = np.random.default_rng(_SEED).choice(ids, max_words, replace=False).tolist()
    return _rows(model, ids)


def whole_words(model: LoadedModel) -> list[int]:
    """Ids of the vocabulary's words, or of all but special tokens if there are too few."""
    tokenizer, table = model.tokenizer, _table(model)
    size = len(tokenizer) if table is None else min(len(tokenizer), table.shape[0])
    special, spelling = set(tokenizer.all_special_ids), spelling_of(tokenizer)
    names = tokenizer.convert_ids_to_tokens(list(range(size)))
    ordinary = {i: name for i, name in enumerate(names) if name and i not in special}
    marked = sum(name.startswith(BEGINS) for name in ordinary.values()) >= _MIN_WORDS
    words = []
    for i, name in ordinary.items():
        begins = name.startswith(BEGINS) if marked else not name.startswith(CONTINUES)
        text = display_name(name, spelling)
        whole = begins and name.endswith(spelling.end)
        if whole and len(text) >= _MIN_LETTERS and text.isalpha():
            words.append(i)
    return words if len(words) >= _MIN_WORDS else list(ordinary)


def _rows(model: LoadedModel, ids: Sequence[int]) -> Array | None:
    import torch

    table = _table(model)
    if table is None:
        return None
    with torch.inference_mode():
        rows: Array = table[torch.tensor(ids, device=table.device)].float().cpu().numpy()
    return rows


def _table(model: LoadedModel) -> torch.Tensor | None:
    """The weights that turn ids into vectors, (vocabulary, dim), or None."""
    table = input_table(model.network)
    return table if table is not None and table.ndim == 2 else None
