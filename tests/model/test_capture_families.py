"""What is recorded is the model's own attention, in every family the project says it can look into.

The oracle is a second instance of each model with transformers' eager attention, fed with ids
that come straight from tokenizer.json.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from tokenizers import Tokenizer

from core.model import trace_corpus, trace_text
from core.model.errors import ModelError
from tests.model.families import CAPTURED, FAMILIES, HEADS, LAYERS, PAIR, SENTENCES, WINDOW

if TYPE_CHECKING:
    from core.model.trace import Trace
    from tests.model.conftest import FolderOf, ModelOf, OracleOf

TOLERANCE = 1e-5
SENTENCE = SENTENCES[1]  # longer than every window
LONG = "The cat said that it was not money, " * 12  # more than any of the models takes

NAMES = [family.name for family in CAPTURED]
CAUSAL = [family.name for family in CAPTURED if family.causal]
PAIRED = [family.name for family in CAPTURED if family.pairs]
GROUPED = [family.name for family in CAPTURED if family.key_heads < HEADS]
ALL_SEE_ALL = [name for name in PAIRED if name != "modernbert"]

# Where the model's own modules put queries, keys and values, and how those outputs are packed.
VALUE_MODULES = {
    "BertConfig": "attention.self.value",
    "RobertaConfig": "attention.self.value",
    "XLMRobertaConfig": "attention.self.value",
    "ElectraConfig": "attention.self.value",
    "AlbertConfig": "attention.value",
    "DistilBertConfig": "attention.v_lin",
    "OPTConfig": "self_attn.v_proj",
    "LlamaConfig": "self_attn.v_proj",
    "Qwen2Config": "self_attn.v_proj",
    "Qwen3Config": "self_attn.v_proj",
    "MistralConfig": "self_attn.v_proj",
    "Gemma2Config": "self_attn.v_proj",
    "PhiConfig": "self_attn.v_proj",
}
PACKED_BY_KIND = {"GPT2Config": "attn.c_attn", "ModernBertConfig": "attn.Wqkv"}
PACKED_BY_HEAD = {"GPTNeoXConfig": "attention.query_key_value"}


def attention_error(trace: Trace, expected: np.ndarray) -> float:
    """The largest difference between the trace's attention and the expected one."""
    assert trace.attention().shape == expected.shape
    return float(np.abs(trace.attention() - expected).max())


def all_scores(trace: Trace) -> np.ndarray:
    """Scores of every layer and head, (layer, head, token, token)."""
    return np.stack(
        [[trace.scores(layer, head) for head in range(HEADS)] for layer in range(LAYERS)]
    )


def assert_same_vectors(actual: np.ndarray, expected: np.ndarray) -> None:
    """Equal within float32 rounding, measured against the largest coordinate."""
    assert_allclose(actual, expected, rtol=0, atol=TOLERANCE * max(1.0, np.abs(expected).max()))


def by_head(rows: np.ndarray, dim: int) -> np.ndarray:
    """(token, heads * dim) -> (query head, token, dim), shared heads repeated one by one."""
    heads = rows.reshape(len(rows), -1, dim).transpose(1, 0, 2)
    return np.repeat(heads, HEADS // len(heads), axis=0)


# ---- one sentence -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_oracle_attends_unevenly_so_that_a_wrong_scale_or_mask_would_show(
    name: str, oracle_of: OracleOf
) -> None:
    attention = oracle_of(name).attention(SENTENCE)
    largest = attention.max(axis=-1)[..., 1:]
    assert largest.mean() > 3 / attention.shape[-1]
    assert np.median(largest) < 0.95


@pytest.mark.parametrize("name", NAMES)
def test_recorded_attention_is_the_models_own(
    name: str, model_of: ModelOf, oracle_of: OracleOf
) -> None:
    trace = trace_text(model_of(name), SENTENCE)
    assert attention_error(trace, oracle_of(name).attention(SENTENCE)) < TOLERANCE


@pytest.mark.parametrize("name", NAMES)
def test_tokens_are_those_of_the_saved_tokenizer(
    name: str, model_of: ModelOf, oracle_of: OracleOf
) -> None:
    tokens = trace_text(model_of(name), SENTENCE).tokens
    encoding = oracle_of(name).tokenizer.encode(SENTENCE)
    assert isinstance(tokens, tuple)
    assert [token.id for token in tokens] == encoding.ids
    assert [token.text for token in tokens] == encoding.tokens
    assert [token.special for token in tokens] == [bool(s) for s in encoding.special_tokens_mask]
    assert [token.position for token in tokens] == list(range(len(encoding.ids)))
    assert {token.segment for token in tokens} == {0}


@pytest.mark.parametrize("name", ["bert", "roberta", "xlm-roberta", "gpt2", "llama"])
@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(text=st.text(min_size=1, max_size=24))
def test_whatever_is_typed_shows_its_own_attention_or_holds_no_token(
    name: str, text: str, model_of: ModelOf, oracle_of: OracleOf
) -> None:
    ids, encoding = oracle_of(name).ids(text), oracle_of(name).tokenizer.encode(text)
    if all(encoding.special_tokens_mask):
        with pytest.raises(ModelError):
            trace_text(model_of(name), text)
        return
    trace = trace_text(model_of(name), text)
    kept = ids[: FAMILIES[name].limit]
    assert len(trace.tokens) == len(kept)
    if kept == ids:
        assert [token.id for token in trace.tokens] == ids
        assert attention_error(trace, oracle_of(name).attention(text)) < TOLERANCE


@pytest.mark.parametrize("name", NAMES)
def test_the_probe_passed_within_its_tolerance(name: str, model_of: ModelOf) -> None:
    assert 0 <= model_of(name).probe_error < TOLERANCE


@pytest.mark.parametrize("name", NAMES)
def test_the_model_tells_its_layers_heads_and_dim(name: str, model_of: ModelOf) -> None:
    model = model_of(name)
    assert (model.layers, model.heads, model.dim) == (LAYERS, HEADS, FAMILIES[name].dim)


@pytest.mark.parametrize("name", NAMES)
def test_vectors_are_read_only_float32_by_layer_head_token_and_dim(
    name: str, model_of: ModelOf, oracle_of: OracleOf
) -> None:
    trace = trace_text(model_of(name), SENTENCE)
    shape = (LAYERS, HEADS, len(oracle_of(name).ids(SENTENCE)), FAMILIES[name].dim)
    for vectors in (trace.queries, trace.keys, trace.values):
        assert vectors.shape == shape
        assert vectors.dtype == np.float32
        with pytest.raises(ValueError, match="read-only"):
            vectors[0, 0, 0, 0] = 1


@pytest.mark.parametrize("name", NAMES)
def test_attention_is_narrowed_by_the_layer_and_head_asked_for(
    name: str, model_of: ModelOf
) -> None:
    trace = trace_text(model_of(name), SENTENCE)
    everything = trace.attention()
    size = len(trace.tokens)
    assert everything.shape == (LAYERS, HEADS, size, size)
    assert_allclose(trace.attention(1), everything[1], atol=1e-7)
    assert_allclose(trace.attention(head=2), everything[:, 2], atol=1e-7)
    assert_allclose(trace.attention(2, 3), everything[2, 3], atol=1e-7)


@pytest.mark.parametrize("name", NAMES)
def test_an_attention_row_sums_to_one(name: str, model_of: ModelOf) -> None:
    rows = trace_text(model_of(name), SENTENCE).attention().sum(axis=-1)
    assert_allclose(rows, 1, atol=TOLERANCE)


@pytest.mark.parametrize("name", NAMES)
def test_softmax_of_the_scores_is_the_attention(name: str, model_of: ModelOf) -> None:
    trace = trace_text(model_of(name), SENTENCE)
    scores = all_scores(trace).astype(np.float64)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    expected = weights / weights.sum(axis=-1, keepdims=True)
    assert_allclose(trace.attention(), expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_scores_are_minus_infinity_just_where_the_model_may_not_look(
    name: str, model_of: ModelOf, oracle_of: OracleOf
) -> None:
    scores = all_scores(trace_text(model_of(name), SENTENCE))
    forbidden = oracle_of(name).attention(SENTENCE) == 0
    assert_array_equal(np.isneginf(scores), forbidden)
    assert np.isfinite(scores[~forbidden]).all()


@pytest.mark.parametrize("name", NAMES)
def test_the_network_still_computes_what_it_did_before_it_was_looked_into(
    name: str, model_of: ModelOf, oracle_of: OracleOf
) -> None:
    inputs = oracle_of(name).inputs(SENTENCE)
    network = model_of(name).network
    device = next(network.parameters()).device
    with torch.no_grad():
        expected = oracle_of(name).network(**inputs).last_hidden_state
        actual = network(**{key: value.to(device) for key, value in inputs.items()})
    assert_same_vectors(actual.last_hidden_state.cpu().numpy(), expected.numpy())


# ---- masks and scales, worked out by hand -----------------------------------------------------


@pytest.mark.parametrize("name", CAUSAL)
def test_a_causal_token_sees_nothing_of_what_follows_it(name: str, model_of: ModelOf) -> None:
    trace = trace_text(model_of(name), SENTENCE)
    later = np.triu(np.ones((len(trace.tokens),) * 2, dtype=bool), k=1)
    assert (trace.attention()[..., later] == 0).all()
    assert np.isneginf(all_scores(trace)[..., later]).all()


@pytest.mark.parametrize("name", ALL_SEE_ALL)
def test_an_encoders_token_sees_every_token(name: str, model_of: ModelOf) -> None:
    trace = trace_text(model_of(name), SENTENCE)
    assert (trace.attention() > 0).all()
    assert np.isfinite(all_scores(trace)).all()


@pytest.mark.parametrize("name", ["mistral", "mistral padded left"])
def test_a_sliding_window_hides_what_lies_further_back(name: str, model_of: ModelOf) -> None:
    trace = trace_text(model_of(name), SENTENCE)
    distance = np.subtract.outer(*[np.arange(len(trace.tokens))] * 2)
    seen = trace.attention() > 0
    assert_array_equal(seen, np.broadcast_to((distance >= 0) & (distance < WINDOW), seen.shape))


def test_gemma_takes_turns_between_a_window_and_the_whole_past(model_of: ModelOf) -> None:
    trace = trace_text(model_of("gemma2"), SENTENCE)
    distance = np.subtract.outer(*[np.arange(len(trace.tokens))] * 2)
    past, window = distance >= 0, (distance >= 0) & (distance < WINDOW)
    for layer, expected in enumerate([window, past, window]):
        assert_array_equal(np.isfinite(trace.scores(layer, 0)), expected)


def test_modernbert_looks_around_itself_except_in_every_second_layer(model_of: ModelOf) -> None:
    trace = trace_text(model_of("modernbert"), SENTENCE)
    distance = np.subtract.outer(*[np.arange(len(trace.tokens))] * 2)
    local = np.abs(distance) <= WINDOW
    for layer, expected in enumerate([np.ones_like(local), local, np.ones_like(local)]):
        assert_array_equal(np.isfinite(trace.scores(layer, 0)), expected)


@pytest.mark.parametrize(
    ("name", "scale", "cap"),
    [
        ("bert", 8**-0.5, None),
        ("albert", 8**-0.5, None),
        ("gpt2", 8**-0.5, None),
        ("llama", 8**-0.5, None),
        ("qwen3", 16**-0.5, None),
        ("gemma2", 20**-0.5, 2.0),
    ],
)
def test_scores_are_scaled_dot_products_of_queries_and_keys(
    name: str, scale: float, cap: float | None, model_of: ModelOf
) -> None:
    trace = trace_text(model_of(name), SENTENCE)
    logits = scale * (trace.queries @ trace.keys.transpose(0, 1, 3, 2))
    if cap is not None:
        logits = cap * np.tanh(logits / cap)
    scores = all_scores(trace)
    permitted = np.isfinite(scores)
    assert_allclose(scores[permitted], logits[permitted], rtol=1e-4, atol=1e-4)


def test_a_model_may_scale_each_layer_on_its_own(model_of: ModelOf) -> None:
    trace = trace_text(model_of("gpt2 scaled by layer"), SENTENCE)
    for layer in range(LAYERS):
        dots = trace.queries[layer, 0] @ trace.keys[layer, 0].T
        past = np.tril(np.ones_like(dots, dtype=bool))
        expected = dots / (8**0.5 * (layer + 1))
        assert_allclose(trace.scores(layer, 0)[past], expected[past], rtol=1e-4, atol=1e-4)


# ---- vectors ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_values_are_what_the_models_value_projection_gave(
    name: str, model_of: ModelOf, oracle_of: OracleOf
) -> None:
    family, eager = FAMILIES[name], oracle_of(name)
    packed = PACKED_BY_KIND.get(family.config) or PACKED_BY_HEAD.get(family.config)
    outputs = eager.module_outputs(eager.inputs(SENTENCE), packed or VALUE_MODULES[family.config])
    if family.config in PACKED_BY_KIND:
        outputs = [np.split(rows, 3, axis=1)[2] for rows in outputs]
    if family.config in PACKED_BY_HEAD:
        by_kind = [rows.reshape(len(rows), HEADS, 3, family.dim) for rows in outputs]
        outputs = [rows[:, :, 2].reshape(len(rows), -1) for rows in by_kind]
    expected = np.stack([by_head(rows, family.dim) for rows in outputs])
    assert_same_vectors(trace_text(model_of(name), SENTENCE).values, expected)


@pytest.mark.parametrize(
    ("name", "query", "key"),
    [
        ("bert", "attention.self.query", "attention.self.key"),
        ("roberta", "attention.self.query", "attention.self.key"),
        ("electra", "attention.self.query", "attention.self.key"),
        ("albert", "attention.query", "attention.key"),
        ("distilbert", "attention.q_lin", "attention.k_lin"),
    ],
)
def test_queries_and_keys_are_what_the_models_projections_gave(
    name: str, query: str, key: str, model_of: ModelOf, oracle_of: OracleOf
) -> None:
    trace, eager = trace_text(model_of(name), SENTENCE), oracle_of(name)
    for vectors, ending in ((trace.queries, query), (trace.keys, key)):
        outputs = eager.module_outputs(eager.inputs(SENTENCE), ending)
        assert_same_vectors(vectors, np.stack([by_head(rows, 8) for rows in outputs]))


@pytest.mark.parametrize("name", GROUPED)
def test_query_heads_of_one_group_share_their_keys_and_values(name: str, model_of: ModelOf) -> None:
    trace = trace_text(model_of(name), SENTENCE)
    for shared in (trace.keys, trace.values):
        assert_array_equal(shared[:, 0], shared[:, 1])
        assert_array_equal(shared[:, 2], shared[:, 3])
        assert np.abs(shared[:, 0] - shared[:, 2]).max() > 0.1
    assert np.abs(trace.queries[:, 0] - trace.queries[:, 1]).max() > 0.1


# ---- a pair of sentences ----------------------------------------------------------------------


@pytest.mark.parametrize("name", PAIRED)
def test_a_pairs_attention_is_the_models_own(
    name: str, model_of: ModelOf, oracle_of: OracleOf
) -> None:
    trace = trace_text(model_of(name), PAIR[0], PAIR[1])
    assert attention_error(trace, oracle_of(name).attention(*PAIR)) < TOLERANCE


@pytest.mark.parametrize("name", PAIRED)
def test_every_word_of_a_pair_knows_its_sentence(
    name: str, model_of: ModelOf, oracle_of: OracleOf
) -> None:
    tokens = trace_text(model_of(name), PAIR[0], pair=PAIR[1]).tokens
    encoding = oracle_of(name).tokenizer.encode(*PAIR)
    assert [token.id for token in tokens] == encoding.ids
    assert [token.special for token in tokens] == [s is None for s in encoding.sequence_ids]
    words = [token.segment for token in tokens if not token.special]
    assert words == [sequence for sequence in encoding.sequence_ids if sequence is not None]


@pytest.mark.parametrize("name", ["bert", "electra", "albert"])
def test_segment_ids_reach_the_model(name: str, oracle_of: OracleOf, model_of: ModelOf) -> None:
    eager = oracle_of(name)
    inputs = eager.inputs(*PAIR)
    one_segment = inputs | {"token_type_ids": torch.zeros_like(inputs["token_type_ids"])}
    trace = trace_text(model_of(name), *PAIR)
    assert attention_error(trace, eager.attention_of(one_segment)) > 0.01


# ---- a corpus, run in padded batches ----------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_padded_batch_shows_each_sentences_own_attention(
    name: str, model_of: ModelOf, oracle_of: OracleOf
) -> None:
    traces = list(trace_corpus(model_of(name), list(SENTENCES), batch_size=4))
    assert len(traces) == len(SENTENCES)
    for sentence, trace in zip(SENTENCES, traces, strict=True):
        assert [token.id for token in trace.tokens] == oracle_of(name).ids(sentence)
        assert attention_error(trace, oracle_of(name).attention(sentence)) < TOLERANCE


@pytest.mark.parametrize("name", NAMES)
def test_a_sentence_of_a_batch_is_traced_as_if_it_were_alone(name: str, model_of: ModelOf) -> None:
    model = model_of(name)
    for sentence, trace in zip(SENTENCES, trace_corpus(model, list(SENTENCES)), strict=True):
        alone = trace_text(model, sentence)
        assert trace.tokens == alone.tokens
        assert attention_error(trace, alone.attention()) < TOLERANCE
        for vectors in ("queries", "keys", "values"):
            assert_same_vectors(getattr(trace, vectors), getattr(alone, vectors))
            assert not getattr(trace, vectors).flags.writeable
        scores, expected = all_scores(trace), all_scores(alone)
        assert_array_equal(np.isneginf(scores), np.isneginf(expected))
        permitted = np.isfinite(expected)
        assert_same_vectors(scores[permitted], expected[permitted])


@pytest.mark.parametrize("size", [1, 2, 8])
def test_the_batch_size_changes_neither_order_nor_number(size: int, model_of: ModelOf) -> None:
    texts = [*SENTENCES, SENTENCES[0], SENTENCES[2]]
    model = model_of("bert")
    traces = list(trace_corpus(model, texts, batch_size=size))
    ids = [[token.id for token in trace.tokens] for trace in traces]
    assert ids == [[token.id for token in trace_text(model, text).tokens] for text in texts]


def test_a_corpus_of_nothing_gives_no_trace(model_of: ModelOf) -> None:
    assert list(trace_corpus(model_of("bert"), [])) == []


def test_two_corpora_may_be_walked_in_turns(model_of: ModelOf, oracle_of: OracleOf) -> None:
    texts = list(SENTENCES)
    left = iter(trace_corpus(model_of("bert"), texts, batch_size=2))
    right = iter(trace_corpus(model_of("gpt2"), texts[::-1], batch_size=2))
    for index, (first, second) in enumerate(zip_longest(left, right)):
        sentence, other = texts[index], texts[-1 - index]
        between = trace_text(model_of("bert"), other)
        assert attention_error(first, oracle_of("bert").attention(sentence)) < TOLERANCE
        assert attention_error(second, oracle_of("gpt2").attention(other)) < TOLERANCE
        assert attention_error(between, oracle_of("bert").attention(other)) < TOLERANCE


# ---- text longer than the model ---------------------------------------------------------------


def cut_ids(
    folder_of: FolderOf, name: str, text: str, pair: str | None = None
) -> tuple[list[int], int]:
    """The ids that fit into the model, by the tokenizer's own truncation, and how many do not."""
    tokenizer = Tokenizer.from_file(str(folder_of(name) / "tokenizer.json"))
    tokenizer.no_padding()
    whole = len(tokenizer.encode(text, pair).ids)
    tokenizer.enable_truncation(FAMILIES[name].limit)
    ids = tokenizer.encode(text, pair).ids
    return ids, whole - len(ids)


@pytest.mark.parametrize("name", NAMES)
def test_a_long_text_is_cut_to_what_the_model_takes_and_the_loss_is_told(
    name: str, model_of: ModelOf, oracle_of: OracleOf, folder_of: FolderOf
) -> None:
    ids, dropped = cut_ids(folder_of, name, LONG)
    trace = trace_text(model_of(name), LONG)
    assert dropped > 0
    assert [token.id for token in trace.tokens] == ids
    assert trace.dropped == dropped
    row = torch.tensor([ids])
    expected = oracle_of(name).attention_of({"input_ids": row})
    assert attention_error(trace, expected) < TOLERANCE


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_dropped_from_a_text_that_fits(name: str, model_of: ModelOf) -> None:
    assert trace_text(model_of(name), SENTENCE).dropped == 0


@pytest.mark.parametrize("name", PAIRED)
def test_a_long_pair_is_cut_to_what_the_model_takes(
    name: str, model_of: ModelOf, folder_of: FolderOf
) -> None:
    ids, dropped = cut_ids(folder_of, name, SENTENCES[0], LONG)
    trace = trace_text(model_of(name), SENTENCES[0], LONG)
    assert len(trace.tokens) == len(ids) == FAMILIES[name].limit
    assert trace.dropped == dropped


@pytest.mark.parametrize("name", ["bert", "roberta", "gpt2 padded left", "llama"])
def test_a_long_text_in_a_batch_is_cut_and_its_neighbours_are_not(
    name: str, model_of: ModelOf, folder_of: FolderOf
) -> None:
    texts = [SENTENCES[0], LONG, SENTENCES[2]]
    first, long, last = trace_corpus(model_of(name), texts)
    assert (first.dropped, last.dropped) == (0, 0)
    assert long.dropped == cut_ids(folder_of, name, LONG)[1]
    assert len(long.tokens) == FAMILIES[name].limit
