"""Facts of published models, where their weights are in the cache."""

from __future__ import annotations

import numpy as np
import pytest

from core.analysis.anomalies import anomaly_table
from core.analysis.head_patterns import pattern_table
from core.analysis.normalization import grid_search
from core.corpus.sample import sample_sentences
from core.model import LoadedModel, load, trace_by_length, trace_text
from core.model.opening.catalog import find_entry, is_local

CLASS = "My friend told me about this class and I love it so far! She was right."
# Mean over the heads of the last layer of bert-base-uncased, row [CLS] of CLASS; published.
BERT_CLS_ROW = (
    "0.092 0.028 0.019 0.011 0.012 0.022 0.05 0.087 0.031 0.023"
    " 0.023 0.031 0.007 0.028 0.067 0.057 0.065 0.124 0.104 0.12"
)


def published(name: str) -> LoadedModel:
    spec = find_entry(name)
    assert spec is not None
    if not is_local(spec):
        pytest.skip(f"the weights of {name} are not in the local cache")
    return load(name)


@pytest.mark.hub
def test_bert_attends_as_published() -> None:
    trace = trace_text(published("bert-base-uncased"), CLASS)
    names = [token.text for token in trace.tokens]
    row = trace.attention(11).mean(axis=0)[0]
    np.testing.assert_allclose(row, np.array(BERT_CLS_ROW.split(), dtype=float), atol=6e-4)
    link = trace.attention(7, 9)[names.index("me"), names.index("told")]
    assert link == pytest.approx(0.683, abs=6e-4)


@pytest.mark.hub
def test_the_notebooks_search_finds_its_published_constants_on_bert() -> None:
    """Layer 1, 10 x 10 grid: a = -0.5 and |r| = 0.89105, whatever c is."""
    trace = trace_text(published("bert-base-uncased"), "The brown capybara is sleeping now.")
    found = grid_search(
        trace.queries[0], trace.keys[0], np.linspace(-0.5, 0.5, 10), np.linspace(-2, 2, 10)
    )
    assert found.a == -0.5
    np.testing.assert_allclose(np.abs(found.surface[0]), 0.89105, atol=1e-4)


@pytest.mark.hub
def test_bert_has_the_positional_heads_of_clark_and_others() -> None:
    """Clark et al. 2019, section 3.1: over 0.5 to the token before, and to the one after."""
    model = published("bert-base-uncased")
    table = pattern_table(trace for _, trace in trace_by_length(model, sample_sentences()[:150]))
    layers = {
        name: sorted(int(layer) for layer in table["layer"][table[name] > 0.5])
        for name in ("previous", "next")
    }
    assert layers == {"previous": [2, 4, 7, 8], "next": [1, 2, 2, 3, 6]}


@pytest.mark.hub
@pytest.mark.parametrize(("name", "shorter"), [("gpt2", True), ("bert-base-uncased", False)])
def test_queries_of_gpt2_are_shorter_than_its_keys_and_those_of_bert_are_not(
    name: str, shorter: bool
) -> None:
    """AttentionViz, section 6.2: mean |q| - |k| is -4.59 for GPT-2, 0.41 for BERT."""
    traces = trace_by_length(published(name), sample_sentences()[:50])
    differences = [anomaly_table(trace)["norm_difference"].mean() for _, trace in traces]
    assert (np.mean(differences) < 0) == shorter
