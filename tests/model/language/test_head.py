"""A language-model head counts if the files hold it; whatever is wrong with it, the model opens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from core.model import load, trace_text
from core.model.language import masked_words, next_words
from core.model.running import network as network_module
from tests.model.families import SENTENCES, rewrite, without
from tests.model.language.checkpoints import DECODERS, MASKED, WITH_HEAD, build_with_head

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from core.model import LoadedModel
    from tests.model.families import Weights


def _inputs(folder: Path, text: str) -> dict[str, torch.Tensor]:
    """Ids straight from tokenizer.json."""
    from tokenizers import Tokenizer

    ids = Tokenizer.from_file(str(folder / "tokenizer.json")).encode(text).ids
    return {"input_ids": torch.tensor([ids])}


def _probabilities(network: torch.nn.Module, inputs: dict[str, torch.Tensor]) -> np.ndarray:
    """Softmax of all logits by NumPy, (token, vocabulary)."""
    with torch.no_grad():
        logits = network(**inputs).logits[0].double().numpy()
    exponents = np.exp(logits - logits.max(-1, keepdims=True))
    shares: np.ndarray = exponents / exponents.sum(-1, keepdims=True)
    return shares


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), [*DECODERS.items(), *MASKED.items()])
def test_a_head_says_what_transformers_says_and_leaves_attention_as_it_is(
    name: str, kind: str, tmp_path: Path
) -> None:
    network = build_with_head(name, kind, tmp_path)
    model = load(str(tmp_path))
    assert model.task == ("next" if name in DECODERS else "masked")
    mask = model.tokenizer.mask_token
    text = SENTENCES[1] if name in DECODERS else f"The {mask} sat on the {mask} walk home."
    inputs = _inputs(tmp_path, text)
    expected = _probabilities(network, inputs)
    if name in DECODERS:
        found = {len(expected) - 1: next_words(model, text, count=10)}
    else:
        found = {each.position: each.guesses for each in masked_words(model, text, count=10)}
        assert len(found) == 2
        masks = inputs["input_ids"][0] == model.tokenizer.mask_token_id
        assert list(found) == torch.nonzero(masks).ravel().tolist()
    for place, guesses in found.items():
        best = np.argsort(-expected[place])[:10]
        assert [guess.id for guess in guesses] == best.tolist()
        chances = [guess.probability for guess in guesses]
        np.testing.assert_allclose(chances, expected[place][best], rtol=1e-3)
    _check_attention(model, network, inputs, text)
    shared = {id(weight) for weight in model.language_model.parameters()}  # type: ignore[union-attr]
    assert {id(weight) for weight in model.network.parameters()} <= shared  # none is there twice
    assert sum(weight.numel() for weight in network.parameters()) == model.parameters


def _check_attention(
    model: LoadedModel, network: torch.nn.Module, inputs: dict[str, torch.Tensor], text: str
) -> None:
    """Transformers' own network attends the same way."""
    with torch.no_grad():
        attentions = network(**inputs, output_attentions=True).attentions
    own = torch.cat(attentions).numpy()
    np.testing.assert_allclose(trace_text(model, text).attention(), own, atol=2e-5)


def _narrower(weights: Weights) -> Weights:
    """The head has a word less than the embeddings."""
    return weights | {"embed_out.weight": weights["embed_out.weight"][:-1].contiguous()}


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("bert", without("cls.predictions.transform")),
        ("bert", without("cls.predictions")),
        ("gpt_neox", without("embed_out")),
        ("gpt_neox", _narrower),
    ],
)
def test_a_model_whose_head_is_incomplete_opens_without_it(
    name: str, change: Callable[[Weights], Weights], tmp_path: Path
) -> None:
    network = build_with_head(name, WITH_HEAD[name], tmp_path)
    model = load(str(rewrite(tmp_path, change)))
    assert (model.language_model, model.task) == (None, None)
    _check_attention(model, network, _inputs(tmp_path, SENTENCES[0]), SENTENCES[0])


def test_a_head_that_does_not_fit_in_memory_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = build_with_head("gpt_neox", "GPTNeoXForCausalLM", tmp_path)
    whole = sum(weight.numel() for weight in network.parameters())
    rewrite(tmp_path, without("embed_out"))
    monkeypatch.setattr("core.model.memory.available_bytes", lambda: 5 * whole - 1)
    usual = network_module.read

    def read(kind: type[Any], *settings: Any) -> Any:
        return pytest.fail("it was read") if kind is type(network) else usual(kind, *settings)

    monkeypatch.setattr(network_module, "read", read)
    assert load(str(tmp_path)).language_model is None
