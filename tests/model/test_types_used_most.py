"""A tiny model of each type that people use most opens, and shows what transformers computes.

The sweep (``python -m tests.tools.families_table``) judges every type in the same way.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.model import load, trace_corpus, trace_text
from core.model.proof import samples
from tests.model.families import SENTENCES, nightly
from tests.model.oracle import Oracle
from tests.model.sweep.sizes import all_kinds
from tests.model.sweep.tiny import build
from tests.model.sweep.verdict import judge_all, judge_kind

if TYPE_CHECKING:
    from pathlib import Path

ENCODERS = (
    *("bert", "roberta", "distilbert", "albert", "electra", "camembert", "xlm-roberta", "mpnet"),
    *("deberta", "deberta-v2", "modernbert", "mobilebert", "squeezebert", "xlnet", "nomic_bert"),
    *("esm", "gte", "eurobert", "layoutlm", "layoutlmv3", "big_bird", "roformer"),
)
DECODERS = (
    *("gpt2", "openai-gpt", "gpt_neo", "gptj", "gpt_neox", "gpt_bigcode", "opt", "bloom"),
    *("codegen", "falcon", "mpt", "llama", "mistral", "mixtral", "gemma", "gemma2", "gemma3"),
    *("qwen2", "qwen3", "qwen3_moe", "phi", "phi3", "stablelm", "starcoder2", "olmo2", "granite"),
    *("cohere2", "smollm3", "gpt_oss", "deepseek_v3", "lfm2"),
)
ENCODER_DECODERS = (
    *("t5", "mt5", "umt5", "bart", "mbart", "marian", "pegasus", "m2m_100", "t5gemma"),
    *("blenderbot", "switch_transformers", "fsmt"),
)
WITH_IMAGES = ("clip", "siglip", "chinese_clip", "blip", "qwen2_5_vl", "qwen3_vl", "llava")


# One of each way in that no family of `tests.model.families` takes; the rest run at night.
DAILY = {"mpnet", "xlnet", "gptj", "qwen3_moe", "deepseek_v3", "lfm2", "t5", "bart", "clip"}
KINDS = nightly((*ENCODERS, *DECODERS, *ENCODER_DECODERS, *WITH_IMAGES), but=DAILY)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_type_that_is_much_used_opens_and_agrees_with_eager_attention(kind: str) -> None:
    verdict = judge_kind(kind)
    assert (verdict.outcome, verdict.reason) == ("opens", "")


@pytest.mark.nightly
def test_no_type_of_transformers_crashes_or_shows_another_attention() -> None:
    wrong = [each for each in judge_all(all_kinds(), 2) if each.outcome in {"wrong", "crash"}]
    assert not wrong


@pytest.mark.parametrize(
    ("kind", "way"),
    [
        ("splinter", "exact"),  # PyTorch's function would take it for causal
        ("paligemma", "exact"),  # no mask for PyTorch's function, which would see all
        ("deepseek_v32", "watched"),  # sparse only under names of functions that it knows
    ],
)
def test_no_faster_way_is_taken_where_it_would_change_what_the_network_computes(
    kind: str, way: str
) -> None:
    verdict = judge_kind(kind)
    assert (verdict.outcome, verdict.way) == ("opens", way)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("hy_v4", "cannot be captured"),  # it must be watched, but its sinks cannot be followed
        ("lilt", "cannot be captured"),  # two streams attend at once in each layer
        # Beltagy et al. 2020, section 3.1: windows, and projections of their own for global tokens
        ("longformer", "chunks of a sliding window, and each token has a second query, key and"),
        ("led", "chunks of a sliding window, and each token has a second query, key and"),
        ("videoprism", "more or fewer tokens than the text"),  # it adds one that sums up the text
        ("diffllama", "more than once in a layer"),
        ("t5gemma2", "more or fewer tokens than the text"),
        ("musicgen", "cannot be built"),
    ],
)
def test_maps_that_would_lack_something_or_not_fit_the_text_are_refused(
    kind: str, why: str
) -> None:
    verdict = judge_kind(kind)
    assert verdict.outcome == "refused"
    assert why in verdict.reason


def test_keys_that_a_network_chooses_are_watched_even_if_the_check_is_too_short_to_show_it(
    tmp_path: Path,
) -> None:
    build("deepseek_v32", tmp_path)
    config = json.loads((tmp_path / "config.json").read_text("utf-8"))
    config["index_topk"] = 2048
    (tmp_path / "config.json").write_text(json.dumps(config), "utf-8")
    assert load(str(tmp_path)).way == "watched"


def test_a_network_that_computes_something_else_for_functions_it_does_not_know_is_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found by comparing its outputs, without the setting that gives it away."""
    monkeypatch.setattr(samples, "_CHOSEN", re.compile("no setting"))
    build("deepseek_v32", tmp_path)
    assert load(str(tmp_path)).way == "watched"


def test_a_network_that_mixes_neighbours_before_attention_runs_its_texts_one_by_one(
    tmp_path: Path,
) -> None:
    build("mobilebert", tmp_path)
    model = load(str(tmp_path))
    assert not model.batches
    for text, trace in zip(SENTENCES, trace_corpus(model, SENTENCES), strict=True):
        alone = trace_text(model, text)
        for vectors in ("queries", "keys", "values", "hidden_states"):
            np.testing.assert_array_equal(getattr(trace, vectors), getattr(alone, vectors))


def test_layers_of_few_dims_are_filled_with_zeros_which_keeps_their_scores(tmp_path: Path) -> None:
    build("gemma4_text", tmp_path)
    trace, eager = trace_text(load(str(tmp_path)), SENTENCES[0]), Oracle(tmp_path)
    dims = [int(layer.any(axis=(0, 1)).sum()) for layer in trace.keys]
    assert sorted(set(dims)) == [8, 16]
    assert trace.keys.shape[-1] == 16
    for ours, own in zip(
        trace.attention(), eager.layers(len(trace.tokens), SENTENCES[0]), strict=True
    ):
        np.testing.assert_allclose(ours, own, atol=1e-5)
