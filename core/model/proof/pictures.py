"""The pictures that a vision model runs while it is checked, and the place of its patches.

Two pictures of the model's own size and, after them, one of another size and shape, which shows
whether the model takes other sizes. A random half of a picture's patches are changed: the queries,
keys and values of exactly those tokens must change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.model.capture import IMPLEMENTATION, Check, Recorder
from core.model.capture.forward import Way
from core.model.encoder_decoder import Lengths
from core.model.errors import PICK_VISION, ModelError, UnsupportedModelError
from core.model.image.facts import MAX_PATCHES, Size, Vision
from core.model.image.forward import run_images, size_of
from core.model.image.pixels import Pixels
from core.model.proof.agreement import DiffersError
from core.model.proof.runs import Passes, Runs, Samples
from core.model.trace import Trace

if TYPE_CHECKING:
    from transformers import PreTrainedModel


_SEED = 0
# A token counts as changed from there on, by the size of its layer's vectors: more than rounding,
# far less than another patch makes.
_CHANGED, _CHANGED_ROUNDINGS = 1e-4, 8


@dataclass(frozen=True)
class Pictures(Samples[Pixels]):
    """Two pictures of the model's own size."""

    vision: Vision
    misfit = (
        "has other tokens than one for each patch of the image and those named here ([CLS],"
        " registers): it may attend within windows, merge patches, or add tokens of its own."
    )
    failed = "cannot be run on an image alone"
    advice = PICK_VISION

    def run(
        self, items: Sequence[Pixels], way: Way, check: Check | None
    ) -> tuple[Recorder, object]:
        """Run them together; all are of one size."""
        return run_images(self.network, self.vision, items, way=way, check=check)

    def lengths(self, items: Sequence[Pixels]) -> Lengths:
        """Their tokens."""
        return Lengths([self.vision.tokens(size_of(each)) for each in items])

    def look_further(self, runs: Runs[Pixels], first: Trace) -> Passes[Pixels]:
        """That of another size, if the model takes it; tokens must be the patches in order."""
        _check_places(runs, self.vision, self.all[0], first)
        other, error = _picture(_other_size(self.vision), 2), runs.error
        try:
            return [([other], runs.traces([other]))]
        except (DiffersError, ModelError, RuntimeError, ValueError, IndexError, TypeError):
            runs.error = error
            return []


def pictures_for(network: PreTrainedModel, vision: Vision) -> Pictures:
    """The pictures of a network that sees so."""
    pictures = [_picture(vision.image_size, seed) for seed in range(2)]
    return Pictures(network, pictures, pictures[0], vision)


def usual_size(network: PreTrainedModel, vision: Vision) -> Vision:
    """With the size that the checkpoint's processor makes, if the network takes it.

    DINOv2 was built for 518 pixels and is published with a processor that makes 224.
    """
    rows, columns = vision.grid(vision.processing.crop)
    size = (rows * vision.patch_size, columns * vision.patch_size)
    if size == vision.image_size or not 1 <= rows * columns <= MAX_PATCHES:
        return vision
    way: Way = "exact" if network.config._attn_implementation == IMPLEMENTATION else "watched"  # noqa: SLF001
    try:
        run_images(network, vision, [_picture(size, 0)], way=way)
    except (RuntimeError, ValueError, IndexError, TypeError):
        return vision
    return replace(vision, image_size=size)


def _picture(size: Size, seed: int) -> Pixels:
    """Random colours, another in every pixel."""
    return np.random.default_rng((_SEED, seed)).integers(0, 256, (*size, 3), dtype=np.uint8)


def _other_size(vision: Vision) -> Size:
    """One row more than the model's own size and two columns more, so that it is no square."""
    height, width = vision.image_size
    return height + vision.patch_size, width + 2 * vision.patch_size


def _check_places(run: Runs[Pixels], vision: Vision, picture: Pixels, trace: Trace) -> None:
    """Refuse a network whose tokens are not its own and then the patches, row by row.

    A wrong order, such as by columns, would change other tokens than those expected.
    """
    rows, columns = vision.grid()
    half = np.random.default_rng((_SEED, 3)).permutation(rows * columns)[: -(-rows * columns // 2)]
    expected = np.zeros(vision.tokens(), dtype=bool)
    expected[vision.first + half] = True
    of_patches = expected[vision.first :].reshape(rows, columns)
    mask = of_patches.repeat(vision.patch_size, 0).repeat(vision.patch_size, 1)
    (other,) = run.traces([np.where(mask[..., None], 255 - picture, picture)])
    if not np.array_equal(_changed(trace, other, run.eps), expected):
        raise UnsupportedModelError(
            f"The tokens of {{name}} ({run.network.config.model_type}) are not the patches of an"
            " image row by row, so its maps cannot be laid over it.",
            PICK_VISION,
        )


def _changed(trace: Trace, other: Trace, eps: float) -> NDArray[np.bool_]:
    """Which tokens got other queries, keys or values in the first layer."""
    changed = np.zeros(trace.shape[2], dtype=bool)
    for name in ("queries", "kv_keys", "kv_values"):
        one, two = (getattr(each, name)[0] for each in (trace, other))
        limit = max(_CHANGED, _CHANGED_ROUNDINGS * eps) * np.abs(one).max()
        changed |= np.abs(one - two).max(axis=(0, 2)) > limit
    return changed
