"""Make vit-scenes: train it on the processor for a given time, and write its weights in float16.

    python -m tests.tools.making.scenes --folder FOLDER --minutes 60

It is asked three things about a picture. Relate: for every patch, the mean brightness and place of
the patches of its hue, and the mean colour and place of the patches of its brightness. Restore: the
pixels of the patches that were masked. Name: for [CLS], which things the scene shows; for every
patch, which shape it belongs to, and which of its pixels show things.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch.nn import functional
from transformers import ViTConfig, ViTForImageClassification

from core.analysis.images.colour import oklab
from core.model.sample_images import SAMPLE_IMAGES, open_sample_image
from tests.model.image.families import write_processor
from tests.tools.making import HowToLearn, arguments, fit
from tests.tools.making.drawing import GREY, HUES, SHAPES, draw_mosaic, random_scene

SIDE, PATCH = 96, 8  # pixels
GRID = SIDE // PATCH
HUE_NAMES = (*HUES, GREY)
SHAPE_NAMES = tuple(SHAPES)
LABELS = tuple(f"{hue} {shape}" for hue in HUE_NAMES for shape in SHAPE_NAMES)
# Seeds from here on are held back from training.
HELD_BACK = 10_000_000
GROUND, UNKNOWN = 0, -100  # what a patch shows; UNKNOWN where no label is known, or it is an edge
SMALLEST_CROP = 0.3  # of a photograph's side
ORDERS = tuple(permutations(range(3)))  # of the colour channels
# Of each of `HUE_NAMES` the channels that it is made of.
PURE = [(1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 1, 1), (0, 0, 1), (1, 0, 1), (0, 0, 0)]


class Pictures(NamedTuple):
    """Pictures and their labels; a mosaic or a photograph has no names and no outline."""

    pixels: NDArray[np.uint8]  # (picture, side, side, 3), sRGB
    names: NDArray[np.bool_]  # (picture, hue, shape), whether it shows such a thing
    # (picture, row, column), what a patch shows: GROUND, 1 + the number of a shape that covers most
    # of it, or UNKNOWN
    shown: NDArray[np.int8]
    outline: NDArray[np.bool_]  # (picture, side, side), which pixels show things


def stacked(rows: Iterable[tuple[NDArray[Any], ...]]) -> Pictures:
    """Single pictures, each with its labels, put together."""
    return Pictures(*map(np.stack, zip(*rows, strict=True)))


def labelled(seed: int) -> tuple[NDArray[Any], ...]:
    """The scene of a seed and its labels."""
    scene = random_scene(seed, SIDE)
    names, shapes = np.zeros((len(HUE_NAMES), len(SHAPE_NAMES)), dtype=bool), [GROUND]
    for thing in scene.things:
        shape = SHAPE_NAMES.index(thing.shape)
        names[HUE_NAMES.index(thing.hue_name), shape] = True
        shapes.append(1 + shape)
    grid = np.array(shapes)[scene.owner].reshape(GRID, PATCH, GRID, PATCH)
    shares = np.eye(1 + len(SHAPE_NAMES))[grid].mean(axis=(1, 3))
    shown = np.where(shares.max(axis=-1) > 0.6, shares.argmax(axis=-1), UNKNOWN)
    return scene.pixels, names, shown.astype(np.int8), scene.owner > 0


def unlabelled(pixels: NDArray[np.uint8]) -> tuple[NDArray[Any], ...]:
    """A mosaic or a part of a photograph, of which no label is known."""
    names = np.zeros((len(HUE_NAMES), len(SHAPE_NAMES)), dtype=bool)
    shown = np.full((GRID, GRID), UNKNOWN, dtype=np.int8)
    return pixels, names, shown, np.zeros((SIDE, SIDE), dtype=bool)


def crop_photographs(count: int, seed: int) -> Iterator[NDArray[np.uint8]]:
    """Random squares of the box's photographs."""
    generator = np.random.default_rng((seed, 19))
    photographs = [
        open_sample_image(name)
        for name, image in SAMPLE_IMAGES.items()
        if image.group == "photograph"
    ]
    for number in generator.integers(0, len(photographs), count):
        photograph = photographs[number]
        side = generator.uniform(SMALLEST_CROP, 1) * min(photograph.size)
        left, top = (generator.uniform(0, length - side) for length in photograph.size)
        corners = (left, top, left + side, top + side)
        yield np.asarray(photograph.resize((SIDE, SIDE), Image.Resampling.BILINEAR, corners))


def varied(pictures: Pictures, generator: np.random.Generator) -> Pictures:
    """Each picture turned, mirrored, and with its colour channels in another order, at random.

    The names follow: red, yellow, ... are sixths of the circle, which such orders only exchange.
    """
    count, rows = len(pictures.pixels), []
    turns, orders = generator.integers(0, 8, count), generator.integers(0, 6, count)
    for *row, turn, order in zip(*pictures, turns, orders, strict=True):
        turned = [np.rot90(row[part], turn % 4) for part in (0, 2, 3)]
        pixels, shown, outline = (each[:, ::-1] if turn >= 4 else each for each in turned)
        channels = ORDERS[order]
        after = [tuple(colour[channel] for channel in channels) for colour in PURE]
        names = row[1][[after.index(colour) for colour in PURE]]
        rows.append((pixels[..., channels], names, shown, outline))
    return stacked(rows)


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


def cells_of(pixels: torch.Tensor) -> torch.Tensor:
    """The patches of pictures (picture, side, side, ...): (picture, patch, pixel, ...)."""
    count, rest = len(pixels), pixels.shape[3:]
    grid = pixels.reshape(count, GRID, PATCH, GRID, PATCH, *rest).transpose(2, 3)
    return grid.reshape(count, GRID**2, PATCH**2, *rest)


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
    line = torch.linspace(-0.5, 0.5, GRID)
    places = torch.cartesian_prod(line, line).expand(len(lightness), -1, -1) / UNIT
    of_hue = torch.cat([lightness[..., None] / UNIT, places], dim=-1)
    of_brightness = torch.cat([chroma / CHROMA_UNIT, places], dim=-1)
    answers = [
        weights @ values / weights.sum(-1, keepdim=True) - values.mean(1, keepdim=True)
        for weights, values in ((alike, of_hue), (as_bright, of_brightness))
    ]
    counts = torch.cat([clear[..., None].expand_as(of_hue), torch.ones_like(of_brightness)], dim=-1)
    return torch.cat(answers, dim=-1), counts


# Of each wave that tells a patch its place at the start; a patch's pixels begin about as long.
PLACE_LENGTH = 0.2
# Shares of scenes, mosaics and photographs in a batch, and weights of the parts of the task. Early
# on, for that share of the time, heads form that go by hue, brightness and place: within minutes;
# shapes take the rest.
EARLY_PART = 0.2
EARLY = (0.6, 0.3, 0.1), {"relate": 3, "restore": 15, "name": 0.25, "shape": 1, "outline": 0}
LATE = (0.78, 0.13, 0.09), {"relate": 3, "restore": 8, "name": 1, "shape": 1, "outline": 2}


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
        initializer_range=0.04,
        image_size=SIDE,
        patch_size=PATCH,
        id2label=dict(enumerate(LABELS)),
        label2id={label: number for number, label in enumerate(LABELS)},
    )
    network = ViTForImageClassification(config)
    embeddings = network.vit.embeddings
    embeddings.position_embeddings.data[0, 1:] = PLACE_LENGTH * _waves(settings.width)
    embeddings.mask_token = torch.nn.Parameter(torch.zeros(1, 1, settings.width))
    return network


def _waves(width: int) -> torch.Tensor:
    """Sines and cosines of each patch's row and column, (patch, width).

    As in Vaswani et al. 2017, half of the width for rows and half for columns; what training starts
    from, so that it need not find out first which patches are neighbours.
    """
    waves = width // 4
    lengths = 2.0 ** torch.linspace(1.5, 5, waves)  # of the waves, in patches
    turns = 2 * torch.pi * torch.arange(GRID)[:, None] / lengths
    line = torch.cat([turns.sin(), turns.cos()], dim=1)  # (row, width / 2)
    rows, columns = line.repeat_interleave(GRID, dim=0), line.repeat(GRID, 1)
    return torch.cat([rows, columns], dim=1)


def new_answers(settings: Settings) -> torch.nn.ModuleDict:
    """What reads the answers off the patches in training; none of it is part of the model."""
    sizes = {"relate": RELATED, "restore": 3 * PATCH**2, "shape": 1 + len(SHAPE_NAMES)}
    sizes["outline"] = PATCH**2
    return torch.nn.ModuleDict(
        {name: torch.nn.Linear(settings.width, size) for name, size in sizes.items()}
    )


GROUND_WEIGHT = 0.2  # of a patch of ground among those of shapes: there are five times as many


def losses_of(
    network: ViTForImageClassification,
    answers: torch.nn.ModuleDict,
    batch: Pictures,
    masked: torch.Tensor,
) -> dict[str, torch.Tensor]:
    """Mean loss of each part of the task; `masked` is bool (picture, patch)."""
    pixels = torch.from_numpy(batch.pixels).float() / 255
    scaled = (pixels.permute(0, 3, 1, 2) - 0.5) / 0.5
    hidden = network.vit(scaled, bool_masked_pos=masked).last_hidden_state
    names = network.classifier(hidden[:, 0])
    read = {name: part(hidden[:, 1:]) for name, part in answers.items()}
    cells = cells_of(pixels)
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
        outline = cells_of(torch.from_numpy(batch.outline).float())
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
    mosaics = (draw_mosaic(seed, SIDE) for seed in range(settings.mosaics))
    photographs = crop_photographs(settings.photographs, settings.seed)
    kinds = [stacked(map(labelled, range(settings.scenes)))]
    kinds += [stacked(map(unlabelled, each)) for each in (mosaics, photographs)]
    network, answers = new_network(settings), new_answers(settings)
    weights = [*network.parameters(), *answers.parameters()]

    def loss_of(step: int, elapsed: float) -> torch.Tensor:
        shares, parts = EARLY if elapsed < EARLY_PART else LATE
        generator = np.random.default_rng((settings.seed, step))
        counts = [round(share * settings.batch) for share in shares]
        masked = generator.random((sum(counts), GRID**2)) < settings.masked
        masked[1::2] = False  # half of the pictures are whole
        rows = [generator.integers(0, len(k.pixels), n) for k, n in zip(kinds, counts, strict=True)]
        chosen = ([part[own] for part in kind] for kind, own in zip(kinds, rows, strict=True))
        batch = varied(Pictures(*map(np.concatenate, zip(*chosen, strict=True))), generator)
        losses = losses_of(network, answers, batch, torch.from_numpy(masked))
        return torch.stack([parts[name] * loss for name, loss in losses.items()]).sum()

    fit(weights, loss_of, settings, seconds, max_steps)
    network.vit.embeddings.mask_token = None
    network.to(torch.float16).save_pretrained(folder)
    settings_of = {"image_processor_type": "ViTImageProcessor", "image_std": [0.5] * 3}
    write_processor(folder, size={"height": SIDE, "width": SIDE}, **settings_of)


if __name__ == "__main__":
    given = arguments(minutes=60)
    train(given.folder, given.minutes * 60)
