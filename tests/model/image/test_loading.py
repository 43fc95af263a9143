"""Which part of a checkpoint opens, what is refused, and what a head for classes says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
import transformers
from PIL import Image, ImageDraw

from core.model import ModelError, classify, load, trace_image, trace_text
from core.model.box import BOX, open_box
from core.model.errors import ImageError, NoWeightsError, UnsupportedModelError, WrongInputError
from core.model.weights.output_projection import transformed_values
from tests.model.image.families import (
    FAMILIES,
    PATCH,
    SIDE,
    TINY,
    as_input,
    build,
    image,
    saved,
    write_processor,
)
from tests.model.sweep.tiny import tokenizer_for

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import ModelOf

LABELS = {0: "circle", 1: "square", 2: "star", 3: "ring", 4: "cross", 5: "bar", 6: "moon"}
TEXT: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "vocab_size": 200,
    "max_position_embeddings": 40,
    "bos_token_id": 2,
    "eos_token_id": 3,
    "pad_token_id": 0,
}


def two_towers(kind: str, folder: Path) -> Any:
    """A tiny CLIP or SigLIP with both its parts, tokenizer and processor."""
    config = getattr(transformers, f"{kind}Config")(text_config=TEXT, vision_config=TINY)
    network = saved(f"{kind}Model", config, folder)
    write_processor(folder, size={"height": SIDE, "width": SIDE})
    tokenizer_for(config).save_pretrained(folder)
    return network


@pytest.mark.parametrize("kind", ["CLIP", "Siglip"])
def test_of_two_towers_the_one_that_is_asked_for_opens(kind: str, tmp_path: Path) -> None:
    network = two_towers(kind, tmp_path)
    by_text = load(str(tmp_path))
    assert not by_text.sees_images
    assert trace_text(by_text, "a photo").patches is None
    by_image = load(str(tmp_path), modality="image")
    with torch.inference_mode():
        own = network.vision_model(as_input(image()), output_attentions=True).attentions
    attention = trace_image(by_image, image()).attention()
    np.testing.assert_allclose(attention, np.stack([each[0].numpy() for each in own]), atol=1e-5)


def test_a_model_of_the_other_kind_is_refused_where_one_kind_is_asked_for(
    model_of: ModelOf, tmp_path: Path
) -> None:
    build(FAMILIES["vit"], tmp_path)
    with pytest.raises(WrongInputError, match=r"reads images, not texts\. Use it with an image"):
        load(str(tmp_path), modality="text")
    with pytest.raises(WrongInputError, match="reads texts, not images"):
        load(model_of("bert").name, modality="image")


def test_a_text_for_a_model_of_images_is_refused_and_the_other_way_round(
    model_of: ModelOf, tmp_path: Path
) -> None:
    build(FAMILIES["vit"], tmp_path)
    model = load(str(tmp_path))
    with pytest.raises(WrongInputError, match=r"reads images, not texts\. Use it with an image"):
        trace_text(model, "a text")
    for see in (trace_image, classify):
        with pytest.raises(WrongInputError, match=r"reads texts, not images\. Use it with a text"):
            see(model_of("bert"), image())


@pytest.mark.parametrize(
    ("config", "kind", "settings"),
    [
        ("SwinConfig", "SwinModel", {"embed_dim": 8, "depths": [1, 1], "num_heads": [2, 2]}),
        ("Swinv2Config", "Swinv2Model", {"embed_dim": 8, "depths": [1, 1], "num_heads": [2, 2]}),
        ("HieraConfig", "HieraModel", {"embed_dim": 8, "image_size": [224, 224]}),
    ],
)
def test_networks_with_windows_are_refused_in_one_sentence(
    config: str, kind: str, settings: dict[str, Any], tmp_path: Path
) -> None:
    saved(kind, getattr(transformers, config)(**settings), tmp_path)
    with pytest.raises(UnsupportedModelError, match="attends within windows or merges") as caught:
        load(str(tmp_path))
    assert caught.value.problem.count(".") == 1


def test_tokens_that_cannot_be_named_are_refused(tmp_path: Path) -> None:
    """YOLOS puts a hundred tokens for things to detect after its patches."""
    config = transformers.YolosConfig(**TINY | {"image_size": [SIDE, SIDE]})
    saved("YolosModel", config, tmp_path)
    with pytest.raises(UnsupportedModelError, match="has other tokens than one for each patch"):
        load(str(tmp_path))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"patch_size": 0}, "no square patches"),
        ({"patch_size": [4, 6]}, "no square patches"),
        ({"image_size": "24"}, "config.json"),
        ({"image_size": 4_000}, "cuts an image into 1,000,000 patches"),
        ({"image_size": 48}, "do not have the shapes"),
    ],
)
def test_a_config_that_describes_no_grid_is_refused(
    changes: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    build(FAMILIES["vit"], tmp_path)
    path = tmp_path / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | changes), "utf-8")
    with pytest.raises(ModelError, match=problem):
        load(str(tmp_path))


def test_pickled_weights_are_never_read(tmp_path: Path) -> None:
    build(FAMILIES["vit"], tmp_path)
    (tmp_path / "model.safetensors").rename(tmp_path / "pytorch_model.bin")
    with pytest.raises(NoWeightsError, match="pickle"):
        load(str(tmp_path))


def test_the_processor_of_a_link_elsewhere_is_not_read(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    build(FAMILIES["vit"], folder)
    (folder / "preprocessor_config.json").rename(tmp_path / "elsewhere.json")
    (folder / "preprocessor_config.json").symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(UnsupportedModelError, match="leads somewhere else"):
        load(str(folder))


def test_the_processor_makes_the_usual_size_where_positions_can_be_interpolated(
    tmp_path: Path,
) -> None:
    """As DINOv2: built for 518 pixels, published with a processor that makes 224."""
    build(FAMILIES["dinov2"], tmp_path)
    write_processor(tmp_path, size={"shortest_edge": 20}, crop_size={"height": 16, "width": 16})
    trace = trace_image(load(str(tmp_path)), image(40, 60))
    assert trace.patches is not None
    assert (trace.patches.pixels.shape, trace.patches.given) == ((16, 16, 3), (40, 60))
    assert (trace.patches.rows, trace.patches.columns, len(trace.tokens)) == (4, 4, 17)


def ellipse(width: int, height: int, box: tuple[int, int, int, int]) -> Image.Image:
    """White on black."""
    drawn = Image.new("RGB", (width, height))
    ImageDraw.Draw(drawn).ellipse(box, fill="white")
    return drawn


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
    """Of 640 x 420 pixels; a circle of 168 around the middle is 32 * 168 / seen pixels wide."""
    build(FAMILIES["vit"], tmp_path, image_size=32, patch_size=4)
    write_processor(tmp_path, **processor)
    photo = ellipse(640, 420, (320 - 84, 210 - 84, 320 + 84, 210 + 84))
    patches = trace_image(load(str(tmp_path)), photo).patches
    assert patches is not None
    assert (patches.given, patches.seen) == ((420, 640), seen)
    assert patches.would_squash == would_squash
    bright = patches.pixels[..., 0] > 127
    across, down = bright.any(0).sum(), bright.any(1).sum()
    assert abs(across - 32 * 168 / seen[1]) <= 1
    assert abs(down - across) <= 1


def test_what_is_square_already_is_seen_as_the_processor_makes_it(tmp_path: Path) -> None:
    """Every picture of the box: nothing is cut off, and the pixels are PIL's own."""
    build(FAMILIES["vit"], tmp_path, image_size=32, patch_size=4)
    write_processor(tmp_path, size={"height": 32, "width": 32})
    model = load(str(tmp_path))
    for name in BOX:
        picture = open_box(name)
        patches = trace_image(model, picture).patches
        assert patches is not None
        expected = np.asarray(picture.resize((32, 32), Image.Resampling.BILINEAR))
        np.testing.assert_array_equal(patches.pixels, expected)
        assert (patches.seen, patches.would_squash) == (patches.given, False)


def test_a_model_of_one_size_resizes_what_it_gets(tmp_path: Path) -> None:
    """Its table of positions is no square, which transformers cannot interpolate."""
    build(FAMILIES["vit"], tmp_path, image_size=[SIDE, SIDE + 2 * PATCH])
    write_processor(tmp_path, size={"height": 40, "width": 40})
    model = load(str(tmp_path))
    assert model.vision is not None
    assert not model.vision.interpolates
    trace = trace_image(model, image(50, 70), size=(40, 40))
    assert trace.patches is not None
    assert trace.patches.pixels.shape == (SIDE, SIDE + 2 * PATCH, 3)
    assert trace.patches.given == (50, 70)


@pytest.mark.parametrize(
    ("size", "problem"),
    [
        ((25, 24), "patches of 4 x 4 pixels"),
        ((0, 24), "not a whole number"),
        ((-4, 24), "not a whole number"),
        ((400, 400), "10,000 patches .* at most 2,500"),
    ],
)
def test_a_size_that_cannot_be_is_refused(
    size: tuple[int, int], problem: str, tmp_path: Path
) -> None:
    build(FAMILIES["dinov2"], tmp_path)
    with pytest.raises(ImageError, match=problem):
        trace_image(load(str(tmp_path)), image(), size)


@pytest.mark.parametrize(
    ("name", "network"),
    [
        ("vit", "ViTForImageClassification"),
        ("deit", "DeiTForImageClassification"),
        ("dinov2", "Dinov2ForImageClassification"),
        ("beit", "BeitForImageClassification"),
    ],
)
def test_classes_are_those_of_the_models_own_softmax(
    name: str, network: str, tmp_path: Path
) -> None:
    whole = build(FAMILIES[name], tmp_path, network=network, id2label=LABELS)
    with torch.inference_mode():
        chances = whole(pixel_values=as_input(image())).logits[0].softmax(-1).tolist()
    expected = sorted(zip(LABELS.values(), chances, strict=True), key=lambda each: -each[1])[:5]
    model = load(str(tmp_path))
    assert model.vision is not None
    assert model.labels == tuple(LABELS.values())
    named = classify(model, image())
    assert [label for label, _ in named] == [label for label, _ in expected]
    np.testing.assert_allclose([p for _, p in named], [p for _, p in expected], atol=1e-5)


def test_a_head_without_its_weights_names_nothing(tmp_path: Path) -> None:
    """transformers would fill it with random numbers."""
    build(FAMILIES["vit"], tmp_path)
    path = tmp_path / "config.json"
    config = json.loads(path.read_text("utf-8")) | {"architectures": ["ViTForImageClassification"]}
    path.write_text(json.dumps(config), "utf-8")
    model = load(str(tmp_path))
    assert classify(model, image()) == []
    assert model.vision is not None
    assert model.labels == ()


def test_a_checkpoint_of_a_classifier_shows_the_same_attention(tmp_path: Path) -> None:
    whole = build(FAMILIES["vit"], tmp_path, network="ViTForImageClassification")
    with torch.inference_mode():
        own = whole(pixel_values=as_input(image()), output_attentions=True).attentions
    attention = trace_image(load(str(tmp_path)), image()).attention()
    np.testing.assert_allclose(attention, np.stack([each[0].numpy() for each in own]), atol=1e-5)


@pytest.mark.parametrize("name", ["vit", "dinov2_with_registers", "siglip", "clip", "beit"])
def test_what_the_heads_write_adds_up_to_the_output_of_attention(name: str, tmp_path: Path) -> None:
    """The sum over heads of attention times transformed values, and the bias of W_O."""
    network = build(FAMILIES[name], tmp_path)
    model = load(str(tmp_path))
    assert model.outputs is not None
    given: list[torch.Tensor] = []
    module = network.get_submodule(model.outputs[1])
    module.register_forward_hook(lambda _module, _inputs, output: given.append(output[0]))
    with torch.inference_mode():
        network(pixel_values=as_input(image()))
    trace = trace_image(model, image())
    written = [transformed_values(model, trace, 1, head) for head in range(4)]
    total = np.einsum(
        "hij,hjw->iw", trace.attention(1), np.stack([each for each in written if each is not None])
    )
    np.testing.assert_allclose(total + module.bias.detach().numpy(), given[0].numpy(), atol=1e-4)
