"""Words and classes that heads of checkpoints expect, against transformers' own."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from tokenizers import processors

from core.model import LoadedModel, effects, load, trace_text
from core.model.errors import EmptyTextError, UnsupportedModelError
from core.model.interventions.measures import measures_of
from core.model.language import Guess, Masked, masked_words, next_words, text_classes
from core.model.running import network as network_module
from tests.model.families import FAMILIES, PAIR, SENTENCES, Weights, rewrite, without
from tests.model.interventions.surgery import without_heads
from tests.model.language.checkpoints import DECODERS, MASKED, build_with_head

TEXT = "The cat sat on the mat because it was tired."
LABELS = {0: "negative", 1: "neutral", 2: "positive"}
CLASSIFIERS = {
    "bert": "BertForSequenceClassification",
    "roberta": "RobertaForSequenceClassification",
    "distilbert": "DistilBertForSequenceClassification",
    "gpt2": "GPT2ForSequenceClassification",
    "llama": "LlamaForSequenceClassification",
}


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    folder = tmp_path_factory.mktemp("bert")
    build_with_head("bert", MASKED["bert"], folder, stir=0.3)
    return load(str(folder))


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    folder = tmp_path_factory.mktemp("gpt2")
    build_with_head("gpt2", DECODERS["gpt2"], folder, stir=0.3)
    return load(str(folder))


def _close(ours: tuple[Guess, ...], theirs: tuple[Guess, ...]) -> bool:
    same = [guess.id for guess in ours] == [guess.id for guess in theirs]
    pairs = zip(ours, theirs, strict=True)
    return same and all(abs(a.probability - b.probability) < 1e-5 for a, b in pairs)


def test_a_long_text_is_continued_where_it_is_cut(gpt2: LoadedModel) -> None:
    """The model takes 64 tokens: what follows them changes nothing."""
    long = "The cat sat. " * 40
    trace = trace_text(gpt2, long)
    assert trace.dropped > 0
    cut = long[: trace.tokens[-1].span[1]]
    assert _close(next_words(gpt2, long), next_words(gpt2, cut))
    assert _close(next_words(gpt2, long), next_words(gpt2, long + "Where?"))
    few = next_words(gpt2, long, max_tokens=10)
    assert _close(few, next_words(gpt2, long[: trace.tokens[9].span[1]]))
    assert not _close(few, next_words(gpt2, long))


def test_what_a_tokenizer_puts_after_a_text_is_not_continued(
    tmp_path: Path, gpt2: LoadedModel
) -> None:
    """Only the end mark of the template is left out: one that was typed is the text's own."""
    build_with_head("gpt2", "GPT2LMHeadModel", tmp_path, stir=0.3)
    ending = load(str(tmp_path))
    end = "<|endoftext|>"
    ending.tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single=f"$A {end}", pair=f"$A {end} $B {end}", special_tokens=[(end, 0)]
    )
    assert trace_text(ending, SENTENCES[0]).tokens[-1].special
    plain = next_words(gpt2, SENTENCES[0])
    assert _close(next_words(ending, SENTENCES[0]), plain)
    typed = next_words(ending, SENTENCES[0] + end)
    assert _close(typed, next_words(gpt2, SENTENCES[0] + end))
    assert not _close(typed, plain)


def test_each_task_needs_its_own_head(bert: LoadedModel, gpt2: LoadedModel) -> None:
    with pytest.raises(UnsupportedModelError, match="no language-model head for the next word"):
        next_words(bert, SENTENCES[0])
    with pytest.raises(UnsupportedModelError, match="head for words behind a mask"):
        masked_words(gpt2, SENTENCES[0])
    with pytest.raises(EmptyTextError):
        next_words(gpt2, "")


def test_threads_that_ask_at_once_get_their_own_answers(bert: LoadedModel) -> None:
    texts = [f"[MASK] {text}" for text in SENTENCES] + [f"{text} [MASK]" for text in SENTENCES]

    def ask(text: str) -> tuple[Masked, NDArray[np.float32]]:
        (masked,) = masked_words(bert, text)
        return masked, trace_text(bert, text).attention()

    alone = [ask(text) for text in texts]
    with ThreadPoolExecutor(len(texts)) as pool:
        together = pool.map(ask, 10 * texts)
    for (found, attention), (expected, own) in zip(together, 10 * alone, strict=True):
        assert found.position == expected.position
        assert _close(found.guesses, expected.guesses)
        np.testing.assert_allclose(attention, own, atol=1e-5)


def inputs_of(name: str, *texts: str) -> Any:
    """What transformers' own tokenizer makes of a text, or of two."""
    return FAMILIES[name].tokenizer()(*texts, return_tensors="pt")


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
    inputs = inputs_of(name, text)
    with torch.no_grad():
        output = network(**inputs, output_attentions=True)
    expected = output.logits[0].double().softmax(-1).numpy()
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
    own = torch.cat(output.attentions)
    np.testing.assert_allclose(trace_text(model, text).attention(), own, atol=2e-5)
    shared = {id(weight) for weight in model.language_model.parameters()}  # type: ignore[union-attr]
    assert {id(weight) for weight in model.network.parameters()} <= shared  # none is there twice
    assert sum(weight.numel() for weight in network.parameters()) == model.parameters


def _narrower(weights: Weights) -> Weights:
    """The head has a word less than the embeddings."""
    return weights | {"embed_out.weight": weights["embed_out.weight"][:-1].contiguous()}


@pytest.mark.parametrize(
    ("name", "kind", "change"),
    [
        ("bert", MASKED["bert"], without("cls.predictions.transform")),
        ("bert", MASKED["bert"], without("cls.predictions")),
        ("gpt_neox", DECODERS["gpt_neox"], without("embed_out")),
        ("gpt_neox", DECODERS["gpt_neox"], _narrower),
        ("bert", CLASSIFIERS["bert"], without("pooler")),
    ],
)
def test_a_model_whose_head_is_incomplete_opens_without_it(
    name: str, kind: str, change: Callable[[Weights], Weights], tmp_path: Path
) -> None:
    """Nothing of it is filled with chance."""
    network = build_with_head(name, kind, tmp_path)
    model = load(str(rewrite(tmp_path, change)))
    assert (model.language_model, model.task, model.classifier) == (None, None, None)
    with torch.no_grad():
        own = network(**inputs_of(name, TEXT), output_attentions=True).attentions
    np.testing.assert_allclose(trace_text(model, TEXT).attention(), torch.cat(own), atol=2e-5)
    with pytest.raises(UnsupportedModelError, match="no head that tells classes"):
        text_classes(model, TEXT)


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


def expected(network: torch.nn.Module, name: str, *texts: str) -> torch.Tensor:
    """The logits of transformers' own class, one text at a time."""
    with torch.inference_mode():
        logits: torch.Tensor = network(**inputs_of(name, *texts)).logits[0].double()
    return logits


@pytest.mark.parametrize(("name", "kind"), CLASSIFIERS.items())
def test_classes_and_the_effects_of_heads_on_them_are_by_the_logits_of_transformers(
    name: str, kind: str, tmp_path: Path
) -> None:
    settings: Any = {"id2label": LABELS, "num_labels": 3}
    network = build_with_head(name, kind, tmp_path, stir=0.3, **settings)
    model = load(str(tmp_path))
    assert model.labels == tuple(LABELS.values())
    assert measures_of(model)[0] == "class"
    given: Any = [(TEXT,), PAIR] if FAMILIES[name].pairs else [(TEXT,)]
    for texts in given:
        chances, order = expected(network, name, *texts).softmax(-1).sort(descending=True)
        labels, found = zip(*text_classes(model, *texts), strict=True)
        assert labels == tuple(LABELS[each] for each in order.tolist())
        assert found == pytest.approx(chances.tolist(), rel=1e-4)
    effect = effects(model, TEXT, "zero", draws=0)
    logits = expected(network, name, TEXT)
    best = int(logits.argmax())
    assert (effect.measure, effect.unit, effect.words) == ("class", "logits", (LABELS[best],))
    cut = without_heads(model, (1, 2), whole=network)
    fall = float(logits[best] - expected(cut, name, TEXT)[best])
    rounding = 1e-4 * float(logits.abs().max())
    assert effect.values[1, 2] == pytest.approx(fall, rel=1e-4, abs=rounding)
    assert abs(fall) > 10 * rounding


def test_several_classes_at_once_and_a_single_number_are_no_shares_of_one(tmp_path: Path) -> None:
    problem = "multi_label_classification"
    kind = CLASSIFIERS["bert"]
    network = build_with_head(
        "bert", kind, tmp_path / "many", stir=0.3, num_labels=8, problem_type=problem
    )
    chances = expected(network, "bert", TEXT).sigmoid().sort(descending=True).values[:5]
    found = text_classes(load(str(tmp_path / "many")), TEXT)
    assert [chance for _, chance in found] == pytest.approx(chances.tolist(), rel=1e-4)
    network = build_with_head("bert", kind, tmp_path / "one", stir=0.3, num_labels=1)
    ((_, number),) = text_classes(load(str(tmp_path / "one")), TEXT)
    assert number == pytest.approx(expected(network, "bert", TEXT).item(), rel=1e-4)
