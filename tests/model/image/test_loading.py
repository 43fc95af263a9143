"""Which part of a checkpoint opens, what is refused, and what a head for classes says."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from PIL import Image, ImageDraw

from core.model import ModelError, classify, load, trace_image, trace_patches, trace_text
from core.model.errors import ImageError, UnsupportedModelError, WrongInputError
from tests.conftest import ModelOf
from tests.model.image.families import (
    FAMILIES,
    SIDE,
    TINY,
    as_input,
    build,
    image,
    saved,
    write_processor,
)
from tests.rounding import assert_same_shares

LABELS = {0: "circle", 1: "square", 2: "star", 3: "ring", 4: "cross", 5: "bar", 6: "moon"}


def test_a_model_of_the_other_kind_and_an_input_of_the_other_kind_are_refused(
    model_of: ModelOf, tmp_path: Path
) -> None:
    build(FAMILIES["vit"], tmp_path)
    vit, bert = load(str(tmp_path)), model_of("bert")
    with pytest.raises(WrongInputError, match=r"reads images, not texts\. Use it with an image"):
        load(vit.name, modality="text")
    with pytest.raises(WrongInputError, match=r"reads images, not texts\. Use it with an image"):
        trace_text(vit, "a text")
    with pytest.raises(WrongInputError, match="reads texts, not images"):
        load(bert.name, modality="image")
    for see in (trace_image, classify):
        with pytest.raises(WrongInputError, match=r"reads texts, not images\. Use it with a text"):
            see(bert, image())


_SMALL: dict[str, Any] = {"embed_dim": 8, "depths": [1, 1], "num_heads": [2, 2]}


@pytest.mark.parametrize(
    ("kind", "settings", "problem"),
    [
        ("Swin", _SMALL, "attends within windows or merges"),
        ("Hiera", {"embed_dim": 8, "image_size": [224, 224]}, "attends within windows or merges"),
        # For things to detect.
        ("Yolos", TINY | {"image_size": [SIDE, SIDE]}, "other tokens than one for each patch"),
    ],
)
def test_networks_whose_tokens_are_not_their_patches_are_refused_in_one_sentence(
    kind: str, settings: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    saved(f"{kind}Model", getattr(transformers, f"{kind}Config")(**settings), tmp_path)
    with pytest.raises(UnsupportedModelError, match=problem) as caught:
        load(str(tmp_path))
    assert caught.value.problem.count(".") == 1


def test_a_config_that_describes_no_grid_is_refused(tmp_path: Path) -> None:
    build(FAMILIES["vit"], tmp_path)
    path = tmp_path / "config.json"
    config = json.loads(path.read_text("utf-8"))
    for name, value, problem in (
        ("patch_size", 0, "no square patches"),
        ("patch_size", [4, 6], "no square patches"),
        ("image_size", "24", "config.json"),
        ("image_size", 4_000, "cuts an image into 1,000,000 patches"),
        ("image_size", 48, "do not have the shapes"),
    ):
        path.write_text(json.dumps(config | {name: value}), "utf-8")
        with pytest.raises(ModelError, match=problem):
            load(str(tmp_path))


def test_the_processor_of_a_link_elsewhere_is_not_read(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    build(FAMILIES["vit"], folder)
    (folder / "preprocessor_config.json").rename(tmp_path / "elsewhere.json")
    (folder / "preprocessor_config.json").symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(UnsupportedModelError, match="leads somewhere else"):
        load(str(folder))


@pytest.mark.parametrize(
    ("processor", "seen", "would_squash"),
    [
        ({"size": {"height": 32, "width": 32}}, (420, 420), True),
        (
            {"size": {"shortest_edge": 40}, "crop_size": {"height": 32, "width": 32}},
            (336, 341),  # 32 of 40, and 32 of 60: the processor rounds 60.95 down
            False,
        ),
    ],
    ids=["as ViT, which squashes", "as DINOv2, which crops"],
)
def test_a_circle_in_a_photo_that_is_no_square_stays_a_circle(
    processor: dict[str, Any], seen: tuple[int, int], would_squash: bool, tmp_path: Path
) -> None:
    """Of 640 x 420 pixels; a circle of 168 around the middle is 32 * 168 / seen pixels wide.

    The model is made for images twice as large as its processor makes, as DINOv2 is.
    """
    build(FAMILIES["dinov2"], tmp_path, image_size=64)
    write_processor(tmp_path, **processor)
    photo = Image.new("RGB", (640, 420))
    ImageDraw.Draw(photo).circle((320, 210), 84, fill="white")
    trace = trace_image(load(str(tmp_path)), photo)
    patches = trace.patches
    assert patches is not None
    assert (patches.given, patches.seen) == ((420, 640), seen)
    assert (patches.rows, patches.columns, len(trace.tokens)) == (8, 8, 65)
    assert patches.would_squash == would_squash
    bright = patches.pixels[..., 0] > 127
    across, down = bright.any(0).sum(), bright.any(1).sum()
    assert abs(across - 32 * 168 / seen[1]) <= 1
    assert abs(down - across) <= 1


def test_a_size_that_cannot_be_is_refused(tmp_path: Path) -> None:
    build(FAMILIES["dinov2"], tmp_path)
    model = load(str(tmp_path))
    for size, problem in (
        ((25, 24), "patches of 4 x 4 pixels"),
        ((0, 24), "not a whole number"),
        ((-4, 24), "not a whole number"),
        ((400, 400), "10,000 patches .* at most 2,500"),
    ):
        with pytest.raises(ImageError, match=problem):
            trace_image(model, image(), size)


@pytest.mark.parametrize("name", ["vit", "deit", "dinov2", "beit"])
def test_classes_are_those_of_the_models_own_softmax(name: str, tmp_path: Path) -> None:
    kind = f"{FAMILIES[name].classes}ForImageClassification"
    whole = build(FAMILIES[name], tmp_path, network=kind, id2label=LABELS)
    with torch.inference_mode():
        chances, order = whole(pixel_values=as_input(image())).logits[0].softmax(-1).topk(5)
    model = load(str(tmp_path))
    assert model.labels == tuple(LABELS.values())
    named = classify(model, image())
    assert [label for label, _ in named] == [LABELS[each] for each in order.tolist()]
    np.testing.assert_allclose([p for _, p in named], chances, atol=1e-5)


def test_pixels_that_a_model_had_are_neither_resized_nor_cropped_again(tmp_path: Path) -> None:
    build(FAMILIES["vit"], tmp_path)
    crop = {"height": SIDE, "width": SIDE}
    write_processor(tmp_path, size={"shortest_edge": 32}, crop_size=crop, do_center_crop=True)
    model = load(str(tmp_path))
    first = trace_image(model, image(50, 70))
    assert first.patches is not None
    again = trace_patches(model, first.patches)
    assert again.patches is first.patches
    assert_same_shares(again.attention(), first.attention(), first)
    seen_as_new = trace_image(model, first.patches.pixels)
    assert not np.allclose(seen_as_new.attention(), first.attention(), atol=1e-3)


def test_pixels_of_another_model_are_refused(tmp_path: Path) -> None:
    build(FAMILIES["siglip"], tmp_path / "own")
    build(FAMILIES["siglip"], tmp_path / "other", patch_size=6)
    own, other = load(str(tmp_path / "own")), load(str(tmp_path / "other"))
    patches = trace_image(other, image()).patches
    assert patches is not None
    with pytest.raises(ModelError, match="4 x 4 patches"):
        trace_patches(own, patches)
    with pytest.raises(ModelError):
        trace_patches(own, replace(patches, pixels=image(SIDE + 1, SIDE + 1).copy()))
