"""Random token sequences, repeated once, which reveal the heads that copy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from core.model.errors import TooShortError
from core.model.refusal import refusing_to
from core.model.running.loaded import LoadedModel
from core.model.running.tracing import trace_inputs
from core.model.text.inputs import TextInput
from core.model.text.tokens import describe_ids
from core.model.trace import Token, Trace

LENGTH = 50  # tokens per sequence, as in Olsson et al. 2022 and later tutorials
SEQUENCES = 4
SEED = 20_220_308


@refusing_to("run")
def trace_repeated(
    model: LoadedModel, *, length: int = LENGTH, sequences: int = SEQUENCES, seed: int = SEED
) -> Iterator[Trace]:
    """Traces of random sequences of ordinary tokens, each followed by itself.

    The tokenizer's special tokens enclose both copies together. A model that takes fewer tokens
    than twice `length` gets shorter sequences.

    Raises
    ------
    TooShortError
        When not even two tokens fit twice.
    """
    before, after = _template(model)
    length = min(length, (model.max_tokens - len(before) - len(after)) // 2)
    if length < 2:
        raise TooShortError(
            f"{{name}} takes {model.max_tokens} tokens;"
            f" a sequence of {length} tokens cannot be repeated.",
            "Pick a model that takes longer texts.",
        )
    ordinary = _ordinary_ids(model)
    generator = np.random.default_rng(seed)
    inputs = []
    for _ in range(sequences):
        half = generator.choice(ordinary, length, replace=False).tolist()
        ids = [*before, *half, *half, *after]
        inputs.append(
            TextInput(ids, [0] * len(ids), _tokens(model, ids, len(before), len(after)), 0)
        )
    return trace_inputs(model, inputs)


def _template(model: LoadedModel) -> tuple[list[int], list[int]]:
    """Ids of the special tokens that the tokenizer puts before and after a text."""
    with model.tokenizer_lock:
        encoded = model.tokenizer("a", verbose=False, return_special_tokens_mask=True)
    ids, special = encoded["input_ids"], encoded["special_tokens_mask"]
    typed = [place for place, mark in enumerate(special) if not mark]
    return ids[: typed[0]], ids[typed[-1] + 1 :]


def _ordinary_ids(model: LoadedModel) -> list[int]:
    """Ids of text tokens that the network has vectors for; no special tokens."""
    size = model.network.get_input_embeddings().num_embeddings
    with model.tokenizer_lock:
        special = set(model.tokenizer.all_special_ids) | set(model.tokenizer.added_tokens_decoder)
        size = min(size, len(model.tokenizer))
    return [index for index in range(size) if index not in special]


def _tokens(model: LoadedModel, ids: list[int], before: int, after: int) -> tuple[Token, ...]:
    """The tokens of a sequence, each a word by itself, with special ones before and after."""
    with model.tokenizer_lock:
        tokens = describe_ids(model.tokenizer, ids)
    inner = range(before, len(ids) - after)
    return tuple(
        replace(each, special=place not in inner, word=place - before if place in inner else -1)
        for place, each in enumerate(tokens)
    )
