"""What heads give on other texts or images: the reference that replacements come from."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from core.model import box
from core.model.capture.forward import inputs_of, recorded
from core.model.image.forward import image_inputs
from core.model.refusal import refusing_to
from core.model.running.images import image_input
from core.model.text.inputs import encode

if TYPE_CHECKING:
    import torch

    from core.model.running.loaded import LoadedModel
    from core.model.text.inputs import Input

    Outputs = tuple[torch.Tensor, ...]  # of each layer that attends, (token, head, dim)

TEXTS = 48  # of the sample corpus, evenly spread
_SAMPLE = Path(__file__).parents[1] / "box" / "sample.txt"
_MARKS = re.compile(r"\[(\w[\w'’-]*)(?::\w+)?\]|\{(\w+)=[^}]*\}")
_kept: WeakKeyDictionary[LoadedModel, tuple[Outputs, ...]] = WeakKeyDictionary()


@cache
def reference_texts() -> tuple[str, ...]:
    """Sentences of the sample corpus, which come with the app."""
    lines = _SAMPLE.read_text("utf-8").splitlines()
    texts = [
        _MARKS.sub(lambda mark: mark[1] or mark[2], line)
        for line in lines
        if line.strip() and not line.startswith(("#", "=="))
    ]
    return tuple(texts[:: len(texts) // TEXTS][:TEXTS])


@refusing_to("run")
def reference_outputs(
    model: LoadedModel, texts: Sequence[str] | None = None
) -> tuple[Outputs, ...]:
    """What every head gives, before W_O, on each of `texts`; those of the default are kept.

    Without `texts`, on :func:`reference_texts`, or on the sample images. About
    4 layers heads dim bytes a token: 3 MB for a small encoder.
    """
    if texts is None and model in _kept:
        return _kept[model]
    outputs = tuple(head_outputs(model, item) for item in _items(model, texts))
    if texts is None:
        _kept[model] = outputs
    return outputs


def _items(model: LoadedModel, texts: Sequence[str] | None) -> list[Input]:
    if model.sees_images:
        return [image_input(model, box.open_box(name)) for name in box.BOX]
    return [encode(model, text, None, None) for text in texts or reference_texts()]


def head_outputs(model: LoadedModel, item: Input) -> Outputs:
    """What every head gives on one input, before W_O."""
    network = model.network
    if model.vision is not None and item.patches is not None:
        inputs = image_inputs(network, model.vision, [item.patches.pixels])
    else:
        network = network.get_encoder() if model.is_encoder_decoder else network
        inputs = inputs_of(network, model.tokenizer, [item.ids], [item.segments])
    return outputs_of(model, network, inputs, len(item.tokens))


def outputs_of(
    model: LoadedModel, network: Callable[..., object], inputs: Mapping[str, Any], tokens: int
) -> Outputs:
    """What every head gives in one pass of a network around the model's, of so many tokens."""
    import torch

    outputs: list[torch.Tensor] = []
    with (
        torch.inference_mode(),
        recorded(
            model.way,
            1,
            {tokens},
            check=lambda _call, output, _weights: outputs.append(output[0].clone()),
            keeps=False,
        ),
    ):
        network(**inputs)
    return tuple(outputs)


def mean_outputs(outputs: Sequence[Outputs]) -> Outputs:
    """The mean over all tokens of all texts, (1, head, dim) of each layer."""
    import torch

    return tuple(
        torch.cat(layer).float().mean(0, keepdim=True) for layer in zip(*outputs, strict=True)
    )


def aligned_outputs(outputs: Sequence[Outputs], own: Outputs) -> Outputs:
    """Another text's outputs at the tokens of `own`: of the one nearest in length.

    Its first token stands for the first and its last for the last; those between by their relative
    place. The text itself is no other text.
    """
    import torch

    tokens = len(own[0])
    others = [each for each in outputs if not _same(each, own)]
    other = min(others or outputs, key=lambda each: abs(len(each[0]) - tokens))
    places = torch.linspace(0, len(other[0]) - 1, tokens).round().long()
    return tuple(layer[places] for layer in other)


def _same(first: Outputs, second: Outputs) -> bool:
    return first[0].shape == second[0].shape and bool(first[0].isclose(second[0]).all())
