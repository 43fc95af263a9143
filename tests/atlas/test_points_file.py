"""Points of one head as what Embedding Atlas reads."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from core.atlas import Atlas, build_atlas
from core.atlas.one_head import (
    ABOUT,
    EMBEDDING_ATLAS,
    embedding_atlas_file,
)
from tests.atlas.corpora import read_words, trace_of

TEXTS = ("the cat sat", "=1+1 \ud83d")


@pytest.fixture(scope="module")
def atlas() -> Atlas:
    """Tokens [CLS] the cat sat, [CLS] =1+1 and half of a pair."""
    return build_atlas(
        [trace_of(read_words(text), seed) for seed, text in enumerate(TEXTS)], TEXTS, ("a", "b")
    )


def test_no_labels_are_no_column() -> None:
    plain = build_atlas([trace_of(read_words("a b"), 1)], ["a b"])
    data = embedding_atlas_file(plain, np.arange(3), np.zeros((6, 2), np.float32), {})
    frame = pd.read_parquet(io.BytesIO(data))
    assert "label" not in frame


def test_embedding_atlas_finds_the_columns_that_its_options_name(atlas: Atlas) -> None:
    """Its command line reads Parquet with `pandas.read_parquet` and takes three columns by name."""
    points = np.random.default_rng(1).normal(size=(14, 2)).astype(np.float32)
    data = embedding_atlas_file(atlas, np.arange(7), points, {"model": "by hand", "layer": "1"})
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
        "[CLS] =1+1 \ufffd",
        "[=1+1] \ufffd",
    ]
    assert frame["token"].tolist()[2:7] == ["cat", "sat", "[CLS]", "=1+1", "\ufffd"]
    assert frame["position"].tolist()[:7] == [1, 2, 3, 4, 1, 2, 3]
    assert frame["sentence_number"].tolist()[:7] == [1] * 4 + [2] * 3
    assert frame["sentence"].tolist()[6] == "=1+1 \ufffd"
    assert frame["category"].tolist() == ["query"] * 7 + ["key"] * 7
    assert frame["label"].tolist() == (["a"] * 4 + ["b"] * 3) * 2
    assert not {"__row_index__", "FILE_NAME"} & set(frame)  # the names that it adds itself
    assert not frame.isna().any(axis=None)
    about = json.loads((pq.read_schema(io.BytesIO(data)).metadata or {})[ABOUT])
    assert about == {"model": "by hand", "layer": "1"}
