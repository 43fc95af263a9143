"""Attribution patching: the effects of all heads at once, by one backward pass.

The change of a measure is taken to be linear in what a head gives: the gradient there times the
step to the replacement (Nanda 2023). It misses a head whose gradient vanishes though its removal
would matter, as before a saturated softmax (Kramár et al. 2024, section 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from core.model.capture.forward import recorded
from core.model.errors import UnsupportedModelError
from core.model.interventions.heads import (
    Doubles,
    Replace,
    as_input,
    replacements,
    side_by_side,
)
from core.model.interventions.measures import Measure, measured, measures_of
from core.model.interventions.words import Words
from core.model.refusal import refusing_to

if TYPE_CHECKING:
    import torch
    from PIL import Image

    from core.model.image.pixels import Pixels
    from core.model.interventions.reference import Source
    from core.model.running.loaded import LoadedModel

# At the model itself the others are at their smallest, so their gradient says nothing.
LINEAR: tuple[Measure, ...] = ("logit_difference", "loss", "class", "similarity")


class _Watch:
    """A change that changes nothing and keeps the outputs, with their gradients."""

    def __init__(self) -> None:
        self.outputs: list[torch.Tensor] = []

    def forbidden(self, number: int) -> None:
        """None."""

    def output(self, number: int, output: torch.Tensor) -> torch.Tensor:  # noqa: ARG002
        """The output itself, from which gradients are taken."""
        if not output.requires_grad:
            output = output.detach().requires_grad_()
        output.retain_grad()
        self.outputs.append(output)
        return output


def linear_measure(model: LoadedModel) -> Measure | None:
    """The measure that attribution patching has for a model and one text; None if there is none."""
    alone = (each for each in measures_of(model) if each in LINEAR and each != "similarity")
    found = next(alone, None)
    return None if found == "class" and model.classifier is None else found


@refusing_to("run")
def attributed_effects(
    model: LoadedModel,
    text: str | Image.Image | Pixels,
    replace: Replace = "mean",
    measure: Measure | None = None,
    *,
    reference: Sequence[str] | None = None,
    other: str | None = None,
    words: Words | None = None,
) -> Doubles:
    """What :func:`core.model.effects` gives as `values`, as the gradient foretells it.

    (layer, head), NaN where a layer has no such head; without a `measure`, the model's
    :func:`linear_measure`.

    Raises
    ------
    UnsupportedModelError
        For a measure that is at its smallest at the model itself: its gradient is zero.
    """
    import torch

    chosen = linear_measure(model) if measure is None else measure
    if chosen not in LINEAR or (chosen == "class" and model.classifier is None):
        raise UnsupportedModelError(
            "{name} has no measure whose gradient tells anything here.",
            f"Measure by {' or '.join(map(repr, LINEAR))}.",
        )
    second = None if other is None else as_input(model, other)
    way = measured(model, as_input(model, text), chosen, second, words)
    watches, reads = [_Watch() for _ in way.texts], []
    with torch.enable_grad():
        for each, watch in zip(way.texts, watches, strict=True):
            with recorded(model.way, 1, {each.tokens}, change=watch, keeps=False):
                reads.append(each.read(each.network(**each.inputs(1))))
        read = side_by_side(reads)
        way.compare(read.detach(), read).sum().backward()
    sources = [each for each in (text, other) if each is not None]
    foretold = [
        _foretold(model, source, watch.outputs, replace, reference)
        for source, watch in zip(sources, watches, strict=True)
    ]
    return np.sum(foretold, axis=0)


def _foretold(
    model: LoadedModel,
    source: Source,
    outputs: Sequence[torch.Tensor],
    replace: Replace,
    reference: Sequence[str] | None,
) -> Doubles:
    """Gradient times step of each head, (layer, head), summed over the tokens of one text."""
    own = tuple(layer.detach()[0] for layer in outputs)
    given = replacements(model, source, own, replace, reference)
    found = np.full((len(own), max(layer.shape[1] for layer in own)), np.nan)
    for layer, (output, other) in enumerate(zip(outputs, given, strict=True)):
        if output.grad is not None:
            steps = other - own[layer]  # (token, head, dim)
            found[layer, : steps.shape[1]] = (output.grad[0] * steps).sum((0, 2)).tolist()
    return found
