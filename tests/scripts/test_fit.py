"""How large a presented picture becomes: the search for the largest zoom at which it fits."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scripts.conftest import Run

SCRIPTS = "present/fit"
# The zoom at rest, and how many were tried, after each of some times in which a picture ends at
# `bottom` and begins at `top`, shares of the window's height at a zoom: one zoom is tried after
# another as long as they differ.
TIMES = """
  const search = new Search()
  const range = limits(1920, 1080)
  let zoom = range.max
  return times.map(({ top, bottom, address }) => {
    const [topAt, bottomAt] = [top, bottom].map((at) => new Function("zoom", `return ${at}`))
    for (let tried = 1; tried < 50; tried++) {
      const seen = { top: topAt(zoom), bottom: bottomAt(zoom), address }
      const next = search.next(zoom, seen, range)
      if (next === zoom) return [zoom, tried]
      zoom = next
    }
    return ["never at rest", Infinity]
  })
"""


def _time(bottom: str, top: float = 0, address: str = "/heatmap") -> dict[str, Any]:
    return {"top": f"{top} * zoom", "bottom": bottom, "address": address}


@pytest.mark.parametrize(
    ("picture", "largest"),
    [
        ("0.4 * zoom", 2),
        ("zoom / 1.8", 1.8),
        ("0.2 + 0.5 * zoom", 1.6),
        ("zoom ** 3 / 6", 6 ** (1 / 3)),  # words take fewer lines where the page is wider
        ("zoom > 1.75 ? 1.3 : 0.8", 1.75),  # another line of words makes it higher at once
        ("zoom < 1.52 ? 1 : 1.001", 1.5),
        ("2 * zoom", 1.5),  # it never fits, and is still read
    ],
)
def test_a_picture_is_drawn_as_large_as_fits_in_few_steps(
    run: Run, picture: str, largest: float
) -> None:
    ((zoom, tried),) = run(TIMES, times=[_time(picture)])
    assert largest - 0.1 <= zoom <= largest + 1e-9
    assert tried <= 12


def test_a_picture_is_as_large_as_before_once_a_notice_above_it_is_gone(run: Run) -> None:
    alone, noticed = _time("0.53 * zoom", 0.05), _time("0.6 * zoom", 0.12)
    times = [alone, noticed, alone, noticed, alone, alone]
    first, *later = (zoom for zoom, _ in run(TIMES, times=times))
    assert first == pytest.approx(1 / 0.53, abs=0.05)
    assert later[0] == later[2] == pytest.approx(1 / 0.6, abs=0.05)
    assert later[1] == later[3] == later[4] == pytest.approx(first, abs=0.05)


def test_a_picture_that_is_redrawn_in_its_place_stays_below_what_was_too_large(run: Run) -> None:
    """The server draws charts anew for each zoom: what tried the same again would never rest."""
    before, after = "0.57 * zoom", "0.45 * zoom"
    _, (same, _) = run(TIMES, times=[_time(before, 0.05), _time(after, 0.05)])
    _, (other, _) = run(TIMES, times=[_time(before, 0.05), _time(after, 0.05, "/patches")])
    assert same < 2 == other


def test_a_small_window_shows_the_page_as_it_is_at_least(run: Run) -> None:
    assert run("return limits(1280, 720)") == {"min": 1, "max": 4 / 3}
    assert run("return limits(800, 600)") == {"min": 1, "max": 1}
