"""What a pass changes in a network's modules is put back before the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.model import load, trace_text
from core.model.errors import UnsupportedModelError
from tests.model.families import SENTENCES
from tests.model.sweep.tiny import build

if TYPE_CHECKING:
    from pathlib import Path

SPARSE = {"block_size": 8, "num_random_blocks": 1, "max_position_embeddings": 128}
LONG = "the cat sat on " * 24  # beyond what it attends to in full: 56 tokens


def test_a_short_text_does_not_switch_bigbird_to_full_attention(tmp_path: Path) -> None:
    build("big_bird", tmp_path, attention_type="block_sparse", **SPARSE)
    model = load(str(tmp_path))
    for _ in range(2):
        trace = trace_text(model, "the cat sat")
        assert (trace.attention() > 0).all()
        assert model.network.attention_type == "block_sparse"
        with pytest.raises(UnsupportedModelError, match="another kind of attention"):
            trace_text(model, LONG)  # in blocks, which cannot be followed


def test_other_networks_need_no_lock(tmp_path: Path) -> None:
    build("bert", tmp_path)
    assert load(str(tmp_path)).network_lock is None


def test_rotary_embeddings_that_stretch_do_not_stay_stretched(tmp_path: Path) -> None:
    rope = {"rope_type": "dynamic", "factor": 4.0, "rope_theta": 10_000.0}
    build("llama", tmp_path, rope_parameters=rope, max_position_embeddings=16)
    model = load(str(tmp_path))
    short = trace_text(model, "the cat sat")
    table = model.network.rotary_emb.inv_freq
    trace_text(model, " ".join(SENTENCES[:2]))
    assert model.network.rotary_emb.inv_freq is table
    np.testing.assert_array_equal(trace_text(model, "the cat sat").queries, short.queries)
