"""Planted models do what their truth says."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, get_args

import numpy as np
import pytest
import torch
from torch.func import functional_call

from core.model import LoadedModel, trace_text
from tests.model.bundled import loaded
from tests.model.planted import HEADS, PLANTED, Example, PlantedModel, Role
from tests.rounding import assert_same_pass

DIM = 16  # of a head
ALL = [(planted, example) for planted in PLANTED.values() for example in planted.examples]
Place = tuple[int, int]

each_model = pytest.mark.parametrize("planted", PLANTED.values(), ids=list(PLANTED))
each_example = pytest.mark.parametrize(
    ("planted", "example"), ALL, ids=[f"{planted.name}-{example.word}" for planted, example in ALL]
)


def network_of(model: LoadedModel) -> Any:
    assert model.language_model is not None
    return model.language_model


def ids_of(model: LoadedModel, text: str) -> torch.Tensor:
    return torch.tensor([model.tokenizer(text)["input_ids"]])


def id_of(model: LoadedModel, word: str) -> int:
    index: int = model.tokenizer.convert_tokens_to_ids(word)
    return index


def part(place: Place) -> slice:
    """The dims of a head in what meets W_O."""
    return slice((place[1] - 1) * DIM, place[1] * DIM)


def without(model: LoadedModel, places: Collection[Place], text: str) -> torch.Tensor:
    """Logits after the last token with the rows of W_O of some heads at zero."""
    changed = {}
    for layer in {layer for layer, _ in places}:
        name = f"transformer.h.{layer - 1}.attn.c_proj.weight"
        changed[name] = network_of(model).get_parameter(name).detach().clone()
        for place in places:
            if place[0] == layer:
                changed[name][part(place)] = 0
    with torch.inference_mode():
        output = functional_call(network_of(model), changed, (ids_of(model, text),))
    return output.logits[0, -1]


def probability(model: LoadedModel, logits: torch.Tensor, word: str) -> float:
    return float(logits.softmax(-1)[id_of(model, word)])


def test_every_role_stands_in_the_truth() -> None:
    heads = [head for planted in PLANTED.values() for head in planted.heads]
    assert {head.role for head in heads} == set(get_args(Role))


@each_model
def test_it_opens_with_the_check(planted: PlantedModel) -> None:
    model = loaded(planted.folder)
    assert (model.layers, model.heads, model.dim, model.max_tokens) == (2, HEADS, DIM, 32)
    assert model.causal
    assert model.batches
    assert model.task == "next"
    assert model.probe_error < 1e-5


@each_example
def test_the_next_word_is_the_one_named(planted: PlantedModel, example: Example) -> None:
    model = loaded(planted.folder)
    assert probability(model, without(model, (), example.text), example.word) > 0.9
    assert probability(model, without(model, (), example.contrast), example.word) < 0.1
    own, other = (ids_of(model, text) for text in (example.text, example.contrast))
    assert own.shape == other.shape
    unknown = model.tokenizer.unk_token_id
    assert unknown not in own
    assert unknown not in other


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
def test_only_needed_heads_are_needed(planted: PlantedModel, example: Example) -> None:
    """By surgery: the rows of W_O at zero, each head by itself, and twins together."""
    model = loaded(planted.folder)
    whole = without(model, (), example.text)
    twins = [head.place for head in planted.heads if head.role == "twin"]
    for head in planted.heads:
        logits = without(model, [head.place], example.text)
        stays = not head.needed or head.role == "twin"
        assert (probability(model, logits, example.word) > 0.9) == stays
        assert (int(logits.argmax()) == id_of(model, example.word)) == stays
        if head.role in {"sink", "empty"}:
            assert_same_pass(logits, whole)
        if head.role == "idle":  # next to nothing, and not nothing
            assert 0 < (logits - whole).abs().max() < 0.3
    if twins:
        assert len(twins) == 2
        assert probability(model, without(model, twins, example.text), example.word) < 0.1
    needed = {head.place for head in planted.heads if head.needed}
    others = {head.place for head in planted.heads} - needed
    assert probability(model, without(model, others, example.text), example.word) > 0.9
