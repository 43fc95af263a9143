"""Colours, sizes and lines of points, and clouds turned in space, as the scripts work them out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from core.figures.shades import shades
from tests.browser.scripts import as_globals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser

SCRIPTS = (
    "shared/scales",
    "points/raster",
    "points/rotation",
    "points/shades",
    "points/sizes",
    "atlas_cloud/lines",
    "atlas_matrix/points",
    "atlas_matrix/solid",
)
THEME = {"query": [1, 2, 3], "key": [4, 5, 6], "paper": [255, 255, 255]}
# "a b" and "c": b attends to a and to itself, a to itself alone.
LINES = [0, 0, 0.25, 1, 1, 0.3, 1, 0, 0.7]
TWO_TEXTS = {"labels": ["a", "b", "c"], "sentence": [0, 0, 1]}


@pytest.fixture(scope="module")
def run(browser: Browser) -> Iterator[Callable[..., Any]]:
    """Run the body of a function of `a` with the scripts."""
    page = browser.new_page()
    page.add_script_tag(content=as_globals(*SCRIPTS))
    yield lambda body, *a: page.evaluate("([body, a]) => new Function('a', body)(a)", [body, a])
    page.close()


@pytest.mark.parametrize(("theme", "paper"), [("light", [255] * 3), ("dark", [16, 19, 28])])
def test_a_page_takes_the_shades_of_its_own_paper(
    run: Callable[..., Any], theme: str, paper: list[int]
) -> None:
    sent = shades("category", 2)
    got = run(
        "return shadesOf({ colouring: 'category', shades: a[0] }, { ...a[1], paper: a[2] })",
        sent,
        THEME,
        paper,
    )
    hexes = [["#" + "".join(f"{c:02x}" for c in colour) for colour in kind] for kind in got]
    assert hexes == [list(kind) for kind in sent[theme]]


def test_by_type_the_two_colours_are_the_theme_s_own(run: Callable[..., Any]) -> None:
    assert run("return shadesOf({ colouring: 'type' }, a[0])", THEME) == [[[1, 2, 3]], [[4, 5, 6]]]


def test_what_a_colour_stands_for_is_a_step_of_the_scale_or_a_category(
    run: Callable[..., Any],
) -> None:
    ask = "return a[0].map((each) => shadeIndex(...each))"
    asked = [["type", 0.9, 1], ["sequential", 0, 64], ["sequential", 1, 64], ["sequential", 2, 64]]
    assert run(ask, [*asked, ["category", 3, 5], ["category", 9, 5]]) == [0, 0, 63, 63, 3, 4]


@pytest.mark.parametrize(
    ("colouring", "legend"), [("sequential", ["low", "high"]), ("category", ["<b>one", "two"])]
)
def test_the_legend_says_that_darker_discs_are_queries_and_lighter_diamonds_keys(
    run: Callable[..., Any], colouring: str, legend: list[str]
) -> None:
    said, marks, tags = run(
        """const data = { colouring: a[0], legend: a[1], shades: a[2] }
        const nodes = legendEntries(data, shadesOf(data, a[3]))
        const marks = nodes.map((node) => [...node.querySelectorAll("i")].map((i) => i.className))
        const bold = nodes.map((node) => node.querySelectorAll("b").length)
        return [nodes.map((node) => node.textContent), marks, bold]""",
        colouring,
        legend,
        shades(colouring, 2),
        THEME,
    )
    assert said[:2] == ["queries: darker", "keys: lighter"]
    assert marks[:2] == [["disc"], ["diamond"]]
    if colouring == "sequential":
        assert (said[2:], marks[2:]) == (["lowhigh"], [["ramp"]])
    else:
        assert (said[2:], marks[2:]) == (legend, [["disc", "diamond"]] * 2)
    assert sum(tags) == 0


def test_the_longest_vector_is_drawn_three_times_as_large_as_the_shortest(
    run: Callable[..., Any],
) -> None:
    small, middle, large = run("return [0, 128, 255].map((byte) => sizeFactor(sizeClass(byte)))")
    assert large / small == pytest.approx(2 / 0.6)
    assert small < middle < large
    said = run(
        "return sizeEntries(a[0]).map((node) => node.textContent)",
        {"sizes": [0, 255], "sizeEnds": [2, 6]},
    )
    assert said == ["norm2.004.006.00"]
    alike = {"sizes": [128, 128], "sizeEnds": [5, 5]}
    assert run("return sizeEntries(a[0]).map((node) => node.textContent)", alike) == ["norm5.00"]
    assert run("return sizeEntries({ sizes: [] })") == []


def test_lines_are_those_of_the_picked_sentence_or_of_the_point_in_it(
    run: Callable[..., Any],
) -> None:
    shown = """const data = { ...a[0], lines: Float32Array.from(a[1]) }
        return a[2].map(([picked, hovered]) => linesShown(data, picked, hovered).length)"""
    # nothing picked; a picked; then query b, key a, key b; c elsewhere; c picked, whose lines come
    asked = [[-1, -1], [0, -1], [0, 1], [0, 3], [0, 4], [0, 2], [2, -1]]
    assert run(shown, TWO_TEXTS, LINES, asked) == [0, 3, 2, 2, 1, 3, 0]
    ends = "return endsOf({ ...a[0], lines: Float32Array.from(a[1]) }, a[2])"
    assert run(ends, TWO_TEXTS, LINES, 1) == ["a 0.700", "b 0.300"]
    assert run(ends, TWO_TEXTS, LINES, 3) == ["b 0.700", "a 0.250"]
    assert run(ends, TWO_TEXTS, LINES, 2) == []


def test_all_heads_turn_as_numpy_turns_them_and_are_drawn_from_far_to_near(
    run: Callable[..., Any],
) -> None:
    rng = np.random.default_rng(5)
    steps = rng.integers(0, 65536, size=(2, 40, 3))
    rotation, places, order, slices, halves = run(
        """const [labels, r] = [Array(20).fill("x"), firstRotation()]
        const frames = [0, 0, 1, 0, 0, 3]
        const solid = makeSolid({ labels, layers: 1, heads: 2, frames, places: a[0] })
        turnSolid(solid, r)
        const halves = [solid.frames[2], solid.frames[5]]
        return [r, [...solid.places], [...solid.order], SLICES, halves]""",
        steps.ravel().tolist(),
    )
    for head in range(2):
        cloud = steps[head] - steps[head].mean(axis=0)
        reach = np.sort(np.linalg.norm(cloud, axis=1))[int(0.99 * 39)]
        across, up, depth = np.reshape(rotation, (3, 3)) @ (cloud / reach).T
        expected = 65535 / 2 * (1 + np.column_stack([across, up]))
        np.testing.assert_allclose(
            np.reshape(places, (2, 40, 2))[head], expected, rtol=1e-4, atol=1
        )
        drawn = np.array(order[40 * head : 40 * head + 40]) - 40 * head
        assert sorted(drawn) == list(range(40))
        assert np.diff(depth[drawn]).min() >= -2 / slices - 1e-5  # in order, but within a slice
        assert halves[head] == pytest.approx(2 * [1, 3][head] * reach / 65535, rel=1e-4)
