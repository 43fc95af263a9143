"""What the scripts of one head's cloud work out, run in the browser and compared with NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.browser.scripts import as_globals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser

SCRIPTS = (
    "atlas_cloud/plane_view",
    "points/rotation",
    "atlas_cloud/lasso",
    "atlas_cloud/marks",
    "atlas_cloud/labels",
)


@pytest.fixture(scope="module")
def run(browser: Browser) -> Iterator[Callable[..., Any]]:
    """Run the body of a function of `a` with the scripts."""
    page = browser.new_page()
    page.add_script_tag(content=as_globals(*SCRIPTS))
    yield lambda body, *a: page.evaluate("([body, a]) => new Function('a', body)(a)", [body, a])
    page.close()


def test_a_thousand_turns_leave_a_rotation(run: Callable[..., Any]) -> None:
    flat = run("""let r = firstRotation()
        for (let i = 0; i < 1000; i++) r = turnedBy(r, 0.1 * Math.sin(i), 0.07)
        return r""")
    matrix = np.array(flat).reshape(3, 3)
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(matrix) == pytest.approx(1)


def test_dragging_takes_what_is_near_along(run: Callable[..., Any]) -> None:
    right, down = run(
        "return [[0.1, 0], [0, 0.1]].map((by) => turnedBy([1,0,0,0,1,0,0,0,1], ...by))"
    )
    near = np.array([0.0, 0.0, 1.0])  # towards the viewer
    assert (np.reshape(right, (3, 3)) @ near)[0] > 0
    assert (np.reshape(down, (3, 3)) @ near)[1] < 0


def test_points_are_seen_and_sorted_by_depth_as_numpy_does(run: Callable[..., Any]) -> None:
    points = np.random.default_rng(2).normal(size=(500, 3))
    rotation, across, up, depth, order = run(
        """const n = 500, r = firstRotation(), make = () => new Float32Array(n)
        const [x, y, z, order] = [make(), make(), make(), new Uint32Array(n)]
        rotateInto(r, a[0], x, y, z)
        sortByDepth(z, 5, shuffled(n), order, new Uint8Array(n), new Uint32Array(DEPTHS))
        return [r, [...x], [...y], [...z], [...order]]""",
        points.ravel().tolist(),
    )
    expected = points @ np.reshape(rotation, (3, 3)).T
    np.testing.assert_allclose(np.array([across, up, depth]).T, expected, atol=1e-6)
    assert sorted(order) == list(range(500))
    assert np.diff(np.array(depth)[order]).min() >= -10 / 255  # far to near, within a step


def test_the_place_under_the_pointer_stays_when_zooming_and_turning(
    run: Callable[..., Any],
) -> None:
    before, after = run("""const view = { x: 0.3, y: -0.2, z: 0, zoom: 2 }
        const at = (v) => [v.x + 40 / (100 * v.zoom), v.y + 25 / (100 * v.zoom)]
        return [at(view), at(zoomedAt(view, 3, 40, -25, 100))]""")
    assert after == pytest.approx(before)
    place, seen = (
        run("""const r = firstRotation(), p = [0.4, -0.1, 0.2], q = [r, turnedBy(r, 0.3, 0.2)]
        const [v, w] = q.map((m) => [0, 3, 6].map((i) => m[i]*p[0] + m[i+1]*p[1] + m[i+2]*p[2]))
        const t = turnedPlace({ x: v[0], y: v[1], z: v[2], zoom: 1 }, 0.3, 0.2)
        return [w, [t.x, t.y, t.z]]""")
    )
    assert seen == pytest.approx(place)


def test_a_lasso_holds_what_is_inside_and_has_not_faded(run: Callable[..., Any]) -> None:
    places = np.random.default_rng(3).uniform(0, 100, size=(400, 2))
    marks = (np.arange(400) % 7 == 0).astype(int)
    angles = np.linspace(0, 2 * np.pi, 720, endpoint=False)
    circle = np.column_stack([50 + 30 * np.cos(angles), 50 + 30 * np.sin(angles)])
    found = run(
        "return placesInside(...a)", circle.ravel().tolist(), *places.T.tolist(), marks.tolist()
    )
    apart = np.linalg.norm(places - 50, axis=1)
    assert np.abs(apart - 30).min() > 0.01  # none so near the line that 720 corners decide
    assert found == np.flatnonzero((apart < 30) & (marks != 1)).tolist()


def test_a_choice_too_large_is_thinned_evenly(run: Callable[..., Any]) -> None:
    kept = run("return thinned(Array.from({ length: 5000 }, (_, i) => i), 2000)")
    assert len(set(kept)) == 2000
    assert np.diff(kept).max() <= 3
    assert run("return thinned([4, 9], 2000)") == [4, 9]


def test_rare_labels_come_first_and_none_lies_on_another(run: Callable[..., Any]) -> None:
    rank = run("return [...rarestFirst(['the', 'the', 'bank'], shuffled(6))]")
    assert sorted(rank[:2]) == [2, 5]
    places = np.random.default_rng(4).uniform(0, [600, 400], size=(3000, 2))
    shown = run(
        """const screen = { width: 600, height: 400 }, labels = makeLabels()
        const [rank, marks] = [shuffled(3000), new Uint8Array(3000)]
        const scene = { rank, marks, x: a[0], y: a[1], radius: 2, highest: 0 }
        placeLabels(labels, makeRoom(600, 400), screen, scene, () => 50, a[2])
        return Array.from({ length: labels.count }, (_, i) => [labels.x[i], labels.y[i]])""",
        *places.T.tolist(),
        60,
    )
    boxes = np.array(shown)
    assert 20 <= len(boxes) <= 60
    apart = np.abs(boxes[:, None] - boxes)
    meets = (apart[..., 0] < 50) & (apart[..., 1] < 15)
    assert not np.triu(meets, 1).any()
    assert boxes.min() >= 0
    assert (boxes.max(axis=0) <= [550, 385]).all()


def test_a_repeated_word_is_found_where_it_stands(run: Callable[..., Any]) -> None:
    said = run(
        "return inContext(...a)", "The cat saw the cat.", ["the", "cat", "saw", "the"], "cat", 8
    )
    assert said == "…saw the [cat]."
    assert run("return inContext(...a)", "Gone", [], "[CLS]", 40) == "Gone"
