"""The classification head of a vision checkpoint, where it has one."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from core.model.running.network import base_of, finish, read_as

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedConfig, PreTrainedModel

_MAX_LABEL = 100  # characters of a class's name
_log = logging.getLogger(__name__)


def read_classifier(
    config: PreTrainedConfig,
    empty: PreTrainedModel,
    on_disk: int,
    weights: dict[str, torch.Tensor],
    dtype: torch.dtype,
) -> tuple[PreTrainedModel, PreTrainedModel] | None:
    """The network that attends, and the same with its head around it; None without a head.

    A head counts only if the checkpoint was saved with one and all its weights are in the files.

    Parameters
    ----------
    config : the checked settings of the whole checkpoint.
    empty : the network without a head and without memory.
    on_disk : number of weights in the files.
    weights : their tensors by name.
    dtype : of the network.
    """
    try:
        for kind in _classes_for(config):
            whole = read_as(kind, config, empty, on_disk, weights, dtype)
            base = None if whole is None else base_of(whole, empty)
            if whole is not None and base is not None:
                return finish(base), finish(whole)
    except Exception as error:  # noqa: BLE001 - a model whose head cannot be used is still a model
        _log.info("A classification head cannot be used (%s).", type(error).__name__)
    return None


def labels_of(config: PreTrainedConfig) -> tuple[str, ...]:
    """The names of the classes by their number, shortened where they are very long."""
    names = config.id2label or {}
    return tuple(str(names.get(number, number))[:_MAX_LABEL] for number in range(config.num_labels))


def _classes_for(config: PreTrainedConfig) -> list[type[PreTrainedModel]]:
    """The classes with such a head that the checkpoint says it was saved from."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING

    if type(config) not in MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING:
        return []
    found = MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING[type(config)]
    kinds = found if isinstance(found, tuple) else (found,)
    return [kind for kind in kinds if kind.__name__ in (config.architectures or ())]
