"""Planted models do what their truth says, and methods judge their heads as it says."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache, partial
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import torch
from torch.func import functional_call

from core.model import LoadedModel, catalog, load, trace_text
from core.model.bundled.planted import (
    HEADS,
    PLANTED,
    Example,
    Method,
    PlantedHead,
    PlantedModel,
    Role,
)
from tests.rounding import assert_same_pass
from tests.tools.making.planted import FOLDER, write

DIM = 16  # of a head
ALL = [(planted, example) for planted in PLANTED.values() for example in planted.examples]
# From which part of the measure, or of the largest norm, a method points to a head; and from which
# attention.
SHARE, ATTENTION = 0.1, 0.9
Place = tuple[int, int]
Outputs = list[torch.Tensor]  # of the heads before W_O, a layer each (token, WIDTH)

each_model = pytest.mark.parametrize("planted", PLANTED.values(), ids=list(PLANTED))
each_example = pytest.mark.parametrize(
    ("planted", "example"), ALL, ids=[f"{planted.name}-{example.word}" for planted, example in ALL]
)
loaded: Callable[[str], LoadedModel] = cache(load)


def network_of(model: LoadedModel) -> Any:
    assert model.language_model is not None
    return model.language_model


def ids_of(model: LoadedModel, text: str) -> torch.Tensor:
    return torch.tensor([model.tokenizer(text)["input_ids"]])


def id_of(model: LoadedModel, word: str) -> int:
    index: int = model.tokenizer.convert_tokens_to_ids(word)
    return index


def measure(model: LoadedModel, logits: torch.Tensor, word: str) -> torch.Tensor:
    """The logit of a word above the mean of all logits."""
    return logits[id_of(model, word)] - logits.mean()


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


def run(
    model: LoadedModel, text: str, put: dict[Place, torch.Tensor] | None = None
) -> tuple[torch.Tensor, Outputs]:
    """Logits after the last token, and the heads' outputs; `put` stands in place of some."""
    outputs: Outputs = []

    def hook(layer: int, _: object, inputs: tuple[torch.Tensor]) -> tuple[torch.Tensor]:
        given = inputs[0].clone()
        for place, vectors in (put or {}).items():
            if place[0] == layer:
                given[0, :, part(place)] = vectors
        if not given.requires_grad:  # gradients are asked for by it, and not by weights
            given.requires_grad_()
        outputs.append(given)
        return (given,)

    blocks = network_of(model).transformer.h
    handles = [
        block.attn.c_proj.register_forward_pre_hook(partial(hook, layer))
        for layer, block in enumerate(blocks, start=1)
    ]
    try:
        logits = network_of(model)(ids_of(model, text)).logits[0, -1]
    finally:
        for handle in handles:
            handle.remove()
    return logits, outputs


class Judged:
    """What each method says of the heads of a model on one example."""

    def __init__(self, planted: PlantedModel, example: Example) -> None:
        self.model, self.example = loaded(planted.name), example
        texts = [text for each in planted.examples for text in (each.text, each.contrast)]
        self.logits, self.outputs = run(self.model, example.text)
        self.measured = float(measure(self.model, self.logits.detach(), example.word))
        self.other = run(self.model, example.contrast)[1]
        runs = [run(self.model, text)[1] for text in texts]
        self.means = [
            torch.cat([outputs[layer][0] for outputs in runs]).mean(0).detach() for layer in (0, 1)
        ]

    def change(self, put: dict[Place, torch.Tensor]) -> float:
        """How much the measure changes with something in place of the outputs of heads."""
        with torch.no_grad():
            logits, _ = run(self.model, self.example.text, put)
            return float(measure(self.model, logits, self.example.word)) - self.measured

    def mean(self, place: Place) -> torch.Tensor:
        return self.means[place[0] - 1][part(place)]

    def attribution(self, place: Place, measured: torch.Tensor) -> float:
        """The gradient of a measure by the head's output, times (mean - output)."""
        output = self.outputs[place[0] - 1]
        (slope,) = torch.autograd.grad(measured, output, retain_graph=True)
        difference = self.mean(place) - output[0, :, part(place)].detach()
        return float((slope[0, :, part(place)] * difference).sum())

    def written(self, place: Place) -> torch.Tensor:
        """What the head adds to the last token."""
        w_o = network_of(self.model).transformer.h[place[0] - 1].attn.c_proj.weight
        return (self.outputs[place[0] - 1][0, -1, part(place)] @ w_o[part(place)]).detach()

    def direct(self, place: Place) -> float:
        """What the head's own output adds to the measure, up to the last normalization's scale."""
        logits = network_of(self.model).lm_head(self.written(place))
        return float(measure(self.model, logits, self.example.word))

    def attention(self, place: Place) -> float:
        trace = trace_text(self.model, self.example.text)
        return float(trace.attention(place[0] - 1, place[1] - 1)[-1].max())

    def points_to(self, method: Method, place: Place) -> bool:
        """Whether a method says that the head matters."""
        if method == "attention":
            return self.attention(place) > ATTENTION
        if method == "norm":
            every = [(layer, head) for layer in (1, 2) for head in range(1, HEADS + 1)]
            largest = max(float(self.written(each).norm()) for each in every)
            return float(self.written(place).norm()) > SHARE * largest
        if method == "attribution":
            measured = measure(self.model, self.logits, self.example.word)
            effect = self.attribution(place, measured)
        elif method == "direct":
            effect = self.direct(place)
        else:
            put = {
                "zero": torch.zeros(DIM),
                "mean": self.mean(place),
                "resample": self.other[place[0] - 1][0, :, part(place)],
            }[method]
            effect = self.change({place: put})
        return abs(effect) > SHARE * self.measured


judged: Callable[[str, Example], Judged] = cache(lambda name, each: Judged(PLANTED[name], each))


def only(name: str, role: Role) -> list[PlantedHead]:
    return [head for head in PLANTED[name].heads if head.role == role]


def test_every_role_and_every_method_stands_in_the_truth() -> None:
    heads = [head for planted in PLANTED.values() for head in planted.heads]
    assert {head.role for head in heads} == set(get_args(Role))
    misjudging = {method for head in heads for method in head.misjudged_by}
    assert misjudging == set(get_args(Method)) - {"norm"}


@each_model
def test_it_opens_with_the_check_and_is_not_offered(planted: PlantedModel) -> None:
    model = loaded(planted.name)
    assert (model.layers, model.heads, model.dim, model.max_tokens) == (2, HEADS, DIM, 32)
    assert model.causal
    assert model.batches
    assert model.task == "next"
    assert model.probe_error < 1e-5
    assert planted.name not in {spec.name for spec in catalog.reading("text")}
    folder = FOLDER / planted.name.removeprefix("bundled/planted-")
    assert sum(path.stat().st_size for path in folder.iterdir()) < 100_000


@each_example
def test_the_next_word_is_the_one_named(planted: PlantedModel, example: Example) -> None:
    model = loaded(planted.name)
    assert probability(model, without(model, (), example.text), example.word) > 0.9
    assert probability(model, without(model, (), example.contrast), example.word) < 0.1
    own, other = (ids_of(model, text) for text in (example.text, example.contrast))
    assert own.shape == other.shape
    unknown = model.tokenizer.unk_token_id
    assert unknown not in own
    assert unknown not in other


@each_example
def test_heads_attend_as_their_roles_say(planted: PlantedModel, example: Example) -> None:
    model = loaded(planted.name)
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
    model = loaded(planted.name)
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


@each_example
def test_methods_judge_heads_as_the_truth_says(planted: PlantedModel, example: Example) -> None:
    judge = judged(planted.name, example)
    for method in get_args(Method):
        pointed_to = {head.label for head in planted.heads if judge.points_to(method, head.place)}
        said = [head for head in planted.heads if head.needed != (method in head.misjudged_by)]
        assert pointed_to == {head.label for head in said}, method


@pytest.mark.parametrize("example", PLANTED["bundled/planted-twins"].examples)
def test_one_twin_replaced_changes_little_and_both_everything(example: Example) -> None:
    judge = judged("bundled/planted-twins", example)
    places = [head.place for head in only("bundled/planted-twins", "twin")]
    for put in ([torch.zeros(DIM)] * 2, [judge.mean(place) for place in places]):
        both = dict(zip(places, put, strict=True))
        assert judge.change(both) < -0.9 * judge.measured
        for place, vector in both.items():
            assert abs(judge.change({place: vector})) < 0.001 * judge.measured


@pytest.mark.parametrize("example", PLANTED["bundled/planted-saturated"].examples)
def test_a_gradient_does_not_see_what_is_saturated(example: Example) -> None:
    name = "bundled/planted-saturated"
    judge = judged(name, example)
    (head,) = only(name, "saturated")
    logits, _ = run(judge.model, example.text, {head.place: judge.mean(head.place)})
    index = id_of(judge.model, example.word)
    for own, changed in (
        (
            measure(judge.model, judge.logits, example.word),
            measure(judge.model, logits, example.word),
        ),
        (judge.logits.log_softmax(-1)[index], logits.log_softmax(-1)[index]),
    ):
        change = (changed - own).item()
        assert change < -3
        assert abs(judge.attribution(head.place, own)) < 0.05 * abs(change)


def test_the_script_writes_the_same_weights_byte_for_byte(tmp_path: Path) -> None:
    write(tmp_path)
    made, kept = (
        {path.relative_to(folder): path.read_bytes() for path in folder.glob("*/*.safetensors")}
        for folder in (tmp_path, FOLDER)
    )
    assert len(made) == len(PLANTED)
    assert made == kept
