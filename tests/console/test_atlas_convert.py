"""Atlases of earlier versions: two that those versions saved, converted and opened."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from core import atlas_convert
from core.analysis.atlas.files import read_atlas
from core.analysis.query_key.clouds import STAGES

if TYPE_CHECKING:
    from numpy.typing import NDArray

HERE = Path(__file__).parent


def header_of(path: Path) -> dict[str, Any]:
    return json.loads(pq.read_metadata(path).metadata[b"headscope"])


def array_of(header: dict[str, Any], name: str) -> NDArray[Any]:
    stored = header["arrays"][name]
    plain = "bytes" in stored
    raw = base64.b64decode(stored["bytes" if plain else "zlib"])
    values = np.frombuffer(raw if plain else zlib.decompress(raw), stored["type"])
    return values.reshape(stored["shape"])


@pytest.mark.parametrize("name", ["format1", "format2"])
def test_what_an_earlier_version_saved_opens_once_it_is_converted(
    name: str, tmp_path: Path
) -> None:
    old, new = HERE / f"{name}.parquet", tmp_path / "new.atlas.zip"
    before = old.read_bytes()
    assert atlas_convert.main([str(old), str(new)]) == 0
    assert old.read_bytes() == before
    atlas, header, table = read_atlas(new), header_of(old), pd.read_parquet(old)
    assert atlas.sentences == tuple(header["sentences"])
    assert atlas.labels == tuple(header["labels"])
    assert atlas.settings == header["settings"]
    assert atlas.numbers == tuple(header.get("layer_numbers", [1, 2]))
    for layer, head in np.ndindex(2, 3):
        own = table[(table["layer"] == atlas.numbers[layer]) & (table["head"] == head + 1)]
        assert tuple(own["token"]) == atlas.tokens.texts
        for stage in STAGES:
            for axis, place in zip("xyz", range(3), strict=True):
                both = np.concatenate([own[f"{kind}_{stage}_{axis}"] for kind in ("query", "key")])
                assert (atlas.points[stage][layer, head, :, place] == both).all()
        assert (atlas.norms[layer, head, : len(own)] == own["query_norm"]).all()
    for field, value in (("spans", atlas.tokens.spans), ("word", atlas.tokens.word)):
        assert (array_of(header, field) == value).all()
    assert (array_of(header, "scaling.c") == atlas.scaling.c).all()
    assert (array_of(header, "distances.sums") == atlas.distances.sums).all()
    assert (array_of(header, "positions.sums") == atlas.positions.sums).all()


def test_what_the_first_format_measured_differently_is_not_known(tmp_path: Path) -> None:
    new = tmp_path / "new.atlas.zip"
    atlas_convert.convert(HERE / "format1.parquet", new)
    atlas = read_atlas(new)
    assert (atlas.measured.tokens, atlas.measured.sentences) == (0, 0)
    for kept in (atlas.faithfulness, *atlas.full.values()):
        assert all(np.isnan(kept[stage].correlation).all() for stage in STAGES)


def test_what_the_second_format_measured_stays(tmp_path: Path) -> None:
    old, new = HERE / "format2.parquet", tmp_path / "new.atlas.zip"
    atlas_convert.convert(old, new)
    atlas, header = read_atlas(new), header_of(old)
    assert [atlas.measured.tokens, atlas.measured.sentences] == header["measured"]
    for stage in STAGES:
        figures = array_of(header, f"trust.{stage}")  # the last axis begins with the correlation
        np.testing.assert_array_equal(atlas.faithfulness[stage].correlation, figures[..., 0])
        figures = array_of(header, f"full.euclidean.{stage}")
        np.testing.assert_array_equal(atlas.full["euclidean"][stage].correlation, figures[..., 0])


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "no atlas of an earlier version"), (b"PAR1" * 9, "no atlas of an earlier version")],
)
def test_what_is_no_such_file_is_told_and_nothing_is_written(
    content: bytes, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = tmp_path / "old.parquet", tmp_path / "new.atlas.zip"
    old.write_bytes(content)
    assert atlas_convert.main([str(old), str(new)]) == 2
    assert message in capsys.readouterr().err
    table = tmp_path / "table.parquet"
    pd.DataFrame({"x": [1]}).to_parquet(table)
    assert atlas_convert.main([str(table), str(new)]) == 2
    assert "no atlas" in capsys.readouterr().err
    assert atlas_convert.main([str(tmp_path / "missing"), str(new)]) == 2
    assert not new.exists()
