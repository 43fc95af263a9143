"""An input of a model, what is read from its passes and compared, and what runs the passes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from core.model.capture.forward import inputs_of, recorded
from core.model.errors import UnsupportedModelError, WrongInputError
from core.model.image.forward import image_inputs
from core.model.interventions.changing import UNCHANGED, Intervention
from core.model.interventions.measures import UNITS, Outcome, measures_of, tokens_of
from core.model.language import display_names, length_to_continue, narrowed
from core.model.running.images import image_input
from core.model.running.loaded import classifier_of
from core.model.text.inputs import encode
from core.model.text.vocabulary import check_ids

if TYPE_CHECKING:
    import torch
    from PIL import Image
    from transformers import PreTrainedModel

    from core.model.image.pixels import Pixels
    from core.model.interventions.stream import Follower
    from core.model.running.loaded import LoadedModel
    from core.model.text.inputs import TextInput

    Source = str | Image.Image | Pixels
    Value = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

COPIED_TOKENS = 512  # in total, of the copies that run together
MAX_READ = 16_000_000  # float64 numbers of logits at once: 128 MB


@dataclass(frozen=True, eq=False)
class Probe:
    """An input of a model, and what is read from its passes and compared.

    Attributes
    ----------
    item : the input, with one token hidden where that is measured.
    network : what runs; it shares the modules of the model's network.
    read : takes from its output what is compared: (copy, number).
    numbers : floats read per copy, all positions together.
    value : where the change is the drop of one number, that number, (copy,), from the reading
        before and the current one.
    words : tokens of the two words that are compared; None for the two likeliest.
    position, is_masked : as in a :class:`Measurement`.
    """

    model: LoadedModel
    item: TextInput
    measure: Outcome
    network: PreTrainedModel
    read: Callable[[Any], torch.Tensor]
    numbers: int = 0
    value: Value | None = None
    words: tuple[int, int] | None = None
    position: int | None = None
    is_masked: bool = False

    @property
    def tokens(self) -> int:
        """The number of tokens of the input."""
        return len(self.item.tokens)

    @property
    def copies(self) -> int:
        """How many copies of the input run together."""
        if not self.model.batches:
            return 1
        return max(1, min(COPIED_TOKENS // self.tokens, MAX_READ // max(1, self.numbers)))

    @property
    def is_vector(self) -> bool:
        """Whether a vector is read, whose direction is compared."""
        return self.value is None and self.measure != "kl"

    @property
    def unit(self) -> str:
        """The unit of the change."""
        of_cls = self.is_vector and self.measure == "class"
        return "1 − cosine of the CLS vector" if of_cls else UNITS[self.measure]

    def inputs(self, copies: int) -> dict[str, Any]:
        """The network's arguments for this many copies of the input."""
        model, item = self.model, self.item
        if model.vision is None or item.patches is None:
            check_ids(model.network, item.ids, item.segments)
            ids, segments = [item.ids] * copies, [item.segments] * copies
            return inputs_of(backbone_of(model), model.tokenizer, ids, segments)
        one = image_inputs(self.network, model.vision, [item.patches.pixels])
        tensors = {name: each for name, each in one.items() if hasattr(each, "expand")}
        copied = {name: each.expand(copies, *each.shape[1:]) for name, each in tensors.items()}
        return one | copied | {"return_dict": True}

    def compare(self, before: torch.Tensor, after: torch.Tensor) -> torch.Tensor:
        """The change, (copy,), from what was read before, (1, number), to after.

        It is positive where the change makes the model's own answer less likely, or moves the
        vector away.
        """
        if self.value is not None:
            return self.value(before, before) - self.value(before, after)
        return (_divergence if self.measure == "kl" else _cosine_distance)(before, after)

    def of(self, before: torch.Tensor) -> dict[str, Any]:
        """The fields of a :class:`Measurement`, from what was read before."""
        words: list[str] = []
        if self.measure in {"kl", "logit_difference"}:
            ids = self.words or before[0].topk(2).indices.tolist()
            words = display_names(self.model.tokenizer, ids)
        elif self.measure == "class" and self.model.labels:
            words = [self.model.labels[int(before[0].argmax())]]
        return {
            "measure": self.measure,
            "unit": self.unit,
            "words": tuple(words),
            "position": self.position,
            "is_masked": self.is_masked,
        }


def run(
    probe: Probe,
    change: Intervention = UNCHANGED,
    copies: int = 1,
    follower: Follower | None = None,
    *,
    grad: bool = False,
) -> torch.Tensor:
    """What is read under a change, (copy, number), from this many copies of the input.

    Use one `follower` for all passes over this input; its first pass must be of one copy without a
    change. With `grad`, gradients of what it follows can be taken. Raises
    `UnsupportedModelError` when the model attends in a way that cannot be followed on this input.
    """
    import torch
    from torch.overrides import TorchFunctionMode

    model, network = probe.model, probe.network
    # The fast function takes no extra mask.
    way = "exact" if model.way == "fast" and change.cells else model.way
    options: dict[str, Any] = {"change": change, "keeps": False}
    if follower is not None:
        network = follower.begin(change, copies)
        options["change"] = follower
    with (
        torch.inference_mode(mode=not grad),
        # Outside of what watches attention, which must see its outputs.
        follower if isinstance(follower, TorchFunctionMode) else nullcontext(),
        recorded(way, copies, {probe.tokens}, **options) as recorder,
    ):
        read = probe.read(network(**probe.inputs(copies)))
    if recorder.missed or recorder.count != model.layers:
        raise UnsupportedModelError(
            "{name} cannot be intervened on: its attention cannot be followed on this input.",
            "Use a shorter text, or another model.",
        )
    return read


def backbone_of(model: LoadedModel) -> PreTrainedModel:
    """The network without a head; of an encoder-decoder, its encoder."""
    network: PreTrainedModel = model.network
    return network.get_encoder() if model.is_encoder_decoder else network


def as_input(
    model: LoadedModel, source: Source, pair: str | None = None, max_tokens: int | None = None
) -> TextInput:
    """A text or an image as the model gets it."""
    if isinstance(source, str):
        return encode(model, source, pair, max_tokens)
    return image_input(model, source)


def probe_of(
    model: LoadedModel,
    source: Source,
    measure: Outcome | None = None,
    *,
    pair: str | None = None,
    max_tokens: int | None = None,
    words: tuple[str, str] | None = None,
) -> Probe:
    """How an input is measured, parameters as for :func:`core.model.effects`.

    Raises
    ------
    UnsupportedModelError
        When the model cannot be measured this way.
    WrongInputError
        When `words` belong to another measure, or one of them is not a token of the vocabulary.
    """
    offered = measures_of(model)
    chosen = offered[0] if measure is None else measure
    if chosen not in offered:
        raise UnsupportedModelError(
            f"{{name}} cannot be measured by {measure!r}.",
            f"Measure it by {' or '.join(map(repr, offered))}.",
        )
    if words is not None and chosen != "logit_difference":
        raise WrongInputError("Two words have a lead.", "Measure by 'logit_difference'.")
    item = as_input(model, source, pair, max_tokens)
    if chosen == "class":
        return _of_class(model, item)
    if chosen == "sentence":
        return whole_probe(model, item)
    word_ids = None if words is None else tokens_of(model.tokenizer, words)
    return _of_words(model, item, chosen, word_ids)


def whole_probe(model: LoadedModel, item: TextInput) -> Probe:
    """Reads the mean over all tokens of a text, as sentence encoders do."""
    return Probe(model, item, "sentence", backbone_of(model), lambda out: out[0].double().mean(1))


def _of_class(model: LoadedModel, item: TextInput) -> Probe:
    """Reads the logit of the likeliest class; for images without such a head, the CLS vector."""
    if model.classifier is not None:
        whole = model.classifier if model.sees_images else classifier_of(model)
        options: Any = {"numbers": len(model.labels), "value": _likeliest}
        return Probe(model, item, "class", whole, lambda out: out.logits.double(), **options)
    vision = model.vision
    if vision is None:
        raise AssertionError  # measures_of has said so

    def read(output: Any) -> torch.Tensor:  # noqa: ANN401 - transformers' own
        states: torch.Tensor = output.last_hidden_state
        return (states[:, 0] if vision.has_cls else states[:, vision.first :].mean(1)).double()

    return Probe(model, item, "class", model.network, read)


def _of_words(
    model: LoadedModel, item: TextInput, measure: Outcome, words: tuple[int, int] | None
) -> Probe:
    whole = model.language_model
    if whole is None:
        raise AssertionError  # measures_of has said so
    ids, is_masked = list(item.ids), False
    if model.task == "masked":
        position, is_masked = _masked_position(model, item)
        ids[position] = cast("int", model.tokenizer.mask_token_id)
    else:
        ids = ids[: length_to_continue(item.tokens)]
        position = len(ids) - 1
    rows = list(range(len(ids) - 1)) if measure == "loss" else [position]
    if not rows:
        raise UnsupportedModelError("There is no next word to lose in a text of one token.", "")
    targets, count = ids[1:], len(ids)

    def read(output: Any) -> torch.Tensor:  # noqa: ANN401 - transformers' own
        logits: torch.Tensor = output.logits
        logits = (logits if logits.shape[1] == len(rows) else logits[:, rows]).double()
        if measure != "loss":
            return logits[:, 0]
        log_probs = logits.log_softmax(-1)
        target_ids = log_probs.new_tensor(targets).long().expand(len(log_probs), -1)
        return log_probs.gather(-1, target_ids[..., None])[..., 0].mean(-1, keepdim=True)

    values: dict[Outcome, Value] = {
        "logit_difference": partial(_lead, words),
        "loss": lambda _before, read: read[:, 0],
    }
    return Probe(
        model,
        replace(item, ids=ids, segments=item.segments[:count], tokens=item.tokens[:count]),
        measure,
        narrowed(whole, model.network, rows),
        read,
        len(rows) * int(model.network.config.vocab_size),
        values.get(measure),
        words,
        position,
        is_masked,
    )


def _masked_position(model: LoadedModel, item: TextInput) -> tuple[int, bool]:
    """The position of the first typed mask; else of the last word, and True: it must be hidden."""
    mask = model.tokenizer.mask_token_id
    if mask in item.ids:
        return item.ids.index(mask), False
    words = [
        place
        for place, token in enumerate(item.tokens)
        if not token.special and any(map(str.isalnum, token.display))
    ]
    return (words or [len(item.ids) - 1])[-1], True


def _likeliest(before: torch.Tensor, read: torch.Tensor) -> torch.Tensor:
    """The logit of the class that was likeliest before."""
    return read[:, before[0].argmax()]


def _lead(words: tuple[int, int] | None, before: torch.Tensor, read: torch.Tensor) -> torch.Tensor:
    """How far the logit of the first word, or of the likeliest before, is above the second's."""
    first, second = words or before[0].topk(2).indices
    return read[:, first] - read[:, second]


def _cosine_distance(before: torch.Tensor, after: torch.Tensor) -> torch.Tensor:
    """1 - cosine, accurate even where the two are nearly the same."""
    units = (vectors / vectors.norm(dim=-1, keepdim=True) for vectors in (before, after))
    first, second = units
    return (first - second).square().sum(-1) / 2


def _divergence(before: torch.Tensor, after: torch.Tensor) -> torch.Tensor:
    """KL(before || after) of the distributions, in nats."""
    first, second = before.log_softmax(-1), after.log_softmax(-1)
    return (first.exp() * (first - second)).sum(-1).clamp(min=0)
