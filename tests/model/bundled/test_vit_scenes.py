"""Facts of the vision transformer that comes with the app, on scenes it has not learned from."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch

from core.analysis.images.colour import looks_of
from core.analysis.images.selectivity import selectivity
from core.model import LoadedModel, classify, trace_image, untrained_twin
from core.model.opening.catalog import bundled_folder, find
from core.model.sample_images import BOX
from tests.model.bundled import loaded
from tests.tools.making.drawing import Scene, draw_mosaic, random_scene
from tests.tools.making.scenes import HELD_BACK

if TYPE_CHECKING:
    from core.model.trace import Trace

NAME = "bundled/vit-scenes"
FEW = 8  # scenes; the card has more


def model() -> LoadedModel:
    return loaded(NAME)


@cache
def twin() -> LoadedModel:
    return untrained_twin(model())


@cache
def scenes() -> tuple[Scene, ...]:
    return tuple(random_scene(seed) for seed in range(HELD_BACK, HELD_BACK + FEW))


@cache
def card() -> str:
    spec = find(NAME)
    assert spec is not None
    return (bundled_folder(spec) / "README.md").read_text("utf-8")


def column(name: str) -> list[str]:
    """A column of the card's table of heads, (layer x head)."""
    lines = [line for line in card().splitlines() if line.startswith(("| head |", "| L"))]
    names, *rows = ([cell.strip() for cell in line.split("|")[1:-1]] for line in lines)
    assert len(rows) == 36
    return [row[names.index(name)] for row in rows]


def numbers(name: str) -> np.ndarray:
    return np.array(column(name), dtype=float)


def mosaic(seed: int) -> np.ndarray:
    """A held-back mosaic with a hue and a brightness of its own in every patch."""
    found = (
        draw_mosaic(HELD_BACK + number, 96, 8) for number in range(100 * seed, 100 * seed + 100)
    )
    return next(each for each in found if len(np.unique(each.reshape(-1, 3), axis=0)) > 100)


def test_it_loads_in_float32_as_any_model_of_images_does() -> None:
    vit = model()
    assert vit.sees_images
    assert (vit.layers, vit.heads, vit.max_tokens) == (6, 6, 1 + 12 * 12)
    assert vit.probe_error < 1e-5
    assert {weight.dtype for weight in vit.network.parameters()} == {torch.float32}


@pytest.mark.nightly
def test_its_card_says_what_was_measured() -> None:
    """Of hue, brightness and CLS on a few of the card's scenes: alike, not the same."""
    traces = [trace_image(model(), scene.pixels) for scene in scenes()]
    found = [np.arctanh(selectivity(trace, 1).observed[:2]) for trace in traces]
    for place, name in enumerate(("hue", "brightness")):
        gaps = np.abs(np.tanh(np.nanmean(found, axis=0))[place].ravel() - numbers(name))
        assert gaps.mean() < 0.08
        assert gaps.max() < 0.3
    on_things = np.mean(
        [on_things_of(*pair) for pair in zip(scenes(), traces, strict=True)], axis=0
    )
    assert np.abs(np.log(on_things.ravel() / numbers("CLS on things"))).mean() < 0.25


@pytest.mark.parametrize("name", ["hue", "brightness"])
def test_heads_of_the_card_attend_to_patches_that_look_alike_and_the_twin_does_not(
    name: str,
) -> None:
    """On mosaics, where place says nothing: attention to like patches over that to unlike ones."""
    strongest = np.argsort(numbers(name))[-2:]
    gains = {each: np.zeros(2) for each in ("trained", "twin")}
    for seed in range(4):
        picture = mosaic(seed)
        for each, seeing in (("trained", model()), ("twin", twin())):
            trace = trace_image(seeing, picture)
            alike, unlike = pairs_of(trace, name)
            heads = trace.attention()[..., 1:, 1:].reshape(36, 144, 144)[strongest]
            gains[each] += heads[:, alike].mean(axis=1) / heads[:, unlike].mean(axis=1) / 4
    assert (gains["trained"] > 2).all()
    assert (gains["twin"] < 1.5).all()


def pairs_of(trace: Trace, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of patches that look alike and that do not, bool (patch, patch)."""
    assert trace.patches is not None
    looks = looks_of(trace.patches.colours)
    if name == "brightness":
        gap = np.abs(looks.brightness[:, None] - looks.brightness)
        alike, unlike = gap < 0.05, gap > 0.3
    else:
        gap = np.abs((looks.hue[:, None] - looks.hue + 0.5) % 1 - 0.5)
        coloured = np.outer(looks.chroma > 0.06, looks.chroma > 0.06)
        alike, unlike = coloured & (gap < 0.04), coloured & (gap > 0.3)
    np.fill_diagonal(alike, val=False)
    return alike, unlike


def on_things_of(scene: Scene, trace: Trace) -> np.ndarray:
    """Attention of CLS to patches half covered by things over their share, (layer, head)."""
    covered = (scene.owner > 0).reshape(12, 8, 12, 8).mean(axis=(1, 3)).ravel() >= 0.5
    maps = trace.attention()[:, :, 0, 1:]
    shares: np.ndarray = maps[..., covered].sum(axis=-1) / maps.sum(axis=-1) / covered.mean()
    return shares


@pytest.mark.nightly
def test_it_names_things_of_scenes_far_more_often_than_a_guess() -> None:
    hits, chances = [], []
    for seed in range(40):
        scene = random_scene(HELD_BACK + 500 + seed)
        truth = {thing.label for thing in scene.things}
        named = classify(model(), scene.pixels)
        assert len(named) == 5
        hits.append(named[0][0] in truth)
        chances.append(len(truth) / 49)
    stated = re.search(r"thing in the\s+scene in (\d+)%", card())
    assert stated is not None
    assert np.mean(hits) == pytest.approx(int(stated[1]) / 100, abs=0.25)
    assert np.mean(hits) > 3 * np.mean(chances)


def test_its_card_gives_the_licence_of_every_photograph_of_the_box() -> None:
    for image in BOX.values():
        row = f"| {image.name} | {image.author} | {image.licence} | {image.source} |"
        assert (row in card()) == (image.group == "photograph")
