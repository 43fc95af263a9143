"""A tiny model of each type that people use most opens, and shows what transformers computes.

The sweep (``python -m tests.tools.families_table``) judges every type in the same way.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.model import load, trace_corpus, trace_text
from core.model.errors import UnsupportedModelError
from core.model.proof import samples
from tests.model.families import SENTENCES
from tests.model.oracle import Oracle
from tests.model.sweep.sizes import all_kinds
from tests.model.sweep.tiny import build
from tests.model.sweep.verdict import judge_all, judge_kind
from tests.tools.families_table import FAMILIES

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
WITH_IMAGES = ("clip", "siglip", "chinese_clip", "blip", "qwen2_5_vl", "qwen3_vl", "llava")


# One of each way in that no family of `tests.model.families` takes; the rest run at night.
DAILY = ("mpnet", "xlnet", "gptj", "qwen3_moe", "deepseek_v3", "lfm2", "t5", "bart", "clip")
OF_TWO_WIDTHS = "gemma4_text"
# No faster way is taken where it would change what the network computes.
WAYS = {
    "splinter": "exact",  # PyTorch's function would take it for causal
    "paligemma": "exact",  # no mask for PyTorch's function, which would see all
    "deepseek_v32": "watched",  # sparse only under names of functions that it knows
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*DAILY, OF_TWO_WIDTHS, *WAYS])
def test_a_type_that_is_much_used_opens_and_agrees_with_eager_attention(kind: str) -> None:
    verdict = judge_kind(kind)
    assert (verdict.outcome, verdict.reason) == ("opens", "")
    assert verdict.way == WAYS.get(kind, verdict.way)


@pytest.mark.nightly
def test_the_types_of_the_list_open_and_none_crashes_or_shows_another_attention() -> None:
    verdicts = list(judge_all(all_kinds(), 2))
    assert not [each for each in verdicts if each.outcome in {"wrong", "crash"}]
    listed = re.findall(r"`([\w.-]+)`[,.]", FAMILIES.read_text("utf-8").split("## Refused")[0])
    assert sorted(each.kind for each in verdicts if each.outcome == "opens") == sorted(listed)


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


def test_a_network_that_chooses_keys_is_watched_even_if_the_check_is_too_short_to_show_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its setting gives it away, or else that it computes something else where it chooses."""
    build("deepseek_v32", tmp_path / "long", index_topk=2048)
    assert load(str(tmp_path / "long")).way == "watched"
    monkeypatch.setattr(samples, "_CHOSEN", re.compile("no setting"))
    build("deepseek_v32", tmp_path / "short")
    assert load(str(tmp_path / "short")).way == "watched"


def test_a_network_that_mixes_neighbours_before_attention_runs_its_texts_one_by_one(
    tmp_path: Path,
) -> None:
    build("mobilebert", tmp_path)
    model = load(str(tmp_path))
    assert not model.batches
    assert model.network_lock is None  # no pass changes it
    for text, trace in zip(SENTENCES, trace_corpus(model, SENTENCES), strict=True):
        alone = trace_text(model, text)
        for vectors in ("queries", "keys", "values", "hidden_states"):
            np.testing.assert_array_equal(getattr(trace, vectors), getattr(alone, vectors))


def test_a_short_text_does_not_switch_bigbird_to_full_attention(tmp_path: Path) -> None:
    sizes = {"block_size": 8, "num_random_blocks": 1, "max_position_embeddings": 128}
    build("big_bird", tmp_path, attention_type="block_sparse", **sizes)
    model = load(str(tmp_path))
    for _ in range(2):
        trace = trace_text(model, "the cat sat")
        assert (trace.attention() > 0).all()
        assert model.network.attention_type == "block_sparse"
        with pytest.raises(UnsupportedModelError, match="another kind of attention"):
            trace_text(model, "the cat sat on " * 24)  # in blocks, which cannot be followed


def test_rotary_embeddings_that_stretch_do_not_stay_stretched(tmp_path: Path) -> None:
    rope = {"rope_type": "dynamic", "factor": 4.0, "rope_theta": 10_000.0}
    build("llama", tmp_path, rope_parameters=rope, max_position_embeddings=16)
    model = load(str(tmp_path))
    short = trace_text(model, "the cat sat")
    table = model.network.rotary_emb.inv_freq
    trace_text(model, " ".join(SENTENCES[:2]))
    assert model.network.rotary_emb.inv_freq is table
    np.testing.assert_array_equal(trace_text(model, "the cat sat").queries, short.queries)


ATTEND = {"full_attention", "hybrid"}  # what configurations call layers with attention


@pytest.mark.parametrize("kind", ["lfm2", "jamba", "zamba", "nemotron_h"])
def test_layers_of_a_hybrid_have_their_own_numbers_and_states(kind: str, tmp_path: Path) -> None:
    """In Zamba, layers share one module."""
    build(kind, tmp_path)
    model = load(str(tmp_path))
    kinds = model.network.config.layer_types
    attending = [number for number, kind in enumerate(kinds) if kind in ATTEND]
    trace = trace_text(model, SENTENCES[0])
    assert attending != list(range(len(attending)))
    assert [layer.number for layer in trace.layers] == attending
    assert trace.layer_labels == model.layer_labels == tuple(n + 1 for n in attending)
    assert trace.depth == len(kinds)
    states = Oracle(tmp_path).hidden_states(len(trace.tokens), SENTENCES[0])
    expected = np.stack([states[number] for number in (*attending, -1)])
    assert trace.hidden_states is not None
    np.testing.assert_allclose(trace.hidden_states, expected, atol=1e-4)
    if kind == "lfm2":
        model.network.set_attn_implementation("eager")
        watched = trace_text(replace(model, way="watched"), SENTENCES[0])
        assert watched.layer_labels == trace.layer_labels


def test_layers_of_few_dims_are_filled_with_zeros(tmp_path: Path) -> None:
    build(OF_TWO_WIDTHS, tmp_path)
    trace = trace_text(load(str(tmp_path)), SENTENCES[0])
    dims = [int(layer.any(axis=(0, 1)).sum()) for layer in trace.keys]
    assert sorted(set(dims)) == [8, 16]
    assert trace.keys.shape[-1] == 16
