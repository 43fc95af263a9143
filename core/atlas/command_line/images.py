"""An atlas of a folder of images, for the command line: see :mod:`core.atlas_build`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from PIL.Image import Image

from core.atlas import Atlas, build_atlas
from core.atlas.command_line.terminal import BuildError
from core.model import LoadedModel, ModelError, trace_images
from core.model.image.opening import open_image
from core.model.memory import available_bytes

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")
_USABLE_SHARE = 0.6  # of the free memory: the rest is for copying the head that is being projected


def files_of(folder: Path) -> list[Path]:
    """The images in a folder, by name; subfolders are not searched.

    Raises `BuildError` if there is no such folder, no image in it, or a device or pipe with the
    name of an image.
    """
    if not folder.is_dir():
        raise BuildError(f"There is no folder {folder}.")
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() in IMAGE_SUFFIXES)
    if not files:
        raise BuildError(f"{folder} has no image ({', '.join(IMAGE_SUFFIXES)}).")
    for path in files:
        if not path.is_file():
            raise BuildError(f"{path} is neither a regular file nor a link to one.")
    return files


def atlas_of_images(
    model: LoadedModel, files: Sequence[Path], say: Callable[[str], object]
) -> Atlas:
    """The atlas of these files; files that are not images are skipped and reported through `say`.

    Everything stays in memory until the file is written. Raises `BuildError` if no file can be
    opened, or the images need more memory than there is.
    """
    vectors = _bytes_of_image(model)
    free = available_bytes()
    if vectors * len(files) > _USABLE_SHARE * free:
        raise BuildError(
            f"{len(files):,} images need about {vectors * len(files) / 1e9:.1f} GB of memory, and"
            f" {free / 1e9:.1f} GB are free: take fewer."
        )
    names: list[str] = []

    def opened() -> Iterator[Image]:
        for path in files:
            try:
                image = open_image(path.read_bytes()).image
            except ModelError as error:
                say(f"{path.name} is left out: {error.problem}")
                continue
            names.append(path.stem)
            yield image

    traces = list(trace_images(model, opened()))
    if not traces:
        raise BuildError("None of the files is an image that can be opened.")
    return build_atlas(traces, names)


def _bytes_of_image(model: LoadedModel) -> int:
    """What one image takes: float32 queries and keys, copied once, values, hidden states."""
    tokens = 0 if model.vision is None else model.vision.tokens()
    heads = 2 * (model.heads + model.kv_heads) + model.kv_heads
    return 4 * tokens * model.dim * (model.layers * heads + (model.layers + 1) * model.heads)
