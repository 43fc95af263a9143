"""The head of a checkpoint, where it has one: what turns vectors into words, or into classes.

The network is then loaded together with its head, and attention is recorded from the part below
the head. A head counts only if all its weights are in the files, or are the input
embeddings: transformers would fill what is missing with random numbers.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from core.model.running.loaded import Task
from core.model.running.network import base_of, finish, read_as

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerFast

    Kind = type[PreTrainedModel]
    Settings = Mapping[str, object]

# Checkpoints name the class that they were saved from. A head for several training tasks holds the
# head for masked words under the same names.
_SEVERAL_TASKS = "ForPreTraining"
# The settings that affect a greedy answer: single ids, then lists of ids.
_IDS = (
    *("decoder_start_token_id", "forced_bos_token_id", "forced_eos_token_id"),
    *("bos_token_id", "eos_token_id", "pad_token_id"),
)
_LISTS = ("suppress_tokens", "begin_suppress_tokens")
_log = logging.getLogger(__name__)


class ModelWithHead(NamedTuple):
    """A network with its head; `base` is the part that attends, and shares all its weights.

    `task` is what a language-model head was trained for; None for a classification head.
    """

    base: PreTrainedModel
    network: PreTrainedModel
    task: Task | None


def read_with_head(
    config: PreTrainedConfig,
    empty: PreTrainedModel,
    on_disk: int,
    weights: dict[str, torch.Tensor],
    dtype: torch.dtype,
    *,
    sees: bool,
) -> ModelWithHead | None:
    """The network with its head and its weights; None without a head, whatever the reason.

    Parameters
    ----------
    config : the checked settings of the whole checkpoint, as transformers read them.
    empty : the network without a head and without memory.
    on_disk : number of weights in the files.
    weights : their tensors by name.
    dtype : of the network.
    sees : whether it reads images; then its head is for classification, as a text's may be too.
    """
    try:
        for kind, task in _kinds(config, sees=sees):
            whole = read_as(kind, config, empty, on_disk, weights, dtype)
            base = None if whole is None else base_of(whole, empty)
            if whole is None or base is None or (task is None and _lacks_pooler(whole, weights)):
                continue
            return ModelWithHead(finish(base), finish(whole), task)
    except Exception as error:  # noqa: BLE001 - a model whose head cannot be used is still a model
        _log.info("A head cannot be used (%s).", type(error).__name__)
    return None


def _kinds(config: PreTrainedConfig, *, sees: bool) -> Iterator[tuple[Kind, Task | None]]:
    """The network classes with a head that the checkpoint may be of, each with its head's task."""
    from transformers.models.auto import modeling_auto as auto

    if not sees:
        yield from _language_models(config)
    classes = auto.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING
    for kind in _mapped(auto.MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING if sees else classes, config):
        if kind.__name__ in (config.architectures or ()) and not config.is_encoder_decoder:
            yield kind, None


def _lacks_pooler(whole: PreTrainedModel, weights: Mapping[str, torch.Tensor]) -> bool:
    """Whether text classification depends on a pooler that the files lack."""
    names = (name for name, _ in whole.named_parameters() if "pooler" in name)
    return whole.main_input_name == "input_ids" and not set(names) <= set(weights)


def _language_models(config: PreTrainedConfig) -> Iterator[tuple[Kind, Task]]:
    """The network classes with a language-model head that the checkpoint may be of."""
    from transformers.models.auto import modeling_auto as auto

    architectures = config.architectures or []
    any_of_them = not architectures or any(name.endswith(_SEVERAL_TASKS) for name in architectures)
    mappings: dict[Task, Mapping[type, Any]] = {
        "masked": auto.MODEL_FOR_MASKED_LM_MAPPING,
        "next": auto.MODEL_FOR_CAUSAL_LM_MAPPING,
    }
    if config.is_encoder_decoder:
        mappings = {"answer": auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING}
    for task, mapping in mappings.items():
        for kind in _mapped(mapping, config):
            if any_of_them or kind.__name__ in architectures:
                yield kind, task


def _mapped(mapping: Mapping[type, Any], config: PreTrainedConfig) -> tuple[Kind, ...]:
    """The network classes that a mapping of transformers has for a configuration."""
    classes = mapping.get(type(config), ())
    return classes if isinstance(classes, tuple) else (classes,)


def fits_task(task: Task, tokenizer: PreTrainedTokenizerFast, *, causal: bool) -> bool:
    """Whether a network attends as its head's task requires.

    A network that sees the next word need not predict it, and one that sees no later word cannot
    fill a gap (or only in an order of its own, like XLNet).
    """
    if task == "masked":
        return not causal and tokenizer.mask_token_id is not None
    return causal or task != "next"


def describe_answers(language_model: PreTrainedModel, settings: Settings) -> None:
    """Tell the network what its settings say about answers, which transformers drops.

    `settings` are those of config.json, overridden by generation_config.json; only those that name
    tokens of the vocabulary are used.
    """
    generation = getattr(language_model, "generation_config", None)
    if generation is None:
        return
    vocabulary = language_model.get_input_embeddings().weight.shape[0]
    for name in _IDS:
        if _is_id(settings.get(name), vocabulary):
            setattr(generation, name, settings[name])
    for name in _LISTS:
        ids = settings.get(name)
        if isinstance(ids, list) and all(_is_id(each, vocabulary) for each in ids):
            setattr(generation, name, ids or None)


def _is_id(value: object, vocabulary: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < vocabulary
