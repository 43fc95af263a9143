"""What is measured before and after: words, a sentence vector, a class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from core.model.capture.forward import inputs_of
from core.model.errors import UnsupportedModelError, WrongInputError
from core.model.image.forward import image_inputs
from core.model.interventions.words import tokens_of
from core.model.language import display_names, length_to_continue, narrowed
from core.model.running.classes import classifier_of
from core.model.text.vocabulary import check_ids

if TYPE_CHECKING:
    import torch

    from core.model.running.loaded import LoadedModel
    from core.model.text.inputs import Input

    Value = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

Measure = Literal["kl", "logit_difference", "loss", "sentence", "class"]
MEASURES: tuple[Measure, ...] = get_args(Measure)
UNITS: dict[Measure, str] = {
    "kl": "nats",
    "logit_difference": "logits",
    "loss": "nats",
    "sentence": "1 − cosine",
    "class": "logits",
}
_OF_TASK: dict[str | None, tuple[Measure, ...]] = {
    "next": ("kl", "logit_difference", "loss"),
    "masked": ("kl", "logit_difference"),
}


@dataclass(frozen=True, eq=False)
class Measured:
    """How one input is measured.

    Attributes
    ----------
    measure, unit : what it is, and in what.
    network : what runs; it takes what `inputs` gives for so many copies of the input.
    read : of its output, what is compared: (copy, number).
    compare : the change, (copy,), from what was read before, (1, number), to after. It is positive
        where the change makes the model's own answer less likely, or moves the vector away.
    tokens : of the input; together with `numbers`, what a copy takes of memory.
    numbers : floats a copy that are read, all positions together.
    position : of the token whose word is measured, from 0; None where there is no such token.
    is_masked : whether that token was hidden for this.
    is_vector : whether a vector is read, whose direction is compared.
    value : where the change is the fall of one number, that number, (copy,), from what was read
        before and what is read.
    words : tokens of the two words that are compared; None for the two likeliest.
    """

    measure: Measure
    unit: str
    network: Callable[..., Any]
    inputs: Callable[[int], dict[str, Any]]
    read: Callable[[Any], torch.Tensor]
    compare: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
    tokens: int
    numbers: int
    position: int | None = None
    is_masked: bool = False
    is_vector: bool = False
    value: Value | None = None
    words: tuple[int, int] | None = None


def measures_of(model: LoadedModel) -> tuple[Measure, ...]:
    """What can be measured of this model, its default first."""
    if model.sees_images:
        return ("class",)
    if model.classifier is not None:
        return ("class", "sentence")
    if model.language_model is None or model.is_encoder_decoder:
        return ("sentence",)
    return (*_OF_TASK[model.task], "sentence")


def measured(
    model: LoadedModel,
    item: Input,
    measure: Measure | None,
    words: tuple[str, str] | None = None,
) -> Measured:
    """How this input is measured; without a `measure`, by the model's default.

    Raises
    ------
    UnsupportedModelError
        When the model cannot be measured so.
    WrongInputError
        When `words` belong to another measure, or one of them is no token of the vocabulary.
    """
    offered = measures_of(model)
    if measure is not None and measure not in offered:
        raise UnsupportedModelError(
            f"{{name}} cannot be measured by {measure!r}.",
            f"Measure it by {' or '.join(map(repr, offered))}.",
        )
    chosen = offered[0] if measure is None else measure
    if words is not None and chosen != "logit_difference":
        raise WrongInputError("Two words have a lead.", "Measure by 'logit_difference'.")
    if chosen == "class":
        return _of_image(model, item) if model.sees_images else _of_text(model, item)
    if chosen == "sentence":
        return _of_sentence(model, item)
    named = None if words is None else tokens_of(model.tokenizer, words)
    return _of_words(model, item, chosen, named)


def _of_image(model: LoadedModel, item: Input) -> Measured:
    """The logit of the likeliest class; without a head for classes, the vector of CLS."""
    import torch

    vision, patches = model.vision, item.patches
    if vision is None or patches is None:
        raise AssertionError  # measures_of has said so
    network = model.network if model.classifier is None else model.classifier

    def inputs(count: int) -> dict[str, Any]:
        one = image_inputs(network, vision, [patches.pixels])
        repeated = {
            name: value.expand(count, *value.shape[1:]) if torch.is_tensor(value) else value
            for name, value in one.items()
        }
        return repeated | {"return_dict": True}

    def read(output: Any) -> torch.Tensor:  # noqa: ANN401 - transformers' own
        if model.classifier is not None:
            return cast("torch.Tensor", output.logits).double()
        states = output.last_hidden_state
        return (states[:, 0] if vision.has_cls else states[:, vision.first :].mean(1)).double()

    own = model.classifier is None
    return Measured(
        "class",
        "1 − cosine of the CLS vector" if own else UNITS["class"],
        network,
        inputs,
        read,
        _cosine_distance if own else partial(_decrease, _likeliest),
        len(item.tokens),
        len(model.labels),
        is_vector=own,
        value=None if own else _likeliest,
    )


def _of_text(model: LoadedModel, item: Input) -> Measured:
    """The logit of the likeliest class."""
    return Measured(
        "class",
        UNITS["class"],
        classifier_of(model),
        _texts(model, item.ids, item.segments),
        lambda output: output.logits.double(),
        partial(_decrease, _likeliest),
        len(item.ids),
        len(model.labels),
        value=_likeliest,
    )


def _likeliest(before: torch.Tensor, read: torch.Tensor) -> torch.Tensor:
    """The logit of the class that was likeliest before."""
    return read[:, before[0].argmax()]


def _of_sentence(model: LoadedModel, item: Input) -> Measured:
    """The mean of the last vectors of all tokens, as encoders of sentences are read."""
    network = model.network.get_encoder() if model.is_encoder_decoder else model.network
    return Measured(
        "sentence",
        UNITS["sentence"],
        network,
        _texts(model, item.ids, item.segments),
        lambda output: output[0].double().mean(1),
        _cosine_distance,
        len(item.ids),
        0,
        is_vector=True,
    )


def _decrease(value: Value, before: torch.Tensor, after: torch.Tensor) -> torch.Tensor:
    """How much smaller a number becomes."""
    return value(before, before) - value(before, after)


def _cosine_distance(before: torch.Tensor, after: torch.Tensor) -> torch.Tensor:
    """1 - cosine, exact also where the two are nearly the same."""
    units = (vectors / vectors.norm(dim=-1, keepdim=True) for vectors in (before, after))
    first, second = units
    return (first - second).square().sum(-1) / 2


def _of_words(
    model: LoadedModel, item: Input, measure: Measure, words: tuple[int, int] | None
) -> Measured:
    whole = model.language_model
    if whole is None:
        raise AssertionError  # measures_of has said so
    ids, position, is_masked = list(item.ids), 0, False
    if model.task == "masked":
        position, is_masked = _masked_position(model, item)
        ids[position] = cast("int", model.tokenizer.mask_token_id)
    else:
        ids = ids[: length_to_continue(item.tokens)]
        position = len(ids) - 1
    rows = list(range(len(ids) - 1)) if measure == "loss" else [position]
    if not rows:
        raise UnsupportedModelError("There is no next word to lose in a text of one token.", "")
    targets = ids[1:]

    def read(output: Any) -> torch.Tensor:  # noqa: ANN401 - transformers' own
        logits: torch.Tensor = output.logits
        logits = (logits if logits.shape[1] == len(rows) else logits[:, rows]).double()
        if measure != "loss":
            return logits[:, 0]
        chances = logits.log_softmax(-1)
        wanted = chances.new_tensor(targets).long().expand(len(chances), -1)
        return -chances.gather(-1, wanted[..., None])[..., 0].mean(-1, keepdim=True)

    lead = partial(_lead, words)
    compared: dict[Measure, Value] = {
        "kl": _divergence,
        "logit_difference": partial(_decrease, lead),
        "loss": _increase,
    }
    return Measured(
        measure,
        UNITS[measure],
        narrowed(whole, model.network, rows),
        _texts(model, ids, item.segments[: len(ids)]),
        read,
        compared[measure],
        len(ids),
        len(rows) * int(model.network.config.vocab_size),
        position,
        is_masked,
        value=lead if measure == "logit_difference" else None,
        words=words,
    )


def _masked_position(model: LoadedModel, item: Input) -> tuple[int, bool]:
    """The first mask that was typed; else the last word, and that it must be hidden."""
    mask = model.tokenizer.mask_token_id
    if mask in item.ids:
        return item.ids.index(mask), False
    words = [
        place
        for place, token in enumerate(item.tokens)
        if not token.special and any(map(str.isalnum, token.display))
    ]
    return (words or [len(item.ids) - 1])[-1], True


def _lead(words: tuple[int, int] | None, before: torch.Tensor, read: torch.Tensor) -> torch.Tensor:
    """How far the logit of the first word, or of the likeliest before, is above the second's."""
    first, second = words or before[0].topk(2).indices
    return read[:, first] - read[:, second]


def _divergence(before: torch.Tensor, after: torch.Tensor) -> torch.Tensor:
    """KL(before, after) of the distributions, in nats."""
    first, second = before.log_softmax(-1), after.log_softmax(-1)
    return (first.exp() * (first - second)).sum(-1).clamp(min=0)


def _increase(before: torch.Tensor, after: torch.Tensor) -> torch.Tensor:
    return (after - before)[:, 0]


def _texts(
    model: LoadedModel, ids: list[int], segments: list[int]
) -> Callable[[int], dict[str, Any]]:
    check_ids(model.network, ids, segments)
    network = model.network.get_encoder() if model.is_encoder_decoder else model.network
    return lambda count: inputs_of(network, model.tokenizer, [ids] * count, [segments] * count)


def words_of(model: LoadedModel, read: torch.Tensor, measured: Measured) -> tuple[str, ...]:
    """The two words, or the likeliest class, from what was read before."""
    if measured.measure in {"kl", "logit_difference"}:
        return tuple(
            display_names(model.tokenizer, measured.words or read[0].topk(2).indices.tolist())
        )
    if measured.measure == "class" and model.labels:
        return (model.labels[int(read[0].argmax())],)
    return ()
