"""Models made for this project, on texts and scenes they have not learned from, and their cards."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
import torch

from core.analysis.images.colour import looks_of
from core.analysis.images.selectivity import selectivity
from core.model import classify, trace_image, trace_text, untrained_twin
from core.model.opening.catalog import bundled_folder, find_entry
from core.model.sample_images import SAMPLE_IMAGES
from core.model.trace import Trace
from tests.model.bundled import loaded
from tests.tools.making.drawing import Scene, draw_mosaic, random_scene
from tests.tools.making.scenes import HELD_BACK

NOVELS, SCENES = "bundled/gpt2-novels", "bundled/vit-scenes"
FEW = 8  # scenes; the card has more
# From the paragraphs that were kept back from training: A Tale of Two Cities, Great Expectations.
KEPT_BACK = (
    (
        "But, he went his way, and was soon swallowed up in the shadow of the prison wall. At the"
        " appointed hour, he emerged from it to present himself in Mr. Lorry's room again, where"
        " he found the old gentleman walking to and fro in restless anxiety. He said he had been"
        " with Lucie until just now, and had only left her for a few minutes, to come and keep his"
        " appointment."
    ),
    (
        "This dialogue made us all uneasy, and me very uneasy. The dismal wind was muttering"
        " round the house, the tide was flapping at the shore, and I had a feeling that we were"
        " caged and threatened. A four-oared galley hovering about in so unusual a way as to"
        " attract this notice was an ugly circumstance that I could not get rid of."
    ),
)
TOKENS = 64


@cache
def card(name: str) -> str:
    spec = find_entry(name)
    assert spec is not None
    return (bundled_folder(spec) / "README.md").read_text("utf-8")


def column(model: str, name: str) -> np.ndarray:
    """A column of a card's table of heads, (layer x head)."""
    lines = [line for line in card(model).splitlines() if line.startswith(("| head |", "| L"))]
    names, *rows = ([cell.strip() for cell in line.split("|")[1:-1]] for line in lines)
    return np.array([row[names.index(name)] for row in rows], dtype=float)


@pytest.mark.parametrize(
    ("name", "shape", "tokens", "causal"),
    [(NOVELS, (4, 4, 32), 128, True), (SCENES, (6, 6, 16), 1 + 12 * 12, False)],
)
def test_it_loads_in_float32_as_any_model_does(
    name: str, shape: tuple[int, ...], tokens: int, causal: bool
) -> None:
    model = loaded(name)
    assert (model.layers, model.heads, model.dim) == shape
    assert (model.max_tokens, model.causal, model.sees_images) == (tokens, causal, not causal)
    assert model.probe_error < 1e-5
    assert {weight.dtype for weight in model.network.parameters()} == {torch.float32}


def test_every_text_begins_with_a_special_document_mark() -> None:
    tokens = trace_text(loaded(NOVELS), "Oh, this book? I've enjoyed it.").tokens
    assert [token.display for token in tokens if token.special] == ["<|endoftext|>"]
    assert tokens[0].special
    assert [token.display for token in tokens[1:4]] == ["Oh", ",", "this"]
    assert tokens[3].span == (4, 8)  # the word, without the blank before it


@pytest.mark.nightly
def test_it_has_learned_from_its_novels() -> None:
    network, tokenizer = loaded(NOVELS).language_model, loaded(NOVELS).tokenizer
    assert network is not None
    ids = torch.tensor([tokenizer(text)["input_ids"][:TOKENS] for text in KEPT_BACK])
    with torch.inference_mode():
        loss = float(network(input_ids=ids, labels=ids).loss)
    assert 2.5 < loss < 4.6  # a guess by frequency alone takes 6


def test_the_card_of_the_novels_says_what_was_measured() -> None:
    """Without the first row, in two excerpts against thousands of windows: alike, not the same."""
    stated = column(NOVELS, "first")
    traces = [trace_text(loaded(NOVELS), text, max_tokens=TOKENS) for text in KEPT_BACK]
    first = np.mean([trace.attention()[:, :, 1:, 0].mean(axis=-1) for trace in traces], axis=0)
    assert np.abs(stated - first.ravel()).max() < 0.1
    assert np.abs(stated - first.ravel()).mean() < 0.03
    assert 2 <= (first > 0.5).sum() <= 14  # some heads rest there, and not every one
    said = f"**{(stated > 0.5).sum()} of 16 heads put more than 0.5 on the first token**"
    assert said in card(NOVELS)


@pytest.mark.nightly
def test_the_card_of_the_scenes_says_what_was_measured() -> None:
    """Of hue, brightness and CLS on a few of the card's scenes: alike, not the same."""
    scenes = [random_scene(seed) for seed in range(HELD_BACK, HELD_BACK + FEW)]
    traces = [trace_image(loaded(SCENES), scene.pixels) for scene in scenes]
    found = [np.arctanh(selectivity(trace, 1).observed[:2]) for trace in traces]
    for name, mean in zip(("hue", "brightness"), np.nanmean(found, axis=0), strict=True):
        gaps = np.abs(np.tanh(mean).ravel() - column(SCENES, name))
        assert gaps.mean() < 0.08
        assert gaps.max() < 0.3
    on_things = np.mean([*map(on_things_of, scenes, traces)], axis=0)
    assert np.abs(np.log(on_things.ravel() / column(SCENES, "CLS on things"))).mean() < 0.25


def on_things_of(scene: Scene, trace: Trace) -> np.ndarray:
    """Attention of CLS to patches half covered by things over their share, (layer, head)."""
    covered = (scene.owner > 0).reshape(12, 8, 12, 8).mean(axis=(1, 3)).ravel() >= 0.5
    maps = trace.attention()[:, :, 0, 1:]
    shares: np.ndarray = maps[..., covered].sum(axis=-1) / maps.sum(axis=-1) / covered.mean()
    return shares


@pytest.mark.parametrize("name", ["hue", "brightness"])
def test_heads_of_the_card_attend_to_patches_that_look_alike_and_the_twin_does_not(
    name: str,
) -> None:
    """On mosaics, where place says nothing: attention to like patches over that to unlike ones."""
    strongest = np.argsort(column(SCENES, name))[-2:]
    trained = loaded(SCENES)
    mosaics = (draw_mosaic(HELD_BACK + number, 96, 8) for number in range(100))
    # With a hue and a brightness of its own in every patch.
    many = [each for each in mosaics if len(np.unique(each.reshape(-1, 3), axis=0)) > 100][:4]
    for model, least, most in ((trained, 2, np.inf), (untrained_twin(trained), 0, 1.5)):
        gains = []
        for trace in (trace_image(model, picture) for picture in many):
            alike, unlike = pairs_of(trace, name)
            heads = trace.attention()[..., 1:, 1:].reshape(36, 144, 144)[strongest]
            gains.append(heads[:, alike].mean(axis=1) / heads[:, unlike].mean(axis=1))
        assert (least < np.mean(gains, axis=0)).all()
        assert (np.mean(gains, axis=0) < most).all()


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


@pytest.mark.nightly
def test_it_names_things_of_scenes_far_more_often_than_a_guess() -> None:
    scenes = [random_scene(HELD_BACK + 500 + seed) for seed in range(40)]
    things = [{thing.label for thing in scene.things} for scene in scenes]
    first = [classify(loaded(SCENES), scene.pixels)[0][0] for scene in scenes]
    hits = np.mean([label in truth for label, truth in zip(first, things, strict=True)])
    stated = re.search(r"thing in the\s+scene in (\d+)%", card(SCENES))
    assert stated is not None
    assert hits == pytest.approx(int(stated[1]) / 100, abs=0.25)
    assert hits > 3 * np.mean([len(truth) / 49 for truth in things])


def test_the_card_gives_the_licence_of_every_photograph_of_the_box() -> None:
    for image in SAMPLE_IMAGES.values():
        row = f"| {image.name} | {image.author} | {image.licence} | {image.source} |"
        assert (row in card(SCENES)) == (image.group == "photograph")
