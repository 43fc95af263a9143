"""Planted models do what their truth says."""

from __future__ import annotations

from collections.abc import Collection
from typing import get_args

import numpy as np
import pytest
import torch

from core.model import LoadedModel, trace_text
from tests.model.bundled import loaded
from tests.model.interventions.surgery import without_heads
from tests.model.planted import HEADS, PLANTED, Example, PlantedHead, PlantedModel, Role
from tests.rounding import assert_same_pass

ALL = [(planted, example) for planted in PLANTED.values() for example in planted.examples]

each_example = pytest.mark.parametrize(
    ("planted", "example"), ALL, ids=[f"{planted.name}-{example.word}" for planted, example in ALL]
)


def ids_of(model: LoadedModel, text: str) -> torch.Tensor:
    return torch.tensor([model.tokenizer(text)["input_ids"]])


def without(model: LoadedModel, heads: Collection[PlantedHead], text: str) -> torch.Tensor:
    """Logits after the last token with the rows of W_O of some heads at zero."""
    places = [(head.place[0] - 1, head.place[1] - 1) for head in heads]
    network = without_heads(model, *places, whole=model.language_model)
    with torch.inference_mode():
        logits: torch.Tensor = network(ids_of(model, text)).logits
    return logits[0, -1]


def probability(model: LoadedModel, logits: torch.Tensor, word: str) -> float:
    index: int = model.tokenizer.convert_tokens_to_ids(word)
    return float(logits.softmax(-1)[index])


def test_every_role_is_planted_in_models_that_open_with_the_check() -> None:
    roles = {head.role for planted in PLANTED.values() for head in planted.heads}
    assert roles == set(get_args(Role))
    for planted in PLANTED.values():
        model = loaded(planted.folder)
        assert (model.layers, model.heads, model.dim, model.max_tokens) == (2, HEADS, 16, 32)
        assert (model.causal, model.batches, model.task) == (True, True, "next")
        assert model.probe_error < 1e-5


@each_example
def test_heads_attend_as_their_roles_say(planted: PlantedModel, example: Example) -> None:
    model = loaded(planted.folder)
    trace = trace_text(model, example.text)
    words = [token.text for token in trace.tokens]
    last = len(words) - 1
    earlier = words.index(words[-1])
    to = {"induction": earlier + 1, "duplicate": earlier, "empty": earlier}
    elsewhere = trace_text(model, example.contrast)
    for head in planted.heads:
        layer, number = head.place[0] - 1, head.place[1] - 1
        weights = trace.attention(layer, number)
        if head.role in {"previous", "twin", "saturated"}:
            assert (np.diagonal(weights, -1) > 0.99).all()
        elif head.role == "sink":
            assert (weights[:, 0] > 1 - 1e-6).all()
        elif head.role != "idle":
            assert earlier < last
            assert weights[last, to[head.role]] > 0.9
            assert elsewhere.attention(layer, number)[last, 0] > 0.9  # where there is no copy
        else:
            assert weights[last].max() < 0.9


@each_example
def test_the_next_word_is_the_one_named_and_only_needed_heads_are_needed(
    planted: PlantedModel, example: Example
) -> None:
    """By surgery: the rows of W_O at zero, each head by itself, and twins together."""
    model = loaded(planted.folder)
    own, other = (ids_of(model, text) for text in (example.text, example.contrast))
    assert own.shape == other.shape
    assert model.tokenizer.unk_token_id not in torch.cat([own, other])
    whole = without(model, (), example.text)
    assert probability(model, whole, example.word) > 0.9
    assert probability(model, without(model, (), example.contrast), example.word) < 0.1
    for head in planted.heads:
        logits = without(model, [head], example.text)
        stays = not head.needed or head.role == "twin"
        assert (probability(model, logits, example.word) > 0.9) == stays
        assert (int(logits.argmax()) == int(whole.argmax())) == stays
        if head.role in {"sink", "empty"}:
            assert_same_pass(logits, whole)
        if head.role == "idle":  # next to nothing, and not nothing
            assert 0 < (logits - whole).abs().max() < 0.3
    if twins := [head for head in planted.heads if head.role == "twin"]:
        assert len(twins) == 2
        assert probability(model, without(model, twins, example.text), example.word) < 0.1
    others = [head for head in planted.heads if not head.needed]
    assert probability(model, without(model, others, example.text), example.word) > 0.9
