"""How often heads of untrained networks are named."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch

from core.analysis.anomalies import anomaly_table, flags
from core.analysis.head_patterns import pattern_table
from core.analysis.head_patterns.naming import MIN_TOKENS, too_short
from core.corpus.sample import sample_sentences
from core.model import load, trace_text, untrained_twin
from core.model.weights import output_projection, query_key
from tests.analysis.effect.test_known_heads import random_model
from tests.model.families import SENTENCES

if TYPE_CHECKING:
    from pathlib import Path

    from transformers import PreTrainedModel

SPREADS = (0.02, 0.05, 0.1, 0.2, 0.3)  # standard deviations of weights: from uniform rows to peaked
NETWORKS = 10  # of each shape
LENGTHS = (8, MIN_TOKENS, 48)


def scramble(network: PreTrainedModel, seed: int) -> None:
    """Redraw all weights; norms and biases as they are before training."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weights in network.named_parameters():
            if weights.ndim > 1:
                spread = SPREADS[seed % len(SPREADS)]
                weights.copy_(torch.randn(weights.shape, generator=generator) * spread)
            else:
                weights.fill_(float(name.endswith("weight")))


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["bundled/minilm", "bundled/gpt2-novels"])
def test_few_heads_that_follow_nothing_are_named_from_the_shortest_text_on(name: str) -> None:
    """Measured: 5.1 % and 15.4 % on 8 tokens, 3.4 % and 3.3 % on 12, 1.4 % and 0.1 % on 48."""
    model, texts = load(name), sample_sentences()
    counts: dict[int | float, Counter[str]] = {each: Counter() for each in (*LENGTHS, *SPREADS)}
    for seed in range(NETWORKS):
        scramble(model.network, seed)
        starts = np.random.default_rng(seed).integers(len(texts) - 20, size=2)
        for start, length in product(starts, LENGTHS):
            text = " ".join(texts[start : start + 20])
            table = pattern_table(trace_text(model, text, None, length))
            counts[length].update(table["class"])
            counts[SPREADS[seed % len(SPREADS)]].update(table["class"])
    named = {
        each: 1 - (kinds["none"] + kinds["broad"]) / kinds.total() for each, kinds in counts.items()
    }
    assert named[8] > 1.3 * named[MIN_TOKENS]
    assert named[MIN_TOKENS] < 0.05
    assert named[48] < 0.03
    assert named[0.02] == named[0.05] == 0
    assert named[0.3] > 0.05
    assert too_short(8)
    assert not too_short(MIN_TOKENS)


@pytest.mark.parametrize("seeds", [1, pytest.param(5, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("spread", [0.02, 0.2])
@pytest.mark.parametrize("name", ["bert", "gpt2", "llama"])
def test_of_random_weights_pages_claim_no_more_than_they_say(
    name: str, spread: float, seeds: int, tmp_path: Path
) -> None:
    """Five seeds on five texts, 800 heads: at most 3.8 % unusual, 0.6 % with a pattern."""
    model = random_model(name, spread, tmp_path)
    patterns: Counter[str] = Counter()
    unusual, flags_of = 0, []
    for seed in range(seeds):
        twin = untrained_twin(model, seed)
        similar = query_key.weight_similarity(twin)
        for text in (*SENTENCES[:2], *SENTENCES[3:]):
            trace = trace_text(twin, text)
            assert not too_short(len(trace.tokens))
            norms = output_projection.transformed_norms(twin, trace)
            table = anomaly_table(trace, norms, similar)
            unusual += int((table["unusual_by"] != "").sum())
            flags_of += list(table["flags"])
            patterns.update(pattern_table(trace)["class"])
    heads = patterns.total()
    assert heads == len(flags_of) == 160 * seeds
    assert unusual <= flags.RANDOM_SHARE * heads
    assert not any("weights" in each or "null attention" in each for each in flags_of)
    assert heads - patterns["none"] - patterns["broad"] <= 0.01 * heads
    if spread == 0.02:  # as training begins, all are broad: that says nothing of a head
        assert patterns["broad"] == heads


@pytest.mark.nightly
def test_untrained_heads_get_fewer_flags_from_there_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measured: 1.6 % of the heads on 8 tokens, 0.3 % on 12, none on 48."""
    monkeypatch.setattr(flags, "MIN_TOKENS", 0)
    model, texts = load("bundled/minilm"), sample_sentences()
    share: dict[int, list[float]] = {length: [] for length in LENGTHS}
    for seed in (0, 1, 5, 6):  # weights of 0.02 and 0.05, as training begins
        scramble(model.network, seed)
        start = int(np.random.default_rng(seed).integers(len(texts) - 20))
        text = " ".join(texts[start : start + 20])
        for length in LENGTHS:
            table = anomaly_table(trace_text(model, text, None, length))
            share[length].append(float((table["flags"] != "").mean()))
    means = {length: float(np.mean(values)) for length, values in share.items()}
    assert means[8] > 1.3 * means[MIN_TOKENS]
    assert means[MIN_TOKENS] < 0.01
    assert means[48] < 0.01
