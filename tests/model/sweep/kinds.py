"""Which types of model transformers can run on text."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel


def all_kinds() -> list[str]:
    """Every type that `AutoModel` opens, text or not, in alphabetical order."""
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

    return sorted(MODEL_MAPPING_NAMES)


def config_class(kind: str) -> type[PreTrainedConfig]:
    """The type's configuration."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    found: type[PreTrainedConfig] = CONFIG_MAPPING[kind]
    return found


def networks(kind: str) -> tuple[type[PreTrainedModel], ...]:
    """The classes of network that `AutoModel` may build for the type."""
    from transformers.models.auto.modeling_auto import MODEL_MAPPING

    found = MODEL_MAPPING[config_class(kind)]
    return found if isinstance(found, tuple) else (found,)


def is_text(kind: str) -> bool:
    """Whether the type's network takes token ids."""
    parameters = (inspect.signature(each.forward).parameters for each in networks(kind))
    return any("input_ids" in each for each in parameters)
