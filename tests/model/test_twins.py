"""The untrained twin of a model: the same architecture and head, with fresh weights."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import numpy as np
import pytest
import torch

from core.model import LoadedModel, effects, load, trace_image, trace_text, untrained_twin
from core.model.interventions.measures import measures_of
from core.model.language import next_words
from tests.model.bundled import loaded
from tests.model.families import SENTENCES
from tests.model.image.families import FAMILIES, build, image
from tests.model.language.checkpoints import WITH_HEAD, build_with_head


def _weights(model: LoadedModel) -> dict[str, torch.Tensor]:
    return dict((model.language_model or model.network).named_parameters())


def _check(model: LoadedModel) -> LoadedModel:
    """The twin, once it is known to be one, and the model and torch's state to be as before."""
    before = torch.get_rng_state()
    own = {name: weight.clone() for name, weight in _weights(model).items()}
    twin = untrained_twin(model)
    again, other = _weights(untrained_twin(model)), _weights(untrained_twin(model, seed=1))
    fresh = _weights(twin)
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(weight, own[name]) for name, weight in _weights(model).items())
    assert {name: each.shape for name, each in fresh.items()} == {
        name: each.shape for name, each in own.items()
    }
    for name, weight in fresh.items():
        assert torch.equal(weight, again[name])
        if weight.ndim > 1:
            assert not torch.equal(weight, own[name])
            assert not torch.equal(weight, other[name])
    held = {weight.data_ptr() for weight in fresh.values()}
    assert {weight.data_ptr() for weight in twin.network.parameters()} <= held
    assert not any(weight.requires_grad for weight in fresh.values())
    traces = [trace_text(each, SENTENCES[0], decode=False) for each in (model, twin)]
    assert traces[0].shape == traces[1].shape
    assert traces[0].tokens == traces[1].tokens
    assert np.abs(traces[0].attention() - traces[1].attention()).max() > 0.01
    assert measures_of(twin) == measures_of(model)
    found = effects(twin, SENTENCES[0], reference=SENTENCES[:2], draws=1)
    assert found.measure == measures_of(model)[0]
    assert (found.values != 0).any()
    return twin


@pytest.mark.parametrize("name", ["gpt2", "bert", "llama", "t5", "bart"])
def test_with_its_head_a_model_has_a_twin_with_a_fresh_head(name: str, tmp_path: Path) -> None:
    build_with_head(name, WITH_HEAD[name], tmp_path, stir=0.3)
    twin = _check(load(str(tmp_path)))
    assert type(twin.language_model).__name__ == WITH_HEAD[name]


def test_tied_words_stay_tied_no_word_is_likely_and_a_classifier_is_fresh_around_its_twin() -> None:
    model = loaded("bundled/gpt2-novels")
    twin = untrained_twin(model)
    assert twin.language_model is not None
    embeddings = twin.network.get_input_embeddings().weight
    assert twin.language_model.get_output_embeddings().weight is embeddings
    likely, unlikely = (next_words(each, "The young lady", count=1)[0] for each in (model, twin))
    assert likely.probability > 0.02 > unlikely.probability
    vit = loaded("bundled/vit-scenes")
    twin = untrained_twin(vit)
    own, fresh = vit.classifier, twin.classifier
    assert own is not None
    assert fresh is not None
    assert any(part is twin.network for part in fresh.children())
    assert not torch.equal(fresh.classifier.weight, own.classifier.weight)  # type: ignore[union-attr]


def test_a_twin_is_gone_once_nobody_holds_it(tmp_path: Path) -> None:
    build(FAMILIES["vit"], tmp_path)
    model = load(str(tmp_path), modality="image")
    twin = untrained_twin(model)
    trace = trace_image(twin, image())
    network = weakref.ref(twin.network)
    del twin
    gc.collect()
    assert network() is None
    assert trace.shape[0] == model.layers
