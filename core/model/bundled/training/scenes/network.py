"""Settings of vit-scenes, and its network before training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.model.bundled.training.scenes.pictures import LABELS, PATCH, SHAPE_NAMES, SIDE
from core.model.bundled.training.scenes.task import RELATED

if TYPE_CHECKING:
    import torch
    from transformers import ViTForImageClassification

# Of each wave that tells a patch its place at the start; a patch's pixels begin about as long.
PLACE_LENGTH = 0.2


@dataclass(frozen=True)
class Phase:
    """What counts how much in a part of the training.

    Attributes
    ----------
    shares : of scenes, mosaics and photographs in a batch.
    relate, restore, name, shape, outline : weights of the parts of the task.
    """

    shares: tuple[float, float, float]
    relate: float
    restore: float
    name: float
    shape: float
    outline: float


@dataclass(frozen=True)
class Settings:
    """Shape of the network, and how it learns.

    Attributes
    ----------
    layers, heads, width, inner : as in ViT; a head has width / heads dims, `inner` is the width of
        the layers between attention.
    batch : pictures per step.
    scenes, mosaics, photographs : pictures drawn once; each step turns, mirrors and recolours some.
    early_part : share of the time in which `early` holds, `late` does after it: heads that go by
        hue, brightness and place form within minutes, and shapes take the rest.
    masked : share of the patches that a picture has masked, in half of the pictures.
    learning_rate : peak of AdamW's.
    warm_up : steps to the peak; from there a cosine takes it to zero at the deadline.
    weight_decay : of matrices; biases, norms and embeddings of places have none.
    betas, clip : of AdamW, and the largest gradient norm of a step.
    seed : of the initial weights and of the order of pictures.
    """

    layers: int = 6
    heads: int = 6
    width: int = 96
    inner: int = 384
    batch: int = 32
    scenes: int = 12_000
    mosaics: int = 4_000
    photographs: int = 1_500
    early_part: float = 0.2
    early: Phase = Phase((0.6, 0.3, 0.1), relate=3, restore=15, name=0.25, shape=1, outline=0)
    late: Phase = Phase((0.78, 0.13, 0.09), relate=3, restore=8, name=1, shape=1, outline=2)
    masked: float = 0.4
    learning_rate: float = 2e-3
    warm_up: int = 100
    weight_decay: float = 0.05
    betas: tuple[float, float] = (0.9, 0.98)
    clip: float = 1.0
    seed: int = 1


def new_network(settings: Settings) -> ViTForImageClassification:
    """A ViT with random weights, and a token for masked patches that is not part of it later."""
    import torch
    from transformers import ViTConfig, ViTForImageClassification

    torch.manual_seed(settings.seed)
    config = ViTConfig(
        hidden_size=settings.width,
        num_hidden_layers=settings.layers,
        num_attention_heads=settings.heads,
        intermediate_size=settings.inner,
        hidden_act="gelu",
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.04,
        image_size=SIDE,
        patch_size=PATCH,
        id2label=dict(enumerate(LABELS)),
        label2id={label: number for number, label in enumerate(LABELS)},
    )
    network = ViTForImageClassification(config)
    network.vit.embeddings.position_embeddings.data[0, 1:] = PLACE_LENGTH * _waves(settings.width)
    return network


def _waves(width: int) -> torch.Tensor:
    """Sines and cosines of each patch's row and column, (patch, width).

    As in Vaswani et al. 2017, half of the width for rows and half for columns; what training starts
    from, so that it need not find out first which patches are neighbours.
    """
    import torch

    side, waves = SIDE // PATCH, width // 4
    lengths = 2.0 ** torch.linspace(1.5, 5, waves)  # of the waves, in patches
    turns = 2 * torch.pi * torch.arange(side)[:, None] / lengths
    line = torch.cat([turns.sin(), turns.cos()], dim=1)  # (side, width / 2)
    rows, columns = line.repeat_interleave(side, dim=0), line.repeat(side, 1)
    return torch.cat([rows, columns], dim=1)


def new_answers(settings: Settings) -> torch.nn.ModuleDict:
    """What reads the answers off the patches in training; none of it is part of the model."""
    import torch

    sizes = {"relate": RELATED, "restore": 3 * PATCH**2, "shape": 1 + len(SHAPE_NAMES)}
    sizes["outline"] = PATCH**2
    answers = torch.nn.ModuleDict(
        {name: torch.nn.Linear(settings.width, size) for name, size in sizes.items()}
    )
    answers.register_parameter("mask", torch.nn.Parameter(torch.zeros(1, 1, settings.width)))
    return answers
