"""From the checked files of a vision checkpoint to a model whose attention is proven."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.model.checks.folder import ModelFiles
from core.model.image.classes import labels_of, read_classifier
from core.model.image.probe import ImageLoadCheck, probe_images, usual_size
from core.model.image.settings import read_processing
from core.model.running import network
from core.model.running.loaded import Heads, LoadedModel
from core.model.vision.tokens import describe_vision, image_geometry

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedConfig, PreTrainedModel


def fill_vision(
    config: PreTrainedConfig,
    empty: PreTrainedModel,
    on_disk: int,
    weights: dict[str, torch.Tensor],
    dtype: torch.dtype,
) -> tuple[PreTrainedModel, PreTrainedModel | None]:
    """The network with its weights, and it with its classification head if the files have one.

    `config` is that of the whole checkpoint, `empty` the network that reads images.
    """
    whole = read_classifier(config, empty, on_disk, weights, dtype)
    if whole is not None:
        return whole
    return network.fill(empty, empty.config, weights, dtype), None


def prove_vision(
    name: str,
    filled: PreTrainedModel,
    classifier: PreTrainedModel | None,
    files: ModelFiles,
    device: str,
) -> LoadedModel:
    """Check the network on pictures, and describe it.

    Raises
    ------
    UnsupportedModelError
        What :func:`core.model.image.probe.probe_images` raises.
    """
    entire = filled if classifier is None else classifier
    entire.to(device)  # type: ignore[arg-type]
    _, size = image_geometry(filled.config)
    processing = read_processing(files.processor, filled.config.model_type, size)
    labels = () if classifier is None else labels_of(classifier.config)
    vision = usual_size(filled, describe_vision(filled, processing, labels))
    load_check = probe_images(filled, vision)
    return LoadedModel(
        name=name,
        network=filled,
        device=device,
        attention={"self": _heads(filled, load_check)},
        parameters=entire.num_parameters(),
        max_tokens=load_check.vision.tokens(),
        probe_error=load_check.error,
        way=load_check.way,
        order=tuple("self" for _ in load_check.trace.layers),
        batches=load_check.batches,
        pairs=False,
        number_type=str(filled.dtype).removeprefix("torch."),
        checked_tokens=load_check.vision.tokens(),
        vision=load_check.vision,
        classifier=classifier,
    )


def _heads(filled: PreTrainedModel, load_check: ImageLoadCheck) -> Heads:
    layers, heads, _, dim = load_check.trace.shape
    return Heads(
        layers=layers,
        heads=heads,
        kv_heads=load_check.trace.kv_keys.shape[1],
        dim=dim,
        causal=False,
        depth=getattr(filled.config, "num_hidden_layers", None),
        layer_labels=()
        if load_check.trace.layers[0].number is None
        else load_check.trace.layer_labels,
        outputs=load_check.outputs,
    )
