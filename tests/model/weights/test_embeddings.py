"""Input embeddings are the rows of the network's own table that the ids of a text select."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from safetensors.torch import load_file

from core.model import load, trace_text
from core.model.weights.embeddings import sample_embeddings, token_embeddings, whole_words
from tests.model.families import CAPTURED, SENTENCES

if TYPE_CHECKING:
    from tests.conftest import FolderOf, ModelOf

# As each family names its table in the files that people publish.
_TABLES = ("word_embeddings", "tok_embeddings", "wte", "embed_in", "embed_tokens")


@pytest.mark.parametrize("family", [each.name for each in CAPTURED])
def test_every_family_that_opens_hands_out_the_rows_of_its_table(
    model_of: ModelOf, folder_of: FolderOf, family: str
) -> None:
    trace = trace_text(model_of(family), SENTENCES[0])
    weights = load_file(folder_of(family) / "model.safetensors")
    (table,) = (array for name, array in weights.items() if name.split(".")[-2] in _TABLES)
    found = token_embeddings(model_of(family), trace)
    assert found is not None
    assert found.dtype == np.float32
    expected = table[[token.id for token in trace.tokens]].float().numpy()
    np.testing.assert_array_equal(found, expected)
    assert found.shape[1] == (16 if family in {"albert", "electra"} else 32)  # its own width


def test_a_network_without_a_table_has_none(model_of: ModelOf) -> None:
    model = model_of("bert")
    trace = trace_text(model, SENTENCES[0])

    def refuse() -> None:
        raise NotImplementedError

    without = replace(model, network=SimpleNamespace(get_input_embeddings=refuse))  # type: ignore[arg-type]
    assert token_embeddings(without, trace) is None
    assert sample_embeddings(without) is None


def test_words_are_whole_and_of_letters() -> None:
    for name in ("bundled/minilm", "bundled/gpt2-novels"):
        model = load(name)
        words = set(model.tokenizer.convert_ids_to_tokens(whole_words(model)))
        begin = "Ġ" if name.endswith("novels") else ""
        assert {begin + "house", begin + "and"} <= words
        assert not words & {"##s", "[CLS]", "[SEP]", ".", "a", "<|endoftext|>", "Ġ,", "1999"}
        assert all(word.startswith(begin) and not word.startswith("##") for word in words)


def test_a_vocabulary_of_pieces_is_sampled_as_a_whole(model_of: ModelOf) -> None:
    model = model_of("gpt2")
    special = set(model.tokenizer.all_special_ids)
    size = len(model.tokenizer)
    assert size < 400  # hardly a word among letters and their pairs
    assert set(whole_words(model)) == set(range(size)) - special


def test_a_sample_is_bounded_and_the_same_each_time() -> None:
    model = load("bundled/minilm")
    once, again = sample_embeddings(model, 50), sample_embeddings(model, 50)
    assert once is not None
    assert again is not None
    assert once.shape == (50, 384)
    np.testing.assert_array_equal(once, again)
