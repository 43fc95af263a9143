"""What vit-scenes is asked about a picture, and how wrong its answers are.

1. Relate: for every patch, the mean brightness and place of the patches of its hue, and the mean
   colour and place of the patches of its brightness. Only attention by hue and by brightness finds
   them: a patch has to look up others that are like it in the one and unlike it in the other.
2. Restore: the pixels of the patches that were masked.
3. Name: for [CLS], which things the scene shows; for every patch, which shape it belongs to, and
   which of its pixels show things.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

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
# sRGB in linear light to cone responses, and their cube roots to OKLab (Ottosson 2020).
_TO_CONES = (
    (0.4122214708, 0.5363325363, 0.0514459929),
    (0.2119034982, 0.6806995451, 0.1073969566),
    (0.0883024619, 0.2817188376, 0.6299787005),
)
_TO_OKLAB = (
    (0.2104542553, 0.7936177850, -0.0040720468),
    (1.9779984951, -2.4285922050, 0.4505937099),
    (0.0259040371, 0.7827717662, -0.8086757660),
)


@dataclass(frozen=True)
class Looks:
    """Of the mean colour of each patch, (picture, patch), in OKLab.

    Attributes
    ----------
    chroma : (..., 2), whose direction is the hue.
    lightness : 0 to 1.
    clear : how much its hue counts, 0 to 1.
    """

    chroma: torch.Tensor
    lightness: torch.Tensor
    clear: torch.Tensor


def cells_of(pixels: torch.Tensor, patch: int) -> torch.Tensor:
    """The patches of pictures (picture, side, side, ...): (picture, patch, pixel, ...)."""
    count, side = pixels.shape[0], pixels.shape[1] // patch
    rest = pixels.shape[3:]
    grid = pixels.reshape(count, side, patch, side, patch, *rest).transpose(2, 3)
    return grid.reshape(count, side * side, patch * patch, *rest)


def looks_of(cells: torch.Tensor) -> Looks:
    """Of patches (picture, patch, pixel, 3), sRGB from 0 to 1."""
    import torch

    colours = cells.mean(dim=2)
    linear = torch.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    cones = linear @ torch.tensor(_TO_CONES).T
    oklab = cones.clamp_min(1e-9) ** (1 / 3) @ torch.tensor(_TO_OKLAB).T
    squared = oklab[..., 1:].square().sum(-1)
    return Looks(oklab[..., 1:], oklab[..., 0], squared / (squared + FAINT**2))


def related(looks: Looks) -> tuple[torch.Tensor, torch.Tensor]:
    """What each patch has to tell, (picture, patch, RELATED), and how much each number counts.

    In the order of the module's text, as differences from the picture's mean.
    """
    import torch

    direction = torch.nn.functional.normalize(looks.chroma, dim=-1)
    alike = torch.exp(HUE_SHARPNESS * (direction @ direction.transpose(1, 2) - 1))
    alike = alike * looks.clear[:, None, :] + 1e-6
    apart = looks.lightness[:, :, None] - looks.lightness[:, None, :]
    as_bright = torch.exp(-((apart / BRIGHTNESS_WIDTH) ** 2) / 2)
    places = _places(looks.lightness.shape[1]).expand(len(looks.lightness), -1, -1) / UNIT
    of_hue = torch.cat([looks.lightness[..., None] / UNIT, places], dim=-1)
    of_brightness = torch.cat([looks.chroma / CHROMA_UNIT, places], dim=-1)
    answers = torch.cat([_deviation(alike, of_hue), _deviation(as_bright, of_brightness)], dim=-1)
    counts = torch.ones_like(answers)
    counts[..., :3] = looks.clear[..., None]
    return answers, counts


def _deviation(weights: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """Weighted means (picture, patch, value), less the plain mean of the picture."""
    means = weights @ values / weights.sum(-1, keepdim=True)
    return means - values.mean(1, keepdim=True)


def _places(patches: int) -> torch.Tensor:
    """Row and column of each patch, -0.5 to 0.5, (patch, 2)."""
    import torch

    line = torch.linspace(-0.5, 0.5, round(patches**0.5))
    return torch.stack(torch.meshgrid(line, line, indexing="ij"), dim=-1).reshape(-1, 2)
