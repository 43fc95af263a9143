"""How large a presented picture becomes: the search for the largest zoom at which it fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.scripts.conftest import Run, RunWith

# One zoom after another until the search rests; `filled` is the picture's share of the window.
SEARCH = """
  const filled = new Function("zoom", `return ${picture}`)
  const range = limits(1920, 1080)
  let [zoom, failed] = [range.max, Infinity]
  const tried = [zoom]
  for (;;) {
    const share = filled(zoom)
    if (share > 1) failed = zoom
    const next = nextZoom(zoom, share, failed, range)
    if (next === zoom || tried.length > 50) return { zoom, tried: tried.length }
    tried.push((zoom = next))
  }
"""

# The zoom at rest after each of some times in which this stands above a picture: a share of the
# window at zoom 1, then the picture's own; one zoom is tried after another as long as they differ.
TIMES = """
  const search = new Search()
  const range = limits(1920, 1080)
  let zoom = range.max
  return times.map(({ above, high, address }) => {
    for (let tried = 0; tried < 50; tried++) {
      const [top, bottom] = [above * zoom, (above + high) * zoom]
      const next = search.next(zoom, { top, bottom, address }, range)
      if (next === zoom) return zoom
      zoom = next
    }
    return "never at rest"
  })
"""


@pytest.fixture(scope="module")
def run(run_with: RunWith) -> Run:
    return run_with("present/fit")


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
    found = run(SEARCH, picture=picture)
    assert largest - 0.1 <= found["zoom"] <= largest + 1e-9
    assert found["tried"] <= 12


def _time(above: float, high: float, address: str = "/heatmap") -> dict[str, float | str]:
    return {"above": above, "high": high, "address": address}


def test_a_picture_is_as_large_as_before_once_a_notice_above_it_is_gone(run: Run) -> None:
    alone, noticed = _time(0.05, 0.48), _time(0.12, 0.48)
    first, *later = run(TIMES, times=[alone, noticed, alone, noticed, alone, alone])
    assert first == pytest.approx(1 / 0.53, abs=0.05)
    assert later[0] == later[2] == pytest.approx(1 / 0.6, abs=0.05)
    assert later[1] == later[3] == later[4] == pytest.approx(first, abs=0.05)


def test_a_picture_that_is_redrawn_in_its_place_stays_below_what_was_too_large(run: Run) -> None:
    """The server draws charts anew for each zoom: what tried the same again would never rest."""
    (_, redrawn) = run(TIMES, times=[_time(0.05, 0.52), _time(0.05, 0.4)])
    assert redrawn < 2
    (_, other) = run(TIMES, times=[_time(0.05, 0.52), _time(0.05, 0.4, "/patches")])
    assert other == 2


def test_a_small_window_shows_the_page_as_it_is_at_least(run: Run) -> None:
    assert run("return limits(1280, 720)") == {"min": 1, "max": 4 / 3}
    assert run("return limits(800, 600)") == {"min": 1, "max": 1}
