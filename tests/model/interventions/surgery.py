"""Networks without a head, cut by hand: what interventions are compared with."""

from __future__ import annotations

import copy
from typing import Any

import torch

from core.model import LoadedModel

Place = tuple[int | str, int]  # layer, or its output projection by name; head


def without_heads(model: LoadedModel, *places: Place, whole: Any = None) -> Any:
    """A copy of the network whose rows of W_O are zero for these heads.

    `whole` is the same network with its own head, if that is to be copied.
    """
    cut = copy.deepcopy(model.network if whole is None else whole)
    base = getattr(cut, cut.base_model_prefix, cut)
    for layer, head in places:
        name = layer if isinstance(layer, str) else (model.outputs or ())[layer]
        module = base.get_submodule(name)
        weight = module.weight.detach()
        rows = weight if type(module).__name__ == "Conv1D" else weight.T
        width = len(rows) // model.heads
        rows[head * width : (head + 1) * width] = 0
    return cut


def before_and_after(model: LoadedModel, place: Place, inputs: Any, whole: Any = None) -> list[Any]:
    """What the network gives with a head, and without it."""
    networks = whole or model.network, without_heads(model, place, whole=whole)
    with torch.inference_mode():
        return [network(**inputs) for network in networks]
