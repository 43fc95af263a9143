"""How much each head writes: the length of its output after W_O."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.model.interventions.heads import Doubles, as_input
from core.model.interventions.reference import head_outputs
from core.model.refusal import refusing_to
from core.model.weights.output_projection import output_projections

if TYPE_CHECKING:
    from PIL import Image

    from core.model.image.pixels import Pixels
    from core.model.running.loaded import LoadedModel


@refusing_to("run")
def written_norms(
    model: LoadedModel,
    text: str | Image.Image | Pixels,
    *,
    pair: str | None = None,
    max_tokens: int | None = None,
) -> Doubles | None:
    """The length of what each head adds to the residual stream, (layer, head).

    The root of the mean square over tokens, without the bias of W_O, which belongs to no head.
    None where W_O is not known.
    """
    import torch

    projections = output_projections(model)
    if projections is None:
        return None
    outputs = head_outputs(model, as_input(model, text, pair, max_tokens))
    norms = np.full((len(outputs), max(layer.shape[1] for layer in outputs)), np.nan)
    with torch.inference_mode():
        for layer, (given, weight) in enumerate(zip(outputs, projections, strict=True)):
            for head in range(given.shape[1]):  # one at a time: (token, width) is all that is held
                written = given[:, head].float() @ weight[head].float()
                norms[layer, head] = float(written.square().sum(-1).mean().sqrt())
    return norms
