"""Make vit-scenes: train it on the processor for a given time, and write its weights in float16.

    python -m tests.tools.making.scenes --folder FOLDER --minutes 60

It is asked three things about a picture. Relate: for every patch, the mean brightness and place of
the patches of its hue, and the mean colour and place of the patches of its brightness. Restore: the
pixels of the patches that were masked. Name: for [CLS], which things the scene shows; for every
patch, which shape it belongs to, and which of its pixels show things.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch.nn import functional
from transformers import ViTConfig, ViTForImageClassification

from core.analysis.images.colour import oklab
from core.model.box import BOX, open_box
from tests.model.image.families import write_processor
from tests.tools.making import HowToLearn, arguments, fit
from tests.tools.making.drawing import GREY, HUES, SHAPES, Scene, draw_mosaic, random_scene

SIDE, PATCH = 96, 8  # pixels
HUE_NAMES = (*HUES, GREY)
SHAPE_NAMES = tuple(SHAPES)
LABELS = tuple(f"{hue} {shape}" for hue in HUE_NAMES for shape in SHAPE_NAMES)
# Seeds from here on are held back from training.
HELD_BACK = 10_000_000
GROUND, UNKNOWN = 0, -100  # what a patch shows; UNKNOWN where no label is known, or it is an edge
SMALLEST_CROP = 0.3  # of a photograph's side
ORDERS = tuple(permutations(range(3)))  # of the colour channels


class Pictures(NamedTuple):
    """Pictures and their labels.

    Attributes
    ----------
    pixels : uint8 (picture, side, side, 3), sRGB.
    names : bool (picture, hue, shape), whether it shows such a thing; none for a mosaic or a
        photograph.
    shown : int8 (picture, row, column), what a patch shows: GROUND, 1 + the number of a shape that
        covers most of it, or UNKNOWN.
    outline : bool (picture, side, side), which pixels show things; none of a mosaic or photograph.
    """

    pixels: NDArray[np.uint8]
    names: NDArray[np.bool_]
    shown: NDArray[np.int8]
    outline: NDArray[np.bool_]


def draw_scenes(seeds: Sequence[int]) -> Pictures:
    """The scenes of these seeds."""
    scenes = [random_scene(seed, SIDE) for seed in seeds]
    return Pictures(
        np.stack([scene.pixels for scene in scenes]),
        np.stack([_names(scene) for scene in scenes]),
        np.stack([_shown(scene) for scene in scenes]),
        np.stack([scene.owner > 0 for scene in scenes]),
    )


def draw_mosaics(seeds: Sequence[int]) -> Pictures:
    """The mosaics of these seeds."""
    return _unlabelled(np.stack([draw_mosaic(seed, SIDE) for seed in seeds]))


def crop_photographs(count: int, seed: int) -> Pictures:
    """Random squares of the box's photographs."""
    generator = np.random.default_rng((seed, 19))
    photographs = [open_box(name) for name, image in BOX.items() if image.group == "photograph"]
    crops = []
    for number in generator.integers(0, len(photographs), count):
        photograph = photographs[number]
        side = generator.uniform(SMALLEST_CROP, 1) * min(photograph.size)
        left, top = (generator.uniform(0, length - side) for length in photograph.size)
        corners = (left, top, left + side, top + side)
        crop = photograph.resize((SIDE, SIDE), Image.Resampling.BILINEAR, corners)
        crops.append(np.asarray(crop))
    return _unlabelled(np.stack(crops))


def varied(pictures: Pictures, generator: np.random.Generator) -> Pictures:
    """Each picture turned, mirrored, and with its colour channels in another order, at random.

    The names follow: red, yellow, ... are sixths of the circle, which such orders only exchange.
    """
    count, rows = len(pictures.pixels), []
    turns, orders = generator.integers(0, 8, count), generator.integers(0, 6, count)
    for *row, turn, order in zip(*pictures, turns, orders, strict=True):
        pixels, names, *grids = row
        recoloured = _turned(pixels, turn)[..., ORDERS[order]]
        rows.append(
            (recoloured, names[_sources(ORDERS[order])], *(_turned(g, turn) for g in grids))
        )
    return Pictures(*map(np.stack, zip(*rows, strict=True)))


def _turned(grid: np.ndarray, turn: int) -> np.ndarray:  # type: ignore[type-arg]
    """One of the eight ways to lay a square on itself."""
    grid = np.rot90(grid, turn % 4)
    return grid[:, ::-1] if turn >= 4 else grid


def _sources(order: tuple[int, ...]) -> list[int]:
    """For each of `HUE_NAMES` the one that becomes it when the channels take this order."""
    pure = [(1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 1, 1), (0, 0, 1), (1, 0, 1), (0, 0, 0)]
    after = [tuple(colour[channel] for channel in order) for colour in pure]
    return [after.index(colour) for colour in pure]


def _names(scene: Scene) -> NDArray[np.bool_]:
    """What is to be seen of a scene's things, (hue, shape)."""
    names = np.zeros((len(HUE_NAMES), len(SHAPE_NAMES)), dtype=bool)
    for thing in scene.things:
        names[HUE_NAMES.index(thing.paint.name), SHAPE_NAMES.index(thing.shape)] = True
    return names


def _shown(scene: Scene) -> NDArray[np.int8]:
    """What each patch shows, (row, column)."""
    shapes = np.array([GROUND, *(1 + SHAPE_NAMES.index(thing.shape) for thing in scene.things)])
    grid = shapes[scene.owner].reshape(SIDE // PATCH, PATCH, SIDE // PATCH, PATCH)
    shares = np.stack(
        [(grid == what).mean(axis=(1, 3)) for what in range(1 + len(SHAPE_NAMES))], axis=-1
    )
    return np.where(shares.max(axis=-1) > 0.6, shares.argmax(axis=-1), UNKNOWN).astype(np.int8)


def _unlabelled(pixels: NDArray[np.uint8]) -> Pictures:
    count, grid = len(pixels), SIDE // PATCH
    return Pictures(
        pixels,
        np.zeros((count, len(HUE_NAMES), len(SHAPE_NAMES)), dtype=bool),
        np.full((count, grid, grid), UNKNOWN, dtype=np.int8),
        np.zeros((count, SIDE, SIDE), dtype=bool),
    )


# How alike two hues or two brightnesses have to be: exp(HUE_SHARPNESS (cos(difference) - 1)), half
# at 21 degrees; and a normal curve of this width in lightness, half at 0.09.
HUE_SHARPNESS = 10.0
BRIGHTNESS_WIDTH = 0.08
# A patch of this chroma has a hue that counts half; the strongest colours of sRGB have 0.3.
FAINT = 0.05
# Differences from the picture's mean are counted in these units, about their usual size: of
# lightness and places, and of chroma.
UNIT, CHROMA_UNIT = 0.1, 0.05
RELATED = 7  # numbers a patch has to tell


def cells_of(pixels: torch.Tensor, patch: int) -> torch.Tensor:
    """The patches of pictures (picture, side, side, ...): (picture, patch, pixel, ...)."""
    count, side = pixels.shape[0], pixels.shape[1] // patch
    rest = pixels.shape[3:]
    grid = pixels.reshape(count, side, patch, side, patch, *rest).transpose(2, 3)
    return grid.reshape(count, side * side, patch * patch, *rest)


def related(colours: NDArray[np.float32]) -> tuple[torch.Tensor, torch.Tensor]:
    """What each patch has to tell, (picture, patch, RELATED), and how much each number counts.

    From the patches' mean colours (picture, patch, 3), sRGB from 0 to 1, in OKLab. In the order of
    the module's text, as differences from the picture's mean.
    """
    lab = torch.from_numpy(oklab(colours)).float()
    lightness, chroma = lab[..., 0], lab[..., 1:]  # whose direction is the hue
    squared = chroma.square().sum(-1)
    clear = squared / (squared + FAINT**2)  # how much its hue counts, 0 to 1
    direction = functional.normalize(chroma, dim=-1)
    alike = torch.exp(HUE_SHARPNESS * (direction @ direction.transpose(1, 2) - 1))
    alike = alike * clear[:, None, :] + 1e-6
    apart = lightness[:, :, None] - lightness[:, None, :]
    as_bright = torch.exp(-((apart / BRIGHTNESS_WIDTH) ** 2) / 2)
    places = _places(lightness.shape[1]).expand(len(lightness), -1, -1) / UNIT
    of_hue = torch.cat([lightness[..., None] / UNIT, places], dim=-1)
    of_brightness = torch.cat([chroma / CHROMA_UNIT, places], dim=-1)
    answers = torch.cat([_deviation(alike, of_hue), _deviation(as_bright, of_brightness)], dim=-1)
    counts = torch.ones_like(answers)
    counts[..., :3] = clear[..., None]
    return answers, counts


def _deviation(weights: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """Weighted means (picture, patch, value), less the plain mean of the picture."""
    means = weights @ values / weights.sum(-1, keepdim=True)
    return means - values.mean(1, keepdim=True)


def _places(patches: int) -> torch.Tensor:
    """Row and column of each patch, -0.5 to 0.5, (patch, 2)."""
    line = torch.linspace(-0.5, 0.5, round(patches**0.5))
    return torch.cartesian_prod(line, line)


# Of each wave that tells a patch its place at the start; a patch's pixels begin about as long.
PLACE_LENGTH = 0.2


@dataclass(frozen=True)
class Phase:
    """What counts how much in a part of the training."""

    shares: tuple[float, float, float]  # of scenes, mosaics and photographs in a batch
    relate: float  # weights of the parts of the task
    restore: float
    name: float
    shape: float
    outline: float


@dataclass(frozen=True)
class Settings(HowToLearn):
    """Shape of the network, and how it learns; the rest as in :class:`HowToLearn`."""

    layers: int = 6  # with heads of width / heads dims
    heads: int = 6
    width: int = 96
    inner: int = 384  # the width of the layers between attention
    batch: int = 32  # pictures per step
    scenes: int = 12_000  # pictures drawn once; each step turns, mirrors and recolours some
    mosaics: int = 4_000
    photographs: int = 1_500
    # Share of the time in which `early` holds, `late` does after it: heads that go by hue,
    # brightness and place form within minutes, and shapes take the rest.
    early_part: float = 0.2
    early: Phase = Phase((0.6, 0.3, 0.1), relate=3, restore=15, name=0.25, shape=1, outline=0)
    late: Phase = Phase((0.78, 0.13, 0.09), relate=3, restore=8, name=1, shape=1, outline=2)
    masked: float = 0.4  # share of the patches that half of the pictures have masked
    weight_decay: float = 0.05
    seed: int = 1  # of the initial weights and of the order of pictures


def new_network(settings: Settings) -> ViTForImageClassification:
    """A ViT with random weights, and a token for masked patches that is not part of it later."""
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
    side, waves = SIDE // PATCH, width // 4
    lengths = 2.0 ** torch.linspace(1.5, 5, waves)  # of the waves, in patches
    turns = 2 * torch.pi * torch.arange(side)[:, None] / lengths
    line = torch.cat([turns.sin(), turns.cos()], dim=1)  # (side, width / 2)
    rows, columns = line.repeat_interleave(side, dim=0), line.repeat(side, 1)
    return torch.cat([rows, columns], dim=1)


def new_answers(settings: Settings) -> torch.nn.ModuleDict:
    """What reads the answers off the patches in training; none of it is part of the model."""
    sizes = {"relate": RELATED, "restore": 3 * PATCH**2, "shape": 1 + len(SHAPE_NAMES)}
    sizes["outline"] = PATCH**2
    answers = torch.nn.ModuleDict(
        {name: torch.nn.Linear(settings.width, size) for name, size in sizes.items()}
    )
    answers.register_parameter("mask", torch.nn.Parameter(torch.zeros(1, 1, settings.width)))
    return answers


GROUND_WEIGHT = 0.2  # of a patch of ground among those of shapes: there are five times as many


def losses_of(
    network: ViTForImageClassification,
    answers: torch.nn.ModuleDict,
    batch: Pictures,
    masked: torch.Tensor,
) -> dict[str, torch.Tensor]:
    """Mean loss of each part of the task; `masked` is bool (picture, patch)."""
    pixels = torch.from_numpy(batch.pixels).float() / 255
    embeddings = network.vit.embeddings
    hidden = embeddings.patch_embeddings((pixels.permute(0, 3, 1, 2) - 0.5) / 0.5)
    hidden = torch.where(masked[..., None], answers.mask, hidden)
    marks = embeddings.cls_token.expand(len(hidden), -1, -1)
    hidden = torch.cat([marks, hidden], dim=1) + embeddings.position_embeddings
    for layer in network.vit.layers:
        hidden = layer(hidden)
    hidden = network.vit.layernorm(hidden)
    names = network.classifier(hidden[:, 0])
    read = {name: part(hidden[:, 1:]) for name, part in answers.items()}
    cells = cells_of(pixels, PATCH)
    wanted, counts = related(cells.mean(dim=2).numpy())
    counts = counts * ~masked[..., None]
    off = functional.smooth_l1_loss(read["relate"], wanted, reduction="none")
    losses = {"relate": (off * counts).sum() / counts.sum()}
    truth = torch.from_numpy(batch.names).flatten(1).float()
    known = truth.sum(1) > 0
    if known.any():
        shares = truth[known] / truth[known].sum(1, keepdim=True)
        losses["name"] = functional.cross_entropy(names[known], shares)
        shapes = torch.tensor([GROUND_WEIGHT, *[1.0] * len(SHAPE_NAMES)])
        losses["shape"] = functional.cross_entropy(
            read["shape"].flatten(0, 1), torch.from_numpy(batch.shown).long().flatten(), shapes
        )
        outline = cells_of(torch.from_numpy(batch.outline).float(), PATCH)
        losses["outline"] = functional.binary_cross_entropy_with_logits(
            read["outline"][known], outline[known]
        )
    if masked.any():
        restored = read["restore"][masked].view(-1, PATCH**2, 3) + 0.5
        losses["restore"] = functional.mse_loss(restored, cells[masked])
    return losses


def train(
    folder: Path,
    seconds: float,
    settings: Settings = Settings(),
    max_steps: int | None = None,
) -> None:
    """Train until the time is over, or `max_steps` are done; write the model."""
    kinds = (
        draw_scenes(range(settings.scenes)),
        draw_mosaics(range(settings.mosaics)),
        crop_photographs(settings.photographs, settings.seed),
    )
    network, answers = new_network(settings), new_answers(settings)
    weights = [*network.parameters(), *answers.parameters()]

    def loss_of(step: int, elapsed: float) -> torch.Tensor:
        phase = settings.early if elapsed < settings.early_part else settings.late
        generator = np.random.default_rng((settings.seed, step))
        counts = [round(share * settings.batch) for share in phase.shares]
        masked = torch.from_numpy(_masked(sum(counts), settings.masked, generator))
        losses = losses_of(network, answers, _batch(kinds, counts, generator), masked)
        return torch.stack([getattr(phase, name) * loss for name, loss in losses.items()]).sum()

    fit(weights, loss_of, settings, seconds, max_steps)
    network.to(torch.float16).save_pretrained(folder)
    size = {"height": SIDE, "width": SIDE}
    kind = "ViTImageProcessor"
    write_processor(folder, image_processor_type=kind, size=size, image_std=[0.5] * 3)


def _batch(
    kinds: tuple[Pictures, ...], counts: list[int], generator: np.random.Generator
) -> Pictures:
    """So many of each kind, turned and recoloured."""
    rows = [
        generator.integers(0, len(kind.pixels), count)
        for kind, count in zip(kinds, counts, strict=True)
    ]
    chosen = ([part[own] for part in kind] for kind, own in zip(kinds, rows, strict=True))
    return varied(Pictures(*map(np.concatenate, zip(*chosen, strict=True))), generator)


def _masked(count: int, share: float, generator: np.random.Generator) -> NDArray[np.bool_]:
    """Which patches are masked, (picture, patch): a share of them in half of the"""
    masked = generator.random((count, (SIDE // PATCH) ** 2)) < share
    return masked & (np.arange(count) % 2 == 0)[:, None]


if __name__ == "__main__":
    given = arguments(minutes=60)
    train(given.folder, given.minutes * 60)
