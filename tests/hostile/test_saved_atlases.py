"""Folders that strangers wrote as atlases: refused in a sentence, or drawn; never gigabytes."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from core.atlas.saved import ATLAS
from core.records import RecordError
from tests.atlas.files import an_atlas, forged, opened, packed, unpacked, written
from tests.hostile import attacks_on_saved_atlases as attacks
from tests.hostile.child import run_attacks
from tests.hostile.drawing import draw_all

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

pytestmark = pytest.mark.slow

ODD: list[Any] = [
    *(None, True, 0, -1, 1, 2, 1.5, -0.5, 1e300, 10**15, 2**53, "", "x", "x" * 300, "\ud83d"),
    *("\0", "<img src=x>", [], {}, [0], [[]], {"a": 1}, float("nan"), float("inf")),
]
ODD_NUMBERS = [0, 1, -1, 0.5, 2, 1e-300, 1e300, np.nan, np.inf, -np.inf, 7, 2**31 - 1]
MUTATIONS = 60


def test_a_small_folder_never_grows_to_gigabytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attacks.write_folders(tmp_path)
    monkeypatch.setenv(attacks.FOLDER, str(tmp_path))
    run_attacks("tests.hostile.attacks_on_saved_atlases")


def mutated(value: Any, draw: random.Random) -> Any:
    """One entry of a JSON value, somewhere within it, is another, or is gone."""
    if not isinstance(value, dict | list) or not value or draw.random() < 0.15:
        if isinstance(value, int) and draw.random() < 0.5:
            return value + draw.choice([-1, 1, 10**6])
        if isinstance(value, str) and draw.random() < 0.3:
            return draw.choice([value[:-1], value + "x", value * 50, value[1:]])
        return draw.choice(ODD)
    changed = dict(value) if isinstance(value, dict) else list(value)
    key = draw.choice(list(value) if isinstance(value, dict) else range(len(value)))
    if draw.random() < 0.1:
        changed.pop(key)
    else:
        changed[key] = mutated(value[key], draw)
    return changed


def with_odd_numbers(arrays: dict[str, NDArray[Any]], draw: random.Random) -> None:
    """Some numbers of an array are others."""
    values = arrays[draw.choice(list(arrays))].reshape(-1)
    with np.errstate(all="ignore"):
        for _ in range(draw.choice([1, 3, values.size])):
            odd = np.array(draw.choice(ODD_NUMBERS), dtype=np.float64)
            values[draw.randrange(values.size)] = odd.astype(values.dtype)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_whatever_opens_is_drawn() -> None:
    """Of many changes to what a folder says, some open; each of these has every picture."""
    files = [written(an_atlas(labelled=labelled)) for labelled in (True, False)]
    drawn = refused = 0
    for seed in range(MUTATIONS):
        data = files[seed // 2 % 2]
        draw = random.Random(seed)  # noqa: S311 - no secret
        arrays, about = unpacked(data[ATLAS])
        if seed % 2:
            about["content"] = mutated(about["content"], draw)
        else:
            with_odd_numbers(arrays, draw)
        try:
            atlas = opened({**data, ATLAS: packed(arrays, about)})
        except RecordError as error:
            refused += 1
            assert len(str(error)) < 300  # noqa: PT017 - what is refused is not known before
        else:
            drawn += 1
            draw_all(atlas)
    assert drawn > MUTATIONS / 20
    assert refused > MUTATIONS / 4


EXTREMES: dict[str, tuple[str, float]] = {
    "a point as far as numbers go": ("points.raw", 3.4e38),
    "a point on the other side": ("points.normalized", -3.4e38),
    "the smallest point": ("points.translated", 1e-45),
    "a length beyond sums": ("norms", 3.4e38),
    "everything is special": ("tokens.special", True),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", EXTREMES)
def test_arrays_of_extremes_are_drawn(name: str) -> None:
    array, value = EXTREMES[name]

    def change(arrays: dict[str, NDArray[Any]], _: object) -> None:
        arrays[array].reshape(-1)[:: 1 if array == "tokens.special" else 10**6] = value

    draw_all(opened(forged(written(an_atlas()), change)))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("text", ["", "\0", "<b>", "$x$ :red[x]"])
def test_texts_of_nothing_or_of_marks_are_drawn(text: str) -> None:
    """All tokens alike."""
    size = len(text.encode())

    def change(arrays: dict[str, NDArray[Any]], _: object) -> None:
        for name in ("tokens.texts", "tokens.displays"):
            ends = arrays[f"{name}.ends"]
            ends[:] = size * np.arange(1, 1 + len(ends))
            arrays[name] = np.frombuffer(text.encode() * len(ends), np.uint8)

    atlas = opened(forged(written(an_atlas()), change))
    assert set(atlas.tokens.displays) == {text}
    draw_all(atlas)
