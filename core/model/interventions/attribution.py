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
from core.model.interventions.heads import Doubles, Replace, as_input, own_outputs, replacements
from core.model.interventions.measures import Measure, measured, measures_of
from core.model.refusal import refusing_to

if TYPE_CHECKING:
    import torch
    from PIL import Image

    from core.model.image.pixels import Pixels
    from core.model.running.loaded import LoadedModel

# At the model itself the others are at their smallest, so their gradient says nothing.
LINEAR: tuple[Measure, ...] = ("logit_difference", "loss", "class")


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
    """The measure that attribution patching has for a model; None if there is none."""
    found = next((each for each in measures_of(model) if each in LINEAR), None)
    return None if found == "class" and model.classifier is None else found


@refusing_to("run")
def attributed_effects(
    model: LoadedModel,
    text: str | Image.Image | Pixels,
    replace: Replace = "mean",
    measure: Measure | None = None,
    *,
    reference: Sequence[str] | None = None,
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
    item = as_input(model, text)
    way = measured(model, item, chosen)
    own = own_outputs(model, item, way)
    given = replacements(model, own, replace, reference)
    watch = _Watch()
    with (
        torch.enable_grad(),
        recorded(model.way, 1, {way.tokens}, change=watch, keeps=False),
    ):
        read = way.read(way.network(**way.inputs(1)))
        way.compare(read.detach(), read).sum().backward()
    found = np.full((len(own), max(layer.shape[1] for layer in own)), np.nan)
    for layer, (outputs, other) in enumerate(zip(watch.outputs, given, strict=True)):
        gradient = outputs.grad
        if gradient is not None:
            steps = other - outputs.detach()[0]  # (token, head, dim)
            found[layer, : steps.shape[1]] = (gradient[0] * steps).sum((0, 2)).tolist()
    return found
