"""Atlases in folders of parts: the same as in memory, read where it is looked at, not trusted."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from core.atlas import build_atlas, open_large
from core.atlas.data import facts_of
from core.atlas.files import AtlasFileError, write_part
from core.atlas.sources import LargeAtlas
from tests.atlas.files import HEADS, LAYERS, assert_same, trace
from tests.atlas.folders import finish, part_of, write_folder

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.atlas import Atlas

SENTENCES = (
    "the cat sat on the mat",
    "a dog, the Cat and two mats",
    "Ünïcode  straße and ΣΊΣΥΦΟΣ",
    "the cat\u00a0sat there",
    "<b> $x$ :red[x] a+b (c)",
    "thecat sat",
    "nothing else",
)
PARTS = ((0, 1), (2, 3, 4), (5, 6))  # sentences of each
SAMPLE = (1, 4)


@pytest.fixture(scope="module")
def atlas() -> Atlas:
    traces = [trace(text, seed, causal=False) for seed, text in enumerate(SENTENCES)]
    return build_atlas(traces, SENTENCES, [f"label {i % 2}" for i in range(len(SENTENCES))])


@pytest.fixture(scope="module")
def folder(atlas: Atlas, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(atlas, tmp_path_factory.mktemp("large") / "large.atlas", PARTS, SAMPLE)


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    """A copy that may be damaged."""
    return Path(shutil.copytree(folder, tmp_path / "copy.atlas"))


def test_its_facts_are_those_of_all_parts(atlas: Atlas, folder: Path) -> None:
    found = open_large(folder).facts
    expected = facts_of(replace(atlas, layer_numbers=(1, 2), depth=2))
    assert_same(found, expected)


def test_pandas_reads_all_parts_as_one_table(atlas: Atlas, folder: Path) -> None:
    points = pd.concat([pd.read_parquet(path) for path in sorted(folder.glob("points-*.parquet"))])
    for layer, head in np.ndindex(LAYERS, HEADS):
        own = points[(points["layer"] == layer + 1) & (points["head"] == head + 1)]
        size = len(atlas.tokens)
        assert (own["sentence"] == atlas.tokens.sentence).all()
        assert (own["query_raw_x"] == atlas.points["raw"][layer, head, :size, 0]).all()
        assert (own["key_normalized_z"] == atlas.points["normalized"][layer, head, size:, 2]).all()
    sentences = pd.concat([pd.read_parquet(path) for path in sorted(folder.glob("sentences-*"))])
    assert tuple(sentences["text"]) == SENTENCES
    assert sentences["sentence"].tolist() == list(range(len(SENTENCES)))
    assert tuple(sentences["label"]) == atlas.labels
    tokens = pd.concat([pd.read_parquet(path) for path in sorted(folder.glob("tokens-*"))])
    assert tuple(tokens["token"]) == atlas.tokens.texts
    assert tokens["special"].tolist() == [text == "[CLS]" for text in tokens["display"]]
    for row in tokens[~tokens["special"]].to_dict("records"):
        assert SENTENCES[row["sentence"]][row["start"] : row["end"]] == row["display"]


def test_a_head_can_be_read_alone(atlas: Atlas, folder: Path) -> None:
    for index, sentences in enumerate(PARTS):
        file = pq.ParquetFile(folder / f"points-{index:05}.parquet")
        assert file.num_row_groups == LAYERS * HEADS
        group = file.read_row_group(1 * HEADS + 2).to_pandas()
        assert (set(group["layer"]), set(group["head"])) == ({2}, {3})
        assert len(group) == np.isin(atlas.tokens.sentence, sentences).sum()


def test_the_sample_is_an_atlas_of_its_own_with_the_facts_of_all(
    atlas: Atlas, folder: Path
) -> None:
    sample = open_large(folder).sample
    assert sample.sentences == (SENTENCES[1], SENTENCES[4])
    assert set(sample.tokens.sentence) == {0, 1}
    own = np.flatnonzero(np.isin(atlas.tokens.sentence, (1, 4)))
    both = np.concatenate([own, own + len(atlas.tokens)])
    assert (sample.points["translated"] == atlas.points["translated"][:, :, both]).all()
    assert (sample.faithfulness["raw"].top1 == atlas.faithfulness["raw"].top1).all()
    whole = {"corpus_tokens": len(atlas.tokens), "corpus_sentences": len(SENTENCES)}
    assert sample.settings == dict(atlas.settings) | whole


def test_what_is_found_is_a_table_of_tokens_in_their_sentences(atlas: Atlas, folder: Path) -> None:
    large = open_large(folder)
    assert isinstance(large, LargeAtlas)
    found = large.search("at", "substring")
    table = large.table(found, 4)
    assert len(table) == 4 < found.count
    tokens = atlas.tokens
    for row, index in zip(table.to_dict("records"), found.indices, strict=False):
        assert row["token"] == tokens.displays[index]
        assert row["position"] == tokens.position[index] + 1
        assert row["sentence"] == tokens.sentence[index] + 1
        assert row["text"] == SENTENCES[tokens.sentence[index]]


def test_a_part_written_twice_is_there_once(atlas: Atlas, copy: Path) -> None:
    before = {path.name: path.read_bytes() for path in copy.iterdir()}
    write_part(copy, part_of(atlas, 1, PARTS[1]))
    assert {path.name: path.read_bytes() for path in copy.iterdir()} == before


def test_a_part_that_cannot_be_written_leaves_nothing(atlas: Atlas, tmp_path: Path) -> None:
    part = part_of(atlas, 0, PARTS[0])
    part.points["raw"][1, 2, 0, 0] = np.nan
    with pytest.raises(AtlasFileError, match="L2 H3"):
        write_part(tmp_path, part)
    assert not list(tmp_path.glob("points*"))


def test_a_folder_whose_parts_are_not_all_there_is_not_finished(
    atlas: Atlas, tmp_path: Path
) -> None:
    with pytest.raises(AtlasFileError, match="not of all tokens"):
        finish(atlas, tmp_path, PARTS[:2])
    with pytest.raises(AtlasFileError, match=r"lacks “atlas\.json”"):
        open_large(tmp_path)


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "no description": (lambda f: (f / "atlas.json").unlink(), "lacks “atlas.json”"),
    "a description of megabytes": (lambda f: (f / "atlas.json").write_bytes(b"[" * 2**21), "large"),
    "no arrays": (lambda f: (f / "atlas.safetensors").unlink(), "atlas.safetensors"),
    "arrays of nothing": (lambda f: (f / "atlas.safetensors").write_bytes(b""), "damaged"),
    "no file to search": (lambda f: (f / "search-00000.safetensors").unlink(), "search-00000"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_folder_that_is_damaged_or_lies_is_refused(name: str, copy: Path) -> None:
    damage, message = DAMAGES[name]
    open_large(copy)  # as it was, it opens
    damage(copy)
    with pytest.raises(AtlasFileError, match=message):
        open_large(copy)


@pytest.mark.parametrize("name", ["atlas.json", "atlas.safetensors", "search-00000.safetensors"])
def test_links_in_the_place_of_files_are_refused(name: str, copy: Path, tmp_path: Path) -> None:
    """They could show what is elsewhere on the server."""
    secret = tmp_path / "secret"
    shutil.copy(copy / name, secret)
    (copy / name).unlink()
    (copy / name).symlink_to(secret)
    with pytest.raises(AtlasFileError, match=name):
        open_large(copy)
    (copy / name).unlink()
    os.mkfifo(copy / name)  # would never end
    with pytest.raises(AtlasFileError, match=name):
        open_large(copy)


def test_a_link_in_the_place_of_the_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.atlas"
    link.symlink_to(folder, target_is_directory=True)
    with pytest.raises(AtlasFileError, match="folder of its own"):
        open_large(link)
    file = tmp_path / "file.atlas"
    file.write_bytes(b"")
    with pytest.raises(AtlasFileError, match="folder of its own"):
        open_large(file)
