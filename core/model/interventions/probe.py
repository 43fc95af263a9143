"""An input of a model, what is read from its passes and compared, and what runs the passes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, cast

from core.model.capture.forward import inputs_of, recorded
from core.model.errors import UnsupportedModelError
from core.model.image.forward import image_inputs
from core.model.interventions.changing import UNCHANGED, Intervention
from core.model.interventions.measures import UNITS, Outcome, measures_of
from core.model.language import display_names, length_to_continue, narrowed
from core.model.running.images import image_input
from core.model.running.loaded import classifier_of
from core.model.text.inputs import encode
from core.model.text.vocabulary import check_ids

if TYPE_CHECKING:
    import torch
    from PIL import Image
    from transformers import PreTrainedModel

    from core.model.capture.calls import Check
    from core.model.image.facts import Vision
    from core.model.image.pixels import Pixels
    from core.model.interventions.stream import Stream
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
    position, is_masked, unit : as in a :class:`Measurement`; by default the measure's usual unit.
    """

    model: LoadedModel
    item: TextInput
    measure: Outcome
    network: PreTrainedModel
    read: Callable[[Any], torch.Tensor]
    numbers: int = 0
    value: Value | None = None
    position: int | None = None
    is_masked: bool = False
    unit: str = ""

    @property
    def copies(self) -> int:
        """How many copies of the input run together."""
        if not self.model.batches:
            return 1
        return max(1, min(COPIED_TOKENS // len(self.item.tokens), MAX_READ // max(1, self.numbers)))

    def inputs(self, copies: int) -> dict[str, Any]:
        """The network's arguments for this many copies of the input."""
        model, item = self.model, self.item
        if model.vision is not None and item.patches is not None:
            inputs = image_inputs(self.network, model.vision, [item.patches.pixels] * copies)
            return inputs | {"return_dict": True}
        check_ids(model.network, item.ids, item.segments)
        ids, segments = [item.ids] * copies, [item.segments] * copies
        return inputs_of(model.network, model.tokenizer, ids, segments)

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
            words = display_names(self.model.tokenizer, before[0].topk(2).indices.tolist())
        elif self.measure == "class" and self.model.labels:
            words = [self.model.labels[int(before[0].argmax())]]
        return {
            "measure": self.measure,
            "unit": self.unit or UNITS[self.measure],
            "words": tuple(words),
            "position": self.position,
            "is_masked": self.is_masked,
        }


def run(
    probe: Probe,
    change: Intervention = UNCHANGED,
    copies: int = 1,
    stream: Stream | None = None,
    check: Check | None = None,
    *,
    grad: bool = False,
) -> torch.Tensor:
    """What is read under a change, (copy, number), from this many copies of the input.

    Use one `stream` for all passes over this input; its first pass must be of one copy without a
    change. With `grad`, gradients of its heads can be taken. `check` is as in
    :class:`core.model.capture.calls.Recorder`. Raises `UnsupportedModelError` when the model
    attends in a way that cannot be followed on this input.
    """
    import torch

    model, tokens = probe.model, {len(probe.item.tokens)}
    network = stream.begin(change) if stream else probe.network
    with (
        torch.inference_mode(mode=not grad),
        # Outside of what watches attention, which must see its outputs.
        stream if stream and stream.frozen else nullcontext(),
        recorded(
            model.way, copies, tokens, change=stream or change, check=check, keeps=False
        ) as recorder,
    ):
        read = probe.read(network(**probe.inputs(copies)))
    if recorder.missed or recorder.count != model.layers:
        raise UnsupportedModelError(
            "{name} cannot be intervened on: its attention cannot be followed on this input.",
            "Use a shorter text, or another model.",
        )
    return read


class Cut(TypedDict, total=False):
    """A second text, and the number of tokens at which to cut, as for `core.model.trace_text`."""

    pair: str | None
    max_tokens: int | None


def as_input(model: LoadedModel, source: Source, **cut: Unpack[Cut]) -> TextInput:
    """A text or an image as the model gets it."""
    if isinstance(source, str):
        return encode(model, source, cut.get("pair"), cut.get("max_tokens"))
    return image_input(model, source)


def probe_of(
    model: LoadedModel, source: Source, measure: Outcome | None = None, **cut: Unpack[Cut]
) -> Probe:
    """How an input is measured, parameters as for :func:`core.model.effects`.

    Raises
    ------
    UnsupportedModelError
        When the model cannot be measured this way.
    """
    offered = measures_of(model)
    chosen = offered[0] if measure is None else measure
    if chosen not in offered:
        raise UnsupportedModelError(
            f"{{name}} cannot be measured by {measure!r}.",
            f"Measure it by {' or '.join(map(repr, offered))}.",
        )
    item = as_input(model, source, **cut)
    if chosen == "sentence":
        return whole_probe(model, item)
    return _of_class(model, item) if chosen == "class" else _of_words(model, item, chosen)


def whole_probe(model: LoadedModel, item: TextInput) -> Probe:
    """Reads the mean over all tokens of a text, as sentence encoders do."""
    network = model.network.get_encoder() if model.is_encoder_decoder else model.network
    return Probe(model, item, "sentence", network, lambda out: out[0].double().mean(1))


def _of_class(model: LoadedModel, item: TextInput) -> Probe:
    """Reads the logit of the likeliest class; for images without such a head, the CLS vector."""
    if model.classifier is not None:
        whole = model.classifier if model.sees_images else classifier_of(model)
        logits: Any = lambda out: out.logits.double()
        likeliest: Value = lambda before, read: read[:, before[0].argmax()]
        return Probe(model, item, "class", whole, logits, len(model.labels), likeliest)
    vision = cast("Vision", model.vision)  # as measures_of has said

    def read(output: Any) -> torch.Tensor:  # noqa: ANN401 - transformers' own
        states: torch.Tensor = output.last_hidden_state
        return (states[:, 0] if vision.has_cls else states[:, vision.first :].mean(1)).double()

    return Probe(model, item, "class", model.network, read, unit="1 − cosine of the CLS vector")


def _of_words(model: LoadedModel, item: TextInput, measure: Outcome) -> Probe:
    whole = cast("PreTrainedModel", model.language_model)  # as measures_of has said
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
        log_probs = logits.log_softmax(-1)[:, rows, targets]
        return log_probs.mean(-1, keepdim=True)

    values: dict[Outcome, Value] = {"logit_difference": _lead, "loss": lambda _, read: read[:, 0]}
    return Probe(
        model,
        replace(item, ids=ids, segments=item.segments[:count], tokens=item.tokens[:count]),
        measure,
        narrowed(whole, model.network, rows),
        read,
        len(rows) * int(model.network.config.vocab_size),
        values.get(measure),
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


def _lead(before: torch.Tensor, read: torch.Tensor) -> torch.Tensor:
    """How far the logit of the word that was likeliest before is above the second's."""
    first, second = before[0].topk(2).indices
    return read[:, first] - read[:, second]


def _cosine_distance(before: torch.Tensor, after: torch.Tensor) -> torch.Tensor:
    """1 - cosine, accurate even where the two are nearly the same."""
    first, second = (each / each.norm(dim=-1, keepdim=True) for each in (before, after))
    return (first - second).square().sum(-1) / 2


def _divergence(before: torch.Tensor, after: torch.Tensor) -> torch.Tensor:
    """KL(before || after) of the distributions, in nats."""
    first, second = before.log_softmax(-1), after.log_softmax(-1)
    return (first.exp() * (first - second)).sum(-1).clamp(min=0)
