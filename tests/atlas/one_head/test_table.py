"""Points of one head as a table, and as what Embedding Atlas reads."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from core.atlas import Atlas, build_atlas
from core.atlas.one_head.table import (
    ABOUT,
    EMBEDDING_ATLAS,
    embedding_atlas_file,
    point_rows,
)
from tests.atlas.corpora import read_words, trace_of

TEXTS = ("the cat sat", "=1+1 \ud83d")


@pytest.fixture(scope="module")
def atlas() -> Atlas:
    """Tokens [CLS] the cat sat, [CLS] =1+1 and half of a pair."""
    return build_atlas(
        [trace_of(read_words(text), seed) for seed, text in enumerate(TEXTS)], TEXTS, ("a", "b")
    )


def test_a_row_is_a_point_with_its_token_and_its_place(atlas: Atlas) -> None:
    tokens = np.array([0, 2, 5])  # those that are drawn: [CLS], cat, =1+1
    points = np.arange(12, dtype=np.float32).reshape(6, 2)
    frame = point_rows(atlas, tokens, points, np.array([1, 3, 5])).frame()
    assert frame.to_dict("list") == {
        "point": ["query", "key", "key"],
        "token": ["cat", "[CLS]", "=1+1"],
        "position": [3, 1, 2],
        "sentence_number": [1, 1, 2],
        "sentence": [TEXTS[0], TEXTS[0], "=1+1 ?"],
        "label": ["a", "a", "b"],
        "x": [2.0, 6.0, 10.0],
        "y": [3.0, 7.0, 11.0],
    }


def test_points_in_space_have_a_third_coordinate_and_no_labels_no_column(atlas: Atlas) -> None:
    points = np.zeros((14, 3), dtype=np.float32)
    rows = point_rows(atlas, np.arange(7), points, np.arange(14))
    assert list(rows.frame())[-3:] == ["x", "y", "z"]
    plain = build_atlas([trace_of(read_words("a b"), 1)], ["a b"])
    assert "label" not in point_rows(plain, np.arange(3), points[:6], np.arange(6)).frame()


def test_embedding_atlas_finds_the_columns_that_its_options_name(atlas: Atlas) -> None:
    """Its command line reads Parquet with `pandas.read_parquet` and takes three columns by name."""
    points = np.random.default_rng(1).normal(size=(14, 2)).astype(np.float32)
    rows = point_rows(atlas, np.arange(7), points, np.arange(14))
    data = embedding_atlas_file(rows, {"model": "by hand", "layer": "1"})
    frame = pd.read_parquet(io.BytesIO(data))
    words = EMBEDDING_ATLAS.split()
    named = dict(zip(words[::2], words[1::2], strict=True))
    assert named == {"--x": "x", "--y": "y", "--text": "text"}
    np.testing.assert_array_equal(frame[[named["--x"], named["--y"]]].to_numpy(), points)
    assert frame[named["--text"]].tolist()[:6] == [
        "[CLS] the cat sat",
        "[the] cat sat",
        "the [cat] sat",
        "the cat [sat]",
        "[CLS] =1+1 ?",
        "[=1+1] ?",
    ]
    assert frame["category"].tolist() == ["query"] * 7 + ["key"] * 7
    assert frame["label"].tolist() == (["a"] * 4 + ["b"] * 3) * 2
    assert not {"__row_index__", "FILE_NAME"} & set(frame)  # the names that it adds itself
    assert not frame.isna().any(axis=None)
    about = json.loads((pq.read_schema(io.BytesIO(data)).metadata or {})[ABOUT])
    assert about == {"model": "by hand", "layer": "1"}
