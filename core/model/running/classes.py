"""The classes of an image or a text, from the head of the checkpoint that tells them."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from core.model.errors import UnsupportedModelError

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

    from core.model.running.loaded import LoadedModel

TOP = 5  # classes that are named


def classifier_of(model: LoadedModel) -> PreTrainedModel:
    """The network with its head for classes, for texts without padding, one or several alike.

    Decoders read the last token that is no padding. Where no token is padding, transformers refuses
    several texts; here an id that no token has stands for it.

    Raises
    ------
    UnsupportedModelError
        When the model has no such head.
    """
    if model.classifier is None:
        raise UnsupportedModelError("{name} has no head that tells classes.")
    whole = copy.copy(model.classifier)
    if whole.config.pad_token_id is None:
        whole.config = copy.copy(whole.config)
        whole.config.pad_token_id = -1
    return whole


def likeliest_classes(model: LoadedModel, logits: torch.Tensor) -> list[tuple[str, float]]:
    """Names and probabilities of the likeliest classes, at most :data:`TOP`, from all logits.

    By the softmax over all; by each one's sigmoid where a text may be of several classes. A head of
    one number tells no class: that number.
    """
    logits = logits.double()
    chances = logits.softmax(-1)
    if len(logits) == 1:
        chances = logits
    elif model.network.config.problem_type == "multi_label_classification":
        chances = logits.sigmoid()
    values, numbers = chances.topk(min(TOP, len(chances)))
    ranked = zip(numbers.tolist(), values.tolist(), strict=True)
    return [(model.labels[number], chance) for number, chance in ranked]
