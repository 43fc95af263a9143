"""What is recorded is the model's own attention, in every family the project can look into.

The oracle is a second instance of each model with transformers' eager attention, fed with ids
straight from tokenizer.json.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from tokenizers import Tokenizer

from core.model import trace_corpus, trace_text
from core.model.errors import ModelError
from core.model.trace import Trace
from tests.conftest import FolderOf, ModelOf, OracleOf
from tests.model.families import CAPTURED, FAMILIES, HEADS, LAYERS, PAIR, SENTENCES, WINDOW
from tests.rounding import assert_same_shares

TOLERANCE = 1e-4 if torch.cuda.is_available() else 1e-5  # a graphics card sums in another order
SENTENCE = SENTENCES[1]  # longer than every window
LONG = "The cat said that it was not money, " * 12  # more than any of the models takes

NAMES = [family.name for family in CAPTURED]
PAIRED = [family.name for family in CAPTURED if family.pairs]


def attention_error(trace: Trace, expected: np.ndarray) -> float:
    """The largest difference between the trace's attention and the expected one."""
    assert trace.attention().shape == expected.shape
    return float(np.abs(trace.attention() - expected).max())


def all_scores(trace: Trace) -> np.ndarray:
    """Scores of every layer and head, (layer, head, token, token)."""
    return np.stack([trace.scores(layer) for layer in range(LAYERS)])


def assert_same_vectors(actual: np.ndarray, expected: np.ndarray) -> None:
    """Equal within float32 rounding, measured against the largest coordinate."""
    assert_allclose(actual, expected, rtol=0, atol=TOLERANCE * max(1.0, np.abs(expected).max()))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_recorded_attention_and_tokens_are_the_models_own_and_its_output_stays_the_same(
    name: str, model_of: ModelOf, oracle_of: OracleOf
) -> None:
    model, oracle = model_of(name), oracle_of(name)
    expected = oracle.attention(SENTENCE)
    assert (model.layers, model.heads, model.dim) == (LAYERS, HEADS, FAMILIES[name].dim)
    assert 0 <= model.probe_error < TOLERANCE
    trace = trace_text(model, SENTENCE)
    assert attention_error(trace, expected) < TOLERANCE
    encoding = oracle.tokenizer.encode(SENTENCE)
    assert [token.id for token in trace.tokens] == encoding.ids
    assert [token.text for token in trace.tokens] == encoding.tokens
    assert [t.special for t in trace.tokens] == [bool(s) for s in encoding.special_tokens_mask]
    assert [token.position for token in trace.tokens] == list(range(len(encoding.ids)))
    assert ({token.segment for token in trace.tokens}, trace.dropped) == ({0}, 0)
    # Neither uniform nor one-hot: a wrong scale or mask would show.
    largest = expected.max(axis=-1)[..., 1:]
    assert largest.mean() > 3 / expected.shape[-1]
    assert np.median(largest) < 0.95
    # The softmax of the scores, which are infinite where nothing is permitted.
    scores = all_scores(trace).astype(np.float64)
    sinks = np.full((*scores.shape[:3], 1), -np.inf)  # a column that takes nothing
    if name == "gpt_oss":
        learned = torch.stack([layer.self_attn.sinks for layer in oracle.network.layers]).detach()
        sinks[...] = learned.numpy()[:, :, None, None]
    weights = torch.tensor(np.concatenate([scores, sinks], axis=-1)).softmax(-1).numpy()
    assert_same_shares(trace.attention(), weights[..., :-1], trace)
    assert_array_equal(trace.attention(1, 2), trace.attention()[1, 2])
    assert (trace.attention().sum(axis=-1).min() < 0.99) == (name == "gpt_oss")
    assert_array_equal(np.isneginf(scores), expected == 0)
    assert np.isfinite(scores[expected > 0]).all()
    inputs = oracle.inputs(SENTENCE)
    device = next(model.network.parameters()).device
    with torch.no_grad():
        own = oracle.network(**inputs).last_hidden_state
        actual = model.network(**{key: value.to(device) for key, value in inputs.items()})
    assert_same_vectors(actual.last_hidden_state.cpu().numpy(), own.numpy())


@pytest.mark.parametrize("name", ["bert", "roberta", "xlm-roberta", "gpt2", "llama"])
@settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(text=st.text(min_size=1, max_size=24))
def test_any_text_gives_its_own_attention_or_is_refused_without_a_token(
    name: str, text: str, model_of: ModelOf, oracle_of: OracleOf
) -> None:
    encoding = oracle_of(name).tokenizer.encode(text)
    if all(encoding.special_tokens_mask):
        with pytest.raises(ModelError):
            trace_text(model_of(name), text)
        return
    trace = trace_text(model_of(name), text)
    assert len(trace.tokens) == min(len(encoding.ids), FAMILIES[name].limit)
    if len(encoding.ids) <= FAMILIES[name].limit:
        assert [token.id for token in trace.tokens] == encoding.ids
        assert attention_error(trace, oracle_of(name).attention(text)) < TOLERANCE


@pytest.mark.parametrize(
    ("name", "windows"),
    [
        ("bert", ["all", "all", "all"]),
        ("mistral", ["recent", "recent", "recent"]),
        ("mistral padded left", ["recent", "recent", "recent"]),
        ("gemma2", ["recent", "past", "recent"]),
        ("modernbert", ["all", "around", "all"]),
    ],
)
def test_each_layer_sees_what_its_window_allows(
    name: str, windows: list[str], model_of: ModelOf
) -> None:
    trace = trace_text(model_of(name), SENTENCE)
    distance = np.subtract.outer(*[np.arange(len(trace.tokens))] * 2)
    permitted = {
        "all": np.ones_like(distance, dtype=bool),
        "past": distance >= 0,
        "recent": (distance >= 0) & (distance < WINDOW),
        "around": np.abs(distance) <= WINDOW,
    }
    for layer, window in enumerate(windows):
        for head in range(HEADS):
            assert_array_equal(np.isfinite(trace.scores(layer, head)), permitted[window])
            assert_array_equal(trace.attention(layer, head) > 0, permitted[window])


# ---- a pair, and a corpus that runs in padded batches -------------------------------------------


@pytest.mark.parametrize("name", PAIRED)
def test_a_pairs_attention_and_segments_are_the_models_own(
    name: str, model_of: ModelOf, oracle_of: OracleOf
) -> None:
    trace = trace_text(model_of(name), PAIR[0], pair=PAIR[1])
    assert attention_error(trace, oracle_of(name).attention(*PAIR)) < TOLERANCE
    sources = oracle_of(name).tokenizer.encode(*PAIR).sequence_ids
    assert [token.special for token in trace.tokens] == [source is None for source in sources]
    segments = [token.segment for token in trace.tokens if not token.special]
    assert segments == [source for source in sources if source is not None]


@pytest.mark.parametrize("name", NAMES)
def test_a_sentence_in_a_padded_batch_is_traced_as_if_it_were_alone_and_a_long_text_is_cut(
    name: str, model_of: ModelOf, oracle_of: OracleOf, folder_of: FolderOf
) -> None:
    model = model_of(name)
    *traces, long = trace_corpus(model, [*SENTENCES, LONG], batch_size=4)
    for sentence, trace in zip(SENTENCES, traces, strict=True):
        assert attention_error(trace, oracle_of(name).attention(sentence)) < TOLERANCE
        alone = trace_text(model, sentence)
        assert (trace.tokens, trace.dropped) == (alone.tokens, 0)
        for vectors in ("queries", "keys", "values"):
            assert_same_vectors(getattr(trace, vectors), getattr(alone, vectors))
            assert not getattr(trace, vectors).flags.writeable
        scores, expected = all_scores(trace), all_scores(alone)
        assert_array_equal(np.isneginf(scores), np.isneginf(expected))
        permitted = np.isfinite(expected)
        assert_same_vectors(scores[permitted], expected[permitted])
    tokenizer = Tokenizer.from_file(str(folder_of(name) / "tokenizer.json"))
    tokenizer.no_padding()
    whole = len(tokenizer.encode(LONG).ids)
    tokenizer.enable_truncation(FAMILIES[name].limit)
    ids = tokenizer.encode(LONG).ids  # by the tokenizer's own truncation
    assert [token.id for token in long.tokens] == ids
    assert long.dropped == whole - len(ids) > 0
    own = oracle_of(name).attention_of({"input_ids": torch.tensor([ids])})
    assert attention_error(long, own) < TOLERANCE
