"""Facts of the causal model that comes with the app, on text it has not learned from."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from transformers import GPT2LMHeadModel

from core.model import LoadedModel, ModelSpec, trace_text
from core.model.opening.catalog import bundled_folder, find
from tests.model.bundled import loaded

NAME = "bundled/gpt2-novels"
MARK = "<|endoftext|>"
# From the paragraphs that were kept back from training: A Tale of Two Cities, Pride and Prejudice,
# Great Expectations, The Adventures of Sherlock Holmes.
KEPT_BACK = (
    (
        "But, he went his way, and was soon swallowed up in the shadow of the prison wall. At the"
        " appointed hour, he emerged from it to present himself in Mr. Lorry's room again, where"
        " he found the old gentleman walking to and fro in restless anxiety. He said he had been"
        " with Lucie until just now, and had only left her for a few minutes, to come and keep his"
        " appointment."
    ),
    (
        "Not all that Mrs. Bennet, however, with the assistance of her five daughters, could ask"
        " on the subject, was sufficient to draw from her husband any satisfactory description of"
        " Mr. Bingley. They attacked him in various ways--with barefaced questions, ingenious"
        " suppositions, and distant surmises; but he eluded the skill of them all, and they were"
        " at last obliged to accept the second-hand intelligence of their neighbour, Lady Lucas."
    ),
    (
        "This dialogue made us all uneasy, and me very uneasy. The dismal wind was muttering"
        " round the house, the tide was flapping at the shore, and I had a feeling that we were"
        " caged and threatened. A four-oared galley hovering about in so unusual a way as to"
        " attract this notice was an ugly circumstance that I could not get rid of."
    ),
    (
        "Between nine and ten last night Police-Constable Cook, of the H Division, on duty near"
        " Waterloo Bridge, heard a cry for help and a splash in the water. The night, however, was"
        " extremely dark and stormy, so that, in spite of the help of several passers-by, it was"
        " quite impossible to effect a rescue. The alarm, however, was given, and, by the aid of"
        " the water-police, the body was eventually recovered."
    ),
)
TOKENS = 64


@pytest.fixture(scope="module")
def novels() -> LoadedModel:
    return loaded(NAME)


def test_it_loads_in_float32_as_any_causal_model_does(novels: LoadedModel) -> None:
    assert (novels.layers, novels.heads, novels.kv_heads, novels.dim) == (4, 4, 4, 32)
    assert novels.max_tokens == 128
    assert novels.causal
    assert novels.probe_error < 1e-5
    assert {weight.dtype for weight in novels.network.parameters()} == {torch.float32}
    assert trace_text(novels, "It was so.").queries.dtype == np.float32


def test_every_text_begins_with_a_special_document_mark(novels: LoadedModel) -> None:
    tokens = trace_text(novels, "Oh, this book? I've enjoyed it.").tokens
    assert [token.display for token in tokens if token.special] == [MARK]
    assert tokens[0].special
    assert [token.display for token in tokens[1:4]] == ["Oh", ",", "this"]
    assert tokens[3].span == (4, 8)  # the word, without the blank before it


@pytest.mark.nightly
def test_it_has_learned_from_its_novels(novels: LoadedModel) -> None:
    network = GPT2LMHeadModel.from_pretrained(bundled_folder(_spec()), dtype=torch.float32)
    losses = []
    for text in KEPT_BACK:
        ids = torch.tensor([novels.tokenizer(text)["input_ids"][:TOKENS]])
        assert ids.shape == (1, TOKENS)
        with torch.inference_mode():
            losses.append(float(network(input_ids=ids, labels=ids).loss))
    assert 2.5 < np.mean(losses) < 4.6  # a guess by frequency alone takes 6


def test_its_card_says_what_was_measured(novels: LoadedModel) -> None:
    card = (bundled_folder(_spec()) / "README.md").read_text("utf-8")
    rows = [line.split("|")[1:-1] for line in card.splitlines() if line.startswith("| L")]
    assert len(rows) == novels.layers * novels.heads
    stated = np.array([float(row[1]) for row in rows]).reshape(novels.layers, novels.heads)
    # Without the first row, in four excerpts of 64 tokens against thousands of windows: alike, not
    # the same.
    traces = [trace_text(novels, text, max_tokens=TOKENS) for text in KEPT_BACK]
    first = np.mean([trace.attention()[:, :, 1:, 0].mean(axis=-1) for trace in traces], axis=0)
    assert np.abs(stated - first).max() < 0.2
    assert np.abs(stated - first).mean() < 0.05
    assert 2 <= (first > 0.5).sum() <= 14  # some heads rest there, and not every one
    assert f"**{(stated > 0.5).sum()} of 16 heads put more than 0.5 on the first token**" in card


def _spec() -> ModelSpec:
    spec = find(NAME)
    assert spec is not None
    return spec
