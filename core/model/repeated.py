"""Random token sequences that stand twice, on which heads that copy give themselves away."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.model.errors import TooShortError
from core.model.refusal import refusing_to
from core.model.tokens import display_name, is_byte_level
from core.model.trace import Token
from core.model.tracing import Input, trace_inputs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from core.model.loaded import LoadedModel
    from core.model.trace import Trace

LENGTH = 50  # tokens of a sequence, as in Olsson et al. 2022 and the tutorials after it
SEQUENCES = 4
SEED = 20_220_308


@refusing_to("run")
def trace_repeated(
    model: LoadedModel, *, length: int = LENGTH, sequences: int = SEQUENCES, seed: int = SEED
) -> Iterator[Trace]:
    """Traces of random sequences of ordinary tokens, each followed by itself.

    Special tokens stand around both copies together where the tokenizer puts them around a text;
    a model that takes fewer tokens than twice `length` gets shorter sequences.

    Raises
    ------
    TooShortError
        When not even a sequence of two tokens fits.
    """
    before, after = _template(model)
    most = (model.max_tokens - len(before) - len(after)) // 2
    if min(most, length) < 2:
        raise TooShortError(
            model.name,
            f"{{name}} takes {model.max_tokens} tokens;"
            f" a sequence of {min(most, length)} tokens cannot be repeated.",
            "Pick a model that takes longer texts.",
        )
    ordinary = _ordinary_ids(model)
    generator = np.random.default_rng(seed)
    inputs = []
    for _ in range(sequences):
        half = generator.choice(ordinary, min(most, length), replace=False).tolist()
        ids = [*before, *half, *half, *after]
        inputs.append(Input(ids, [0] * len(ids), _tokens(model, ids, len(before), len(after)), 0))
    return trace_inputs(model, inputs)


def _template(model: LoadedModel) -> tuple[list[int], list[int]]:
    """Ids of the special tokens that the tokenizer puts before a text, and after it."""
    with model.tokenizer_lock:
        encoded = model.tokenizer("a", verbose=False, return_special_tokens_mask=True)
    ids, special = encoded["input_ids"], encoded["special_tokens_mask"]
    typed = [place for place, mark in enumerate(special) if not mark]
    return ids[: typed[0]], ids[typed[-1] + 1 :]


def _ordinary_ids(model: LoadedModel) -> list[int]:
    """Ids that stand for text: no special tokens, none that the network has no vector for."""
    size = model.network.get_input_embeddings().num_embeddings
    with model.tokenizer_lock:
        special = set(model.tokenizer.all_special_ids) | set(model.tokenizer.added_tokens_decoder)
        known = len(model.tokenizer)
    return [index for index in range(min(size, known)) if index not in special]


def _tokens(model: LoadedModel, ids: list[int], before: int, after: int) -> tuple[Token, ...]:
    with model.tokenizer_lock:
        names = model.tokenizer.convert_ids_to_tokens(ids)
        bytewise = is_byte_level(model.tokenizer)
    last = len(ids) - after
    return tuple(
        Token(
            name,
            display_name(name, bytewise),
            id_,
            special=not before <= place < last,
            segment=0,
            position=place,
            word=place - before if before <= place < last else -1,
        )
        for place, (name, id_) in enumerate(zip(names, ids, strict=True))
    )
