"""How a model of images sees: its patches, its own tokens, and what is done to an image first."""

from __future__ import annotations

from dataclasses import dataclass

from core.model.errors import ImageError

# Patches of an image at most: 50 x 50. Attention grows with their square: 25 MB a head.
MAX_PATCHES = 2_500
Size = tuple[int, int]  # (height, width)


@dataclass(frozen=True)
class Processing:
    """What the checkpoint's processor does to an image: resize, crop, rescale, normalise.

    Attributes
    ----------
    resize : (height, width) in pixels to resize to; with `keeps_aspect` the smallest that the
        image must cover, its shape unchanged.
    crop : (height, width) cut from the middle, which is what the model gets.
    resample : PIL's number of the filter.
    rescale : factor of the pixels, usually 1 / 255.
    mean, std : of each channel after rescaling: taken away, and divided by.
    """

    resize: Size
    crop: Size
    keeps_aspect: bool
    resample: int
    rescale: float
    mean: tuple[float, float, float]
    std: tuple[float, float, float]


@dataclass(frozen=True)
class Vision:
    """What a model of images takes, and which tokens it makes of it.

    Attributes
    ----------
    patch_size : side of a patch in pixels.
    image_size : (height, width) in pixels that images get unless another size is asked for.
    processing : what is done to an image before the model gets it.
    has_cls : whether a [CLS] token comes first.
    distillation : whether a token that a teacher trained follows it (DeiT).
    registers : how many registers follow it (Darcet et al. 2024).
    interpolates : whether the model takes images of other sizes.
    labels : names of the classes that its head knows; empty without a head.
    """

    patch_size: int
    image_size: Size
    processing: Processing
    has_cls: bool
    distillation: bool
    registers: int
    interpolates: bool = False
    labels: tuple[str, ...] = ()

    @property
    def first(self) -> int:
        """The first patch's place among the tokens."""
        return self.has_cls + self.distillation + self.registers

    def grid(self, size: Size | None = None) -> tuple[int, int]:
        """Rows and columns of patches of an image of that size."""
        height, width = size or self.image_size
        return height // self.patch_size, width // self.patch_size

    def tokens(self, size: Size | None = None) -> int:
        """How many tokens the model makes of an image of that size."""
        rows, columns = self.grid(size)
        return self.first + rows * columns

    def size_for(self, wanted: Size | None) -> Size:
        """The size that an image gets: what is wanted, if the model takes it, else its own.

        Raises
        ------
        ImageError
            When the model takes several sizes, but not this one.
        """
        if wanted is None or not self.interpolates:
            return self.image_size
        rows, columns = self.grid(wanted)
        if (rows * self.patch_size, columns * self.patch_size) != wanted or min(rows, columns) < 1:
            raise ImageError(
                f"{{name}} cuts images into patches of {self.patch_size} x {self.patch_size}"
                f" pixels, and {wanted[0]} x {wanted[1]} pixels are no whole number of them.",
                f"Choose multiples of {self.patch_size}.",
            )
        if rows * columns > MAX_PATCHES:
            raise ImageError(
                f"{wanted[0]} x {wanted[1]} pixels are {rows * columns:,} patches for {{name}};"
                f" this app shows at most {MAX_PATCHES:,}.",
                "Choose a smaller size.",
            )
        return wanted
