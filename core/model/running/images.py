"""Run an image, or many, through a vision model and record what its heads compute."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from PIL import Image

from core.model.errors import ImageError, WrongInputError
from core.model.image.facts import Size, Vision, image_tokens
from core.model.image.forward import image_inputs, image_size
from core.model.image.pixels import Pixels, as_rgb, middle, process, seen_of
from core.model.refusal import refusing, refusing_to
from core.model.running.loaded import LoadedModel, likeliest_classes
from core.model.running.tracing import trace_inputs
from core.model.text.inputs import TextInput
from core.model.trace import Patches, Trace


def trace_image(model: LoadedModel, image: Image.Image | Pixels, size: Size | None = None) -> Trace:
    """One forward pass of an image.

    Parameters
    ----------
    model : from :func:`core.model.load`; ``model.sees_images`` must hold.
    image : of PIL, or uint8 (height, width, 3) in sRGB.
    size : (height, width) in pixels that the model gets, multiples of its patch size. Without it,
        or where the model takes one size only, the image is resized to the model's own size as its
        processor does it; ``trace.patches.given`` is the original size. An image of another shape
        loses its edges: where the processor would squeeze it, its middle is cut out first
        (``trace.patches.seen``). To have it squeezed, resize it to the model's size yourself.

    Raises
    ------
    WrongInputError
        When the model reads texts.
    ImageError
        When the image or the size cannot be used.
    OutOfMemoryError
        When the image has too many patches for the free memory.
    """
    (trace,) = trace_images(model, [image], size=size)
    return trace


def trace_images(
    model: LoadedModel,
    images: Iterable[Image.Image | Pixels],
    batch: int = 8,
    *,
    size: Size | None = None,
) -> Iterator[Trace]:
    """One trace per image, in order, `batch` of them run together; all get one size.

    Raises what :func:`trace_image` raises, once the batch with that image is reached.
    """
    with refusing(model.name, "see"):
        vision = vision_of(model)
        size = vision.size_for(size)
    remaining = iter(images)
    while group := list(islice(remaining, batch if model.batches else 1)):
        prepared = [_prepare(model, vision, each, size) for each in group]
        yield from trace_inputs(model, [_input(vision, patches) for patches in prepared])


def trace_patches(model: LoadedModel, patches: Patches) -> Trace:
    """One forward pass of the pixels of an earlier trace of this model, as they are.

    Raises
    ------
    WrongInputError
        When the model reads texts.
    ImageError
        When the model takes no image of that size, or cuts it into other patches.
    """
    with refusing(model.name, "see"):
        vision = vision_of(model)
        size = image_size(patches.pixels)
        if vision.size_for(size) != size or vision.grid(size) != (patches.rows, patches.columns):
            raise ImageError(
                f"{{name}} does not cut an image of {size[1]} x {size[0]} pixels into"
                f" {patches.rows} x {patches.columns} patches.",
                "Build the atlas again with this model.",
            )
    (trace,) = trace_inputs(model, [_input(vision, patches)])
    return trace


@refusing_to("see")
def classify(model: LoadedModel, image: Image.Image | Pixels) -> list[tuple[str, float]]:
    """The likeliest classes of an image with their probabilities, at most five, likeliest first.

    The softmax is over all classes. Empty where the checkpoint has no classification head.

    Raises
    ------
    WrongInputError
        When the model reads texts.
    """
    import torch

    vision = vision_of(model)
    if model.classifier is None:
        return []
    patches = _prepare(model, vision, image, vision.image_size)
    with torch.inference_mode():
        inputs = image_inputs(model.classifier, vision, [patches.pixels])
        logits = model.classifier(**inputs).logits[0]
    return likeliest_classes(model, logits)


def vision_of(model: LoadedModel) -> Vision:
    """How the model reads images.

    Raises
    ------
    WrongInputError
        When it reads texts.
    """
    if model.vision is None:
        raise WrongInputError("{name} reads texts, not images.", "Use it with a text.", model.name)
    return model.vision


@refusing_to("see")
def _prepare(
    model: LoadedModel,  # noqa: ARG001 - named in a refusal
    vision: Vision,
    image: Image.Image | Pixels,
    size: Size,
) -> Patches:
    """What the model sees of an image: nothing is squeezed, whatever its processor would do."""
    rgb = as_rgb(image)
    whole = rgb if vision.processing.keeps_aspect else middle(rgb, size)
    rows, columns = vision.grid(size)
    return Patches(
        process(whole, vision.processing, size),
        rows,
        columns,
        vision.patch_size,
        vision.first,
        (rgb.height, rgb.width),
        seen_of(whole, vision.processing, size),
        would_squash=whole is not rgb,
    )


def image_input(model: LoadedModel, image: Image.Image | Pixels) -> TextInput:
    """An image as the model gets it; parameters and errors as for :func:`trace_image`."""
    vision = vision_of(model)
    return _input(vision, _prepare(model, vision, image, vision.size_for(None)))


def _input(vision: Vision, patches: Patches) -> TextInput:
    """Pixels that are ready for the model, with their tokens."""
    return TextInput([], [], image_tokens(vision, image_size(patches.pixels)), 0, patches=patches)
