"""The check of a vision model at load: the rule of its attention, and the place of its patches.

The passes are compared as those of texts are, see :mod:`core.model.running.probe`: two pictures of
the model's own size, each alone and both as a batch, and one of another size and shape, which shows
whether the model takes other sizes. Then a random half of a picture's patches are changed: the
queries, keys and values of exactly those tokens must change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.model.capture import IMPLEMENTATION, Recorder
from core.model.capture.forward import Way
from core.model.checks.agreement import DiffersError
from core.model.checks.runs import Runs
from core.model.encoder_decoder.calls import Lengths
from core.model.errors import PICK_VISION, ModelError, UnsupportedModelError
from core.model.image.forward import run_images, size_of
from core.model.trace import Trace
from core.model.vision.facts import MAX_PATCHES, Size, Vision
from core.model.vision.kinds import MISFIT

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from core.model.capture.calls import Check
    from core.model.image.pixels import Pixels

_SEED = 0
# A token counts as changed from there on, by the size of its layer's vectors: more than rounding,
# far less than another patch makes.
_CHANGED, _CHANGED_ROUNDINGS = 1e-4, 8


@dataclass(frozen=True)
class ImageLoadCheck:
    """What the check found.

    Attributes
    ----------
    trace : of the first picture, without its tokens.
    vision : as given, with whether the model takes other sizes.
    error : the largest difference of any attention weight.
    way : "fast" where PyTorch's attention gives the same as the model's own function.
    batches : an image in a batch is computed as if it were alone.
    outputs : names of the modules that are W_O, one per layer.
    """

    trace: Trace
    vision: Vision
    error: float
    way: Way
    batches: bool
    outputs: tuple[str, ...] | None


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


def probe_images(network: PreTrainedModel, vision: Vision) -> ImageLoadCheck:
    """Run pictures through a network and compare what is recomputed with what it computed.

    Raises
    ------
    UnsupportedModelError
        When nothing is recorded, when recomputed attention or its output differs from the model's
        own by more than rounding, or when its tokens are not the patches of the image in order.
    """
    asks = network.config._attn_implementation == IMPLEMENTATION  # noqa: SLF001 - it has no other name
    run = Runs(network, _Images(network, vision), "exact" if asks else "watched")
    pictures = [_picture(vision.image_size, seed) for seed in range(2)]
    try:
        alone = run.first(pictures[0])
        if run.way == "exact" and not run.is_left_alone(pictures[0]):
            run.watch()
            alone = run.traces(pictures[:1])
        alone += run.traces(pictures[1:])
        together = run.batch(pictures, alone)
    except DiffersError as error:
        raise UnsupportedModelError(
            f"The attention of {{name}} ({network.config.model_type}) recomputed from its queries"
            f" and keys differs from the model's own: {error}.",
            PICK_VISION,
        ) from error
    _check_places(run, vision, pictures[0], alone[0])
    outputs = run.output_modules(pictures[0])
    passes = [([picture], [trace]) for picture, trace in zip(pictures, alone, strict=True)]
    if together:
        passes.append((pictures, together))
    other = _picture(_other_size(vision), 2)
    if interpolated := _of_other_size(run, other):
        passes.append(([other], interpolated))
    fast = run.way == "exact" and all(run.is_fast_the_same(*each) for each in passes)
    return ImageLoadCheck(
        trace=alone[0],
        vision=replace(vision, interpolates=bool(interpolated)),
        error=run.error,
        way="fast" if fast else run.way,
        batches=bool(together),
        outputs=outputs,
    )


@dataclass(frozen=True)
class _Images:
    """Pictures, as :class:`core.model.checks.runs.Runs` wants them."""

    network: PreTrainedModel
    vision: Vision
    misfit: str = MISFIT
    failed: str = "cannot be run on an image alone"
    advice: str = PICK_VISION

    def run(
        self, items: Sequence[Pixels], way: Way, check: Check | None
    ) -> tuple[Recorder, object]:
        """Run them together; all are of one size."""
        return run_images(self.network, self.vision, items, way=way, check=check)

    def lengths(self, items: Sequence[Pixels]) -> Lengths:
        """Their tokens."""
        return Lengths([self.vision.tokens(size_of(each)) for each in items])


def _picture(size: Size, seed: int) -> Pixels:
    """Random colours, another in every pixel."""
    return np.random.default_rng((_SEED, seed)).integers(0, 256, (*size, 3), dtype=np.uint8)


def _other_size(vision: Vision) -> Size:
    """One row more than the model's own size and two columns more, so that it is no square."""
    height, width = vision.image_size
    return height + vision.patch_size, width + 2 * vision.patch_size


def _of_other_size(run: Runs[Pixels], picture: Pixels) -> list[Trace]:
    """The trace of a picture of another size; none if the model does not take it."""
    error = run.error
    try:
        return run.traces([picture])
    except (DiffersError, ModelError, RuntimeError, ValueError, IndexError, TypeError):
        run.error = error
        return []


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
