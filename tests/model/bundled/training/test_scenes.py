"""The scripts that trained vit-scenes: what pictures they take, and what they ask about them."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import ViTForImageClassification

from core.model import classify, load, trace_image
from core.model.bundled.training.scenes import pictures, task, train
from core.model.bundled.training.scenes.export import export, read_settings
from core.model.bundled.training.scenes.network import Settings, new_answers, new_network
from core.model.bundled.training.scenes.pictures import HUE_NAMES, LABELS, SHAPE_NAMES

if TYPE_CHECKING:
    from pathlib import Path

TINY = Settings(
    layers=2,
    heads=2,
    width=16,
    inner=16,
    batch=10,
    scenes=12,
    mosaics=4,
    photographs=3,
    warm_up=2,
)
RED, GREEN, BLUE, WHITE = (1.0, 0, 0), (0, 1.0, 0), (0, 0, 1.0), (1.0, 1, 1)


def patches_of(*colours: tuple[float, float, float]) -> torch.Tensor:
    """One picture of plain patches of 4 pixels, (1, patch, pixel, 3)."""
    return torch.tensor(colours)[None, :, None].repeat(1, 1, 4, 1)


def test_patches_are_read_row_by_row() -> None:
    pixels = torch.arange(4 * 4 * 3).reshape(1, 4, 4, 3)
    cells = task.cells_of(pixels, 2)
    assert cells.shape == (1, 4, 4, 3)
    # The upper right patch: pixels (0, 2), (0, 3), (1, 2) and (1, 3), 12 numbers a row.
    assert cells[0, 1, :, 0].tolist() == [6, 9, 18, 21]


def test_looks_are_those_that_oklab_publishes() -> None:
    """Ottosson 2020: red is (0.628, 0.225, 0.126), green (0.866, -0.234, 0.179)."""
    looks = task.looks_of(patches_of(RED, GREEN, WHITE, (0, 0, 0)))
    np.testing.assert_allclose(looks.lightness[0], [0.628, 0.866, 1, 0], atol=2e-3)
    np.testing.assert_allclose(looks.chroma[0, :2], [[0.225, 0.126], [-0.234, 0.179]], atol=1e-3)
    assert (looks.clear[0, :2] > 0.9).all()
    assert (looks.clear[0, 2:] < 0.01).all()


def test_a_patch_tells_of_others_of_its_hue_and_of_its_brightness() -> None:
    """Worked out by hand: dark and bright patches of two opposite hues, and no two in between."""
    chroma = torch.tensor([[[0.2, 0], [0.2, 0], [-0.2, 0], [-0.2, 0]]])
    lightness = torch.tensor([[0.2, 0.8, 0.2, 0.6]])
    looks = task.Looks(chroma, lightness, torch.ones(1, 4))
    answers, counts = task.related(looks)
    assert counts.min() == 1
    # Same hue: patches 0 and 1 (mean 0.5), 2 and 3 (0.4); the mean of all is 0.45.
    np.testing.assert_allclose(answers[0, :, 0], [0.5, 0.5, -0.5, -0.5], atol=1e-3)
    # They lie in the upper row, and in the lower one.
    np.testing.assert_allclose(answers[0, :, 1], [-5, -5, 5, 5], atol=1e-3)
    np.testing.assert_allclose(answers[0, :, 2], 0, atol=1e-3)
    # As bright: 0 and 2, whose colours cancel; 1 and 3 are alone up to exp(-(0.2 / 0.08)^2 / 2).
    other = np.exp(-((0.2 / 0.08) ** 2) / 2)
    alone = 4 * (1 - other) / (1 + other)
    np.testing.assert_allclose(answers[0, :, 3], [0, alone, 0, -alone], atol=1e-3)
    assert (answers[0, [0, 2], 6] < -4.9).all()  # both in the left column


def test_grey_patches_have_no_say_about_hue() -> None:
    looks = task.looks_of(patches_of(RED, WHITE, BLUE, (0.2, 0.2, 0.2)))
    answers, counts = task.related(looks)
    np.testing.assert_allclose(counts[0, :, 0], [1, 0, 1, 0], atol=0.1)
    # Red and blue are each the only patch of their hue: their own lightness, 0.628 and 0.452.
    expected = (np.array([0.628, 0.452]) - looks.lightness.mean().item()) / 0.1
    np.testing.assert_allclose(answers[0, [0, 2], 0], expected, atol=0.1)


def test_names_follow_the_channels_when_these_change_places() -> None:
    """A picture of red circles with red and green exchanged shows green circles."""
    names = np.zeros((1, len(HUE_NAMES), len(SHAPE_NAMES)), dtype=bool)
    names[0, HUE_NAMES.index("red"), 0] = names[0, HUE_NAMES.index("magenta"), 1] = True
    names[0, HUE_NAMES.index("grey"), 2] = True
    whole = pictures.Pictures(
        np.full((1, 96, 96, 3), (255, 0, 0), dtype=np.uint8),
        names,
        np.zeros((1, 12, 12), np.int8),
        np.zeros((1, 96, 96), dtype=bool),
    )
    found = set()
    for seed in range(200):
        varied = pictures.varied(whole, np.random.default_rng(seed))
        colour = tuple(int(value) // 255 for value in varied.pixels[0, 0, 0])
        hues = [HUE_NAMES[hue] for hue in varied.names[0].argmax(axis=0)[:3]]
        found.add((colour, *hues))
    assert ((0, 1, 0), "green", "cyan", "grey") in found  # magenta is red and blue: now green, blue
    assert ((0, 0, 1), "blue", "magenta", "grey") in found
    assert {names[3] for names in found} == {"grey"}
    assert len({names[0] for names in found}) == 3


def test_what_patches_show_turns_with_the_picture() -> None:
    """Patches and their labels are moved together: the pairs of them stay the same."""
    drawn = pictures.draw_scenes(range(6))

    def pairs(whole: pictures.Pictures, row: int) -> list[tuple[float, int]]:
        means = whole.pixels[row].reshape(12, 8, 12, 8, 3).mean(axis=(1, 3, 4)).round(6)
        return sorted(zip(means.ravel(), whole.shown[row].ravel(), strict=True))

    for seed in range(10):
        varied = pictures.varied(drawn, np.random.default_rng(seed))
        assert all(pairs(drawn, row) == pairs(varied, row) for row in range(6))
        assert (drawn.shown != varied.shown).any()
        covered = varied.outline.reshape(6, 12, 8, 12, 8).mean(axis=(2, 4))
        assert (covered[varied.shown > 0] > 0.5).all()
        assert (covered[varied.shown == 0] < 0.5).all()


def test_patches_are_labelled_by_the_shape_that_covers_them() -> None:
    drawn = pictures.draw_scenes(range(30))
    for number in range(30):
        shapes = {SHAPE_NAMES[n - 1] for n in np.unique(drawn.shown[number]) if n > 0}
        assert shapes <= {SHAPE_NAMES[n] for n in np.flatnonzero(drawn.names[number].any(axis=0))}
    assert (drawn.shown == 0).mean() > 0.5
    assert (drawn.shown > 0).mean() > 0.05
    assert (pictures.draw_mosaics([1, 2]).shown == pictures.UNKNOWN).all()


def test_a_masked_patch_has_no_say_in_anything_but_its_place() -> None:
    network, answers = new_network(TINY), new_answers(TINY)
    drawn = pictures.draw_scenes([3])
    masked = torch.zeros(1, 144, dtype=torch.bool)
    masked[0, 0] = True
    other = dataclasses.replace(drawn, pixels=drawn.pixels.copy())
    other.pixels[0, :8, :8] = 255 - other.pixels[0, :8, :8]
    with torch.inference_mode():
        losses = [
            float(train.losses_of(network, answers, each, masked)["name"])
            for each in (drawn, other)
        ]
        seen = [
            float(train.losses_of(network, answers, each, None)["name"]) for each in (drawn, other)
        ]
    assert losses[0] == pytest.approx(losses[1], rel=1e-6)
    assert seen[0] != pytest.approx(seen[1], rel=1e-6)


def test_the_learning_rate_follows_the_clock() -> None:
    settings = Settings(learning_rate=0.004, warm_up=100)
    assert train.learning_rate(settings, 0, 0.0) == pytest.approx(0.00004)
    assert train.learning_rate(settings, 500, 0.5) == pytest.approx(0.002)
    assert train.learning_rate(settings, 500, 1.5) == pytest.approx(0.0)


@pytest.mark.nightly
def test_a_run_stopped_and_started_again_ends_as_one_that_was_not(tmp_path: Path) -> None:
    whole = train.train(tmp_path / "whole", 10**9, TINY, threads=1, max_steps=4)
    train.train(tmp_path / "parts", 10**9, TINY, threads=1, max_steps=2)
    resumed = train.train(tmp_path / "parts", 60, TINY, threads=1, max_steps=4)
    assert resumed.step == whole.step == 4
    for name, weight in whole.network.state_dict().items():
        torch.testing.assert_close(resumed.network.state_dict()[name], weight)
    assert read_settings(tmp_path / "whole" / "settings.json") == TINY
    last = json.loads((tmp_path / "whole" / "log.jsonl").read_text().splitlines()[-1])
    assert last["step"] == 4
    assert {"relate", "restore", "name", "shape", "outline"} <= set(last)


@pytest.mark.nightly
def test_training_lowers_the_loss_of_the_pictures_it_learns_from(tmp_path: Path) -> None:
    settings = dataclasses.replace(TINY, masked=0.1, learning_rate=1e-2)
    drawn = pictures.draw_scenes(range(12))
    untrained = train.losses_of(new_network(settings), new_answers(settings), drawn, None)
    run = train.train(tmp_path, 10**9, settings, threads=1, max_steps=40)
    trained = train.losses_of(run.network, run.answers, drawn, None)
    assert trained["relate"].item() < untrained["relate"].item()
    assert trained["shape"].item() < untrained["shape"].item()


def test_a_finished_run_is_exported_as_a_model_of_images(tmp_path: Path) -> None:
    run, folder = tmp_path / "run", tmp_path / "exported"
    trained = train.train(run, 10**9, TINY, threads=1, max_steps=2)
    export(run, folder)
    weights = load_file(folder / "model.safetensors")
    assert {weight.dtype for weight in weights.values()} == {torch.float16}
    again = ViTForImageClassification.from_pretrained(folder, dtype=torch.float32).state_dict()
    for name, weight in trained.network.state_dict().items():
        torch.testing.assert_close(again[name], weight, rtol=1e-3, atol=1e-6)
    model = load(str(folder))
    assert (model.layers, model.heads, model.dim) == (2, 2, 8)
    pixels = pictures.draw_scenes([1]).pixels[0]
    trace = trace_image(model, pixels)
    assert trace.patches is not None
    assert (trace.patches.rows, trace.patches.columns, trace.patches.size) == (12, 12, 8)
    np.testing.assert_array_equal(trace.patches.pixels, pixels)  # its own size: nothing is resized
    assert {name for name, _ in classify(model, pixels)} <= set(LABELS)
