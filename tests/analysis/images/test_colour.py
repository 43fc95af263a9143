from __future__ import annotations

import numpy as np
import pytest

from core.analysis.images.colour import looks_of, patch_looks
from tests.analysis.images.pictures import image_trace, picture
from tests.analysis.traces import random_trace

# OKLCh of the primaries as CSS Color 4 gives them: lightness, chroma, hue in degrees.
PRIMARIES = {
    (1, 0, 0): (0.62796, 0.25768, 29.234),
    (0, 1, 0): (0.86644, 0.29483, 142.495),
    (0, 0, 1): (0.45201, 0.31321, 264.052),
}


@pytest.mark.parametrize(("colour", "known"), PRIMARIES.items())
def test_looks_of_the_primaries_are_the_published_ones(
    colour: tuple[int, int, int], known: tuple[float, float, float]
) -> None:
    looks = looks_of(np.array([colour], dtype=np.float32))
    found = looks.brightness[0], looks.chroma[0], 360 * looks.hue[0]
    np.testing.assert_allclose(found, known, rtol=2e-4)


def test_grey_is_as_bright_as_its_step_and_has_no_saturation() -> None:
    looks = looks_of(np.repeat(np.linspace(0, 1, 11)[:, None], 3, axis=1))
    assert not looks.saturation.any()
    assert (np.diff(looks.brightness) > 0).all()
    np.testing.assert_allclose(looks.brightness[[0, -1]], [0, 1], atol=1e-6)


def test_a_patch_looks_as_its_mean_colour_does() -> None:
    patches = picture(np.array([[[1.0, 0, 0], [0, 0, 1.0]]]))
    trace = image_trace(patches, np.zeros((1, 1, 3, 2)), np.zeros((1, 1, 3, 2)))
    np.testing.assert_allclose(360 * patch_looks(trace).hue, [29.234, 264.052], rtol=1e-3)
    with pytest.raises(ValueError, match="no patches"):
        patch_looks(random_trace(0))
