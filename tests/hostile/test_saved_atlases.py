"""Files that strangers wrote as atlases: refused in a sentence, or drawn; never gigabytes."""

from __future__ import annotations

import base64
import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from core.analysis.atlas.saved.errors import AtlasFileError
from core.analysis.atlas.saved.header import corpus_hash
from tests.analysis.atlas.files import (
    an_atlas,
    forged,
    header_of,
    opened,
    unzipped,
    with_column,
    written,
)
from tests.hostile import attacks_on_saved_atlases as attacks
from tests.hostile.child import run_attacks
from tests.hostile.drawing import draw_all

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ODD: list[Any] = [
    *(None, True, 0, -1, 1, 2, 1.5, -0.5, 1e300, 10**15, 2**53, "", "x", "x" * 300, "\ud83d"),
    *("\0", "<img src=x>", [], {}, [0], [[]], {"a": 1}, float("nan"), float("inf")),
]
ODD_NUMBERS = [0, 1, -1, 0.5, 2, 1e-300, 1e300, np.nan, np.inf, -np.inf, 7, 2**31 - 1]
MUTATIONS = 60


def test_a_small_file_never_grows_to_gigabytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attacks.write_files(tmp_path)
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


def with_odd_numbers(header: dict[str, Any], draw: random.Random) -> None:
    """Some numbers of an array are others."""
    stored = header["arrays"][draw.choice(list(header["arrays"]))]
    plain = stored.pop("bytes", None)
    raw = base64.b64decode(plain) if plain else unzipped(stored.pop("zlib"))
    values = np.frombuffer(raw, stored["type"]).copy()
    with np.errstate(all="ignore"):
        for _ in range(draw.choice([1, 3, values.size])):
            odd = np.array(draw.choice(ODD_NUMBERS), dtype=np.float64)
            values[draw.randrange(values.size)] = odd.astype(values.dtype)
    stored["bytes"] = base64.b64encode(values.tobytes()).decode()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_whatever_opens_is_drawn() -> None:
    """Of many changes to what a file says of itself, some open; each of these has every picture."""
    files = [written(an_atlas(labelled=labelled)) for labelled in (True, False)]
    drawn = refused = 0
    for seed in range(MUTATIONS):
        data = files[seed // 2 % 2]
        whole = header_of(data)
        draw = random.Random(seed)  # noqa: S311 - no secret
        header = mutated(whole, draw) if seed % 2 else header_of(data)
        if not seed % 2:
            with_odd_numbers(header, draw)
        if isinstance(header, dict) and isinstance(header.get("sentences"), list):
            header["corpus_sha256"] = corpus_hash(header["sentences"])
        try:
            atlas = opened(forged(data, header))
        except AtlasFileError as error:
            refused += 1
            assert len(str(error)) < 300  # noqa: PT017 - what is refused is not known before
        else:
            drawn += 1
            draw_all(atlas)
    assert drawn > MUTATIONS / 20
    assert refused > MUTATIONS / 4


COLUMNS: dict[str, Callable[[Any, int], Any]] = {
    "a point as far as numbers go": with_column("query_raw_x", 3.4e38, None),
    "a point on the other side": with_column("key_normalized_y", -3.4e38, {0}),
    "the smallest point": with_column("query_translated_x", 1e-45, None),
    "a length beyond sums": with_column("query_norm", 3.4e38, None),
    "a token without letters": with_column("display", "", None),
    "a token that is no text": with_column("token", "\0", None),
    "everything is special": lambda table, _: table.set_column(
        table.schema.get_field_index("special"), "special", [[True] * len(table)]
    ),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", COLUMNS)
def test_columns_of_extremes_are_drawn(name: str) -> None:
    data = written(an_atlas())
    draw_all(opened(forged(data, header_of(data), COLUMNS[name])))
