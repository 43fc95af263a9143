"""The logit lens against the final norm and the head for words, applied by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch

from core.model import load
from core.model.interventions.lens import logit_lens
from core.model.interventions.measures import probe_of
from core.model.language import next_words
from tests.model.bundled import loaded
from tests.model.families import SENTENCES, nightly
from tests.model.interventions.test_direct import MIXTURES
from tests.model.sweep.tiny import build_causal

if TYPE_CHECKING:
    from pathlib import Path

TEXT = SENTENCES[1]
NORMS = ("norm", "norm_f", "ln_f", "final_layer_norm")


DAILY = {"gpt2", "llama", "mixtral", "dbrx"}


@pytest.mark.parametrize("kind", nightly(("gpt2", "llama", "gpt_neox", *MIXTURES), but=DAILY))
def test_after_each_layer_the_final_norm_reads_what_stands_there(kind: str, tmp_path: Path) -> None:
    build_causal(kind, tmp_path)
    model = load(str(tmp_path))
    network: Any = model.language_model
    norm = next(filter(None, (getattr(model.network, name, None) for name in NORMS)))
    probe = probe_of(model, TEXT, "logit_difference")
    with torch.inference_mode():
        output = network(**probe.inputs(1), output_hidden_states=True)
        whole = output.logits[0, probe.position].double().log_softmax(-1)
        head = network.get_output_embeddings()
        found = logit_lens(model, TEXT)
        assert found is not None
        assert len(found) == len(output.hidden_states)
        for lens, states in zip(found[:-1], output.hidden_states[:-1], strict=True):
            chances = head(norm(states[0, probe.position])).double().log_softmax(-1)
            order = chances.argsort(descending=True).tolist()
            texts = [model.tokenizer.decode([each]) for each in order]
            is_text = [each.strip().isprintable() and each not in {"", "\ufffd"} for each in texts]
            places = [place for place, text in enumerate(is_text) if text][:3]
            best = [order[place] for place in places]
            assert [each.id for each in lens.guesses] == best
            assert lens.passed_over == places[-1] - 2
            assert [each.probability for each in lens.guesses] == pytest.approx(
                chances[best].exp().tolist(), rel=1e-4
            )
            assert lens.kl == pytest.approx(
                float((whole.exp() * (whole - chances)).sum()), rel=1e-3
            )
            assert lens.probability == pytest.approx(float(chances[whole.argmax()].exp()), rel=1e-4)


def test_after_the_last_layer_it_is_what_the_model_says() -> None:
    model = loaded("bundled/gpt2-novels")
    found = logit_lens(model, TEXT)
    assert found is not None
    expected = [each.id for each in next_words(model, TEXT, count=3)]
    assert [each.id for each in found[-1].guesses] == expected
    assert found[-1].kl == 0
    assert logit_lens(loaded("bundled/minilm"), TEXT) is None
