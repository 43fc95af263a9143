"""Classes of texts, by the head of a fine-tuned classifier: transformers' own logits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from core.model import effects, load
from core.model.errors import UnsupportedModelError
from core.model.interventions.measures import measures_of
from core.model.language import text_classes
from tests.model.families import FAMILIES, PAIR, rewrite, without
from tests.model.interventions.surgery import without_heads
from tests.model.language.checkpoints import build_with_head

if TYPE_CHECKING:
    from pathlib import Path


TEXT = "The cat sat on the mat because it was tired."
LABELS = {0: "negative", 1: "neutral", 2: "positive"}
CLASSIFIERS = {
    "bert": "BertForSequenceClassification",
    "roberta": "RobertaForSequenceClassification",
    "distilbert": "DistilBertForSequenceClassification",
    "gpt2": "GPT2ForSequenceClassification",
    "llama": "LlamaForSequenceClassification",
}


def expected(network: torch.nn.Module, name: str, *texts: str) -> torch.Tensor:
    """The logits of transformers' own class, one text at a time."""
    inputs = FAMILIES[name].tokenizer()(*texts, return_tensors="pt")
    with torch.inference_mode():
        logits: torch.Tensor = network(**inputs).logits[0].double()
    return logits


@pytest.fixture(params=sorted(CLASSIFIERS))
def classifier(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, torch.nn.Module]:
    name = request.param
    return name, build_with_head(
        name, CLASSIFIERS[name], tmp_path, stir=0.3, id2label=LABELS, num_labels=3
    )


def test_probabilities_are_the_softmax_of_transformers_logits(
    classifier: tuple[str, torch.nn.Module], tmp_path: Path
) -> None:
    name, network = classifier
    model = load(str(tmp_path))
    assert model.labels == tuple(LABELS.values())
    assert measures_of(model)[0] == "class"
    for text, pair in [(TEXT, None), PAIR] if FAMILIES[name].pairs else [(TEXT, None)]:
        chances = expected(network, name, *filter(None, (text, pair))).softmax(-1)
        found = dict(text_classes(model, text, pair))
        assert [found[label] for label in LABELS.values()] == pytest.approx(
            chances.tolist(), rel=1e-4
        )
        assert list(found) == [LABELS[int(each)] for each in chances.argsort(descending=True)]


def test_the_effect_of_a_head_is_the_fall_of_the_likeliest_class(
    classifier: tuple[str, torch.nn.Module], tmp_path: Path
) -> None:
    name, network = classifier
    model = load(str(tmp_path))
    found = effects(model, TEXT, "zero")
    logits = expected(network, name, TEXT)
    best = int(logits.argmax())
    assert (found.measure, found.unit, found.words) == ("class", "logits", (LABELS[best],))
    cut = without_heads(model, (1, 2), whole=network)
    fall = float(logits[best] - expected(cut, name, TEXT)[best])
    rounding = 1e-4 * float(logits.abs().max())
    assert found.values[1, 2] == pytest.approx(fall, rel=1e-4, abs=rounding)
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


def test_a_head_whose_pooler_is_missing_is_not_filled_with_chance(tmp_path: Path) -> None:
    build_with_head("bert", CLASSIFIERS["bert"], tmp_path, num_labels=3)
    model = load(str(rewrite(tmp_path, without("pooler"))))
    assert model.classifier is None
    with pytest.raises(UnsupportedModelError, match="no head that tells classes"):
        text_classes(model, TEXT)
