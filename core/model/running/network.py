"""The network of a folder: counted before it is built, and built only from checked files."""

from __future__ import annotations

import contextlib
import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from core.model import memory
from core.model.errors import SAVE_AGAIN, NoWeightsError, UnsupportedModelError, first_line

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedConfig, PreTrainedModel

# Share of the network's weights that must be on disk; poolers and tied weights may be missing.
_MIN_SHARE = 0.5


def read_config(folder: Path) -> PreTrainedConfig:
    """The checked settings as transformers reads them.

    Raises
    ------
    UnsupportedModelError
        For a kind of network that transformers does not know.
    """
    from transformers import AutoConfig

    try:
        config: PreTrainedConfig = AutoConfig.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False
        )
    except Exception as error:
        raise UnsupportedModelError(_why_not(folder, error)) from error
    return config


def _why_not(folder: Path, error: Exception) -> str:
    """Why transformers cannot read the checked config.json."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    kind = json.loads((folder / "config.json").read_text("utf-8"))["model_type"]
    if kind not in CONFIG_MAPPING:
        return (
            f"{{name}} is a kind of network ({kind[:60]}) that needs code from its folder, and this"
            " app never runs such code."
        )
    if isinstance(error, ImportError):
        return _missing_package(kind, error)
    return (
        f"config.json of {{name}} does not describe a valid {kind} network"
        f" ({type(error).__name__})."
    )


def _missing_package(kind: str, error: Exception) -> str:
    match = re.search(r"requires the ([\w.-]+) library", str(error))
    package = match[1] if match else getattr(error, "name", None)
    which = f"the Python package {str(package)[:40]}" if package else "a Python package"
    return f"{{name}} ({kind}) needs {which}, which is not installed here."


def build_empty(config: PreTrainedConfig) -> PreTrainedModel:
    """The network on torch's meta device, without memory for its weights.

    Its attention is replaced where transformers allows it; otherwise it is the network's own, for
    :mod:`core.model.capture.watching`.

    Raises
    ------
    UnsupportedModelError
        When transformers has no such network.
    """
    from core.model.capture.interface import IMPLEMENTATION, register_attention

    register_attention()
    try:
        return _build(config, IMPLEMENTATION)
    except (ValueError, KeyError, AttributeError):
        pass  # it does not know the name: it never asks for a function, or cannot be built at all
    except ImportError as error:
        raise UnsupportedModelError(_missing_package(config.model_type, error)) from error
    try:
        return _build(config, "eager")
    except ImportError as error:
        raise UnsupportedModelError(_missing_package(config.model_type, error)) from error
    except Exception as error:
        raise UnsupportedModelError(
            f"{{name}} ({config.model_type}) cannot be built: its settings do not fit together, or"
            f" transformers has no network for text of this kind ({first_line(error)}).",
        ) from error


def _build(config: PreTrainedConfig, attention: str) -> PreTrainedModel:
    from transformers import AutoModel

    return build_with(AutoModel.from_config, config, attention, trust_remote_code=False)


def build_with(
    from_config: Callable[..., PreTrainedModel],
    config: PreTrainedConfig,
    attention: str,
    **settings: object,
) -> PreTrainedModel:
    """The network that transformers builds from a configuration, without memory for its weights."""
    import torch
    from transformers.initialization import meta_device_safe_creation_ops

    with torch.device("meta"), meta_device_safe_creation_ops():
        return from_config(
            copy.deepcopy(config), attn_implementation=attention, dtype=torch.float32, **settings
        )


def count_numbers(network: PreTrainedModel) -> int:
    """Weights and fixed tables of a network, built or empty."""
    weights = sum(weight.numel() for weight in network.parameters())
    return weights + sum(table.numel() for table in network.buffers())


def check_share(on_disk: int, empty: PreTrainedModel) -> None:
    """Refuse a network that has far more weights than the files, before it gets memory.

    Raises
    ------
    NoWeightsError
        With both numbers.
    """
    described = sum(weight.numel() for weight in empty.parameters())
    if on_disk < _MIN_SHARE * described:
        raise NoWeightsError(
            f"config.json of {{name}} describes a network of {described:,} weights,"
            f" and its files hold {on_disk:,}.",
            SAVE_AGAIN,
        )


def fill(
    empty: PreTrainedModel,
    config: PreTrainedConfig,
    weights: dict[str, torch.Tensor],
    dtype: torch.dtype,
) -> PreTrainedModel:
    """The network with its weights, of that type and in evaluation mode, with recording attention.

    Raises
    ------
    NoWeightsError
        When weights are missing or have other shapes than the network.
    """
    attention = empty.config._attn_implementation  # noqa: SLF001 - it has no other name
    try:
        network, missing = read(type(empty), config, weights, attention, dtype)
    except RuntimeError as error:
        if "ignore_mismatched_sizes" not in str(error):
            raise
        raise NoWeightsError(
            "The weights of {name} do not have the shapes that its config.json describes.",
            SAVE_AGAIN,
        ) from error
    if missing:
        raise NoWeightsError(
            f"The weights of {{name}} are incomplete: {len(missing)} tensors are missing,"
            f" for example {missing[0][:100]}.",
            SAVE_AGAIN,
        )
    return _text_tower(finish(network))


def read(
    kind: type[PreTrainedModel],
    config: PreTrainedConfig,
    weights: dict[str, torch.Tensor],
    attention: str,
    dtype: torch.dtype,
) -> tuple[PreTrainedModel, list[str]]:
    """A network of that class with its weights, and the names of those that are missing.

    The tensors are passed in, so transformers opens no file in the folder. Poolers do not count:
    they sit above the last layer, checkpoints often lack them, and attention does not see them.
    """
    network, report = kind.from_pretrained(
        None,
        config=config,
        state_dict=weights,
        attn_implementation=attention,
        dtype=dtype,
        local_files_only=True,
        output_loading_info=True,
    )
    return network, sorted(key for key in report["missing_keys"] if "pooler" not in key)


def read_as(
    kind: type[PreTrainedModel],
    config: PreTrainedConfig,
    empty: PreTrainedModel,
    on_disk: int,
    weights: dict[str, torch.Tensor],
    dtype: torch.dtype,
) -> PreTrainedModel | None:
    """The network as one of that class; None if some of its weights are not in the files."""
    attention = empty.config._attn_implementation  # noqa: SLF001 - it has no other name
    outline = build_with(kind._from_config, config, attention)  # noqa: SLF001 - nor has this
    check_share(on_disk, outline)
    memory.check_fits(max(on_disk, count_numbers(outline)), dtype.itemsize)
    whole, missing = read(kind, config, weights, attention, dtype)
    return None if missing else whole


def base_of(whole: PreTrainedModel, empty: PreTrainedModel) -> PreTrainedModel | None:
    """The part below the head, of exactly the class of `empty`; None if there is none.

    An encoder-decoder holds its parts next to the head: they are put into `empty`.
    """
    for part in whole.children():
        if type(part) is type(empty):
            return part
    for name, part in list(empty.named_children()):
        counterpart = getattr(whole, name, None)
        if type(counterpart) is not type(part):
            return None
        setattr(empty, name, counterpart)
    tensors = (*empty.parameters(), *empty.buffers())
    return None if any(tensor.is_meta for tensor in tensors) else empty


def finish(network: PreTrainedModel) -> PreTrainedModel:
    """The network in evaluation mode, without gradients and without a key-value cache."""
    with contextlib.suppress(AttributeError):
        network.config.use_cache = False
    network.requires_grad_(requires_grad=False)
    return network.eval()


def _text_tower(network: PreTrainedModel) -> PreTrainedModel:
    """The part of a network for texts and images (CLIP, SigLIP) that reads texts; else itself."""
    from transformers import PreTrainedModel

    settings = getattr(network.config, "text_config", None)
    if settings is not None and hasattr(network, "get_text_features"):
        for part in network.children():
            if isinstance(part, PreTrainedModel) and part.config.model_type == settings.model_type:
                return part
    return network
