"""An encoder-decoder's greedy answer: each token is the likeliest after those before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from transformers import AutoConfig, AutoTokenizer

from core.model.checks.weights import read_weights
from core.model.errors import EmptyTextError, UnsupportedModelError
from core.model.language import answer
from core.model.language.head import describe_answers, read_whole
from core.model.loaded import LoadedModel
from core.model.network import build_empty, count_numbers
from tests.model.families import SENTENCES, VOCABULARY
from tests.model.language.checkpoints import build_with_head

if TYPE_CHECKING:
    from pathlib import Path

    from transformers import PreTrainedModel

    from tests.conftest import ModelOf

KINDS = {"t5": "T5ForConditionalGeneration", "bart": "BartForConditionalGeneration"}
START = 2


def _open(folder: Path, **settings: Any) -> LoadedModel:
    """What `load` makes of a folder, without its checks; `settings` are added to config.json."""
    config = AutoConfig.from_pretrained(folder)
    whole = read_whole(
        config, build_empty(config), 10**6, read_weights([folder / "model.safetensors"])
    )
    assert whole is not None
    describe_answers(whole.language_model, config.to_dict() | settings)
    shape = {"layers": 2, "heads": 4, "kv_heads": 4, "dim": 8, "max_tokens": 64}
    return LoadedModel(
        name="tiny",
        tokenizer=AutoTokenizer.from_pretrained(folder),
        network=whole.base,
        device="cpu",
        parameters=count_numbers(whole.language_model),
        causal=False,
        probe_error=0.0,
        language_model=whole.language_model,
        task=whole.task,
        **shape,  # type: ignore[arg-type]
    )


def _greedy(network: PreTrainedModel, ids: list[int], count: int, end: int = -1) -> list[int]:
    """A whole pass for each token; `end` ends the answer."""
    written = [START]
    while len(written) < count and (len(written) == 1 or written[-1] != end):
        with torch.no_grad():
            logits = network(
                input_ids=torch.tensor([ids]), decoder_input_ids=torch.tensor([written])
            ).logits
        written.append(int(logits[0, -1].argmax()))
    return written


@pytest.mark.parametrize("name", KINDS)
def test_an_answer_takes_the_likeliest_token_each_time(name: str, tmp_path: Path) -> None:
    untied = {"tie_word_embeddings": False}
    network = build_with_head(
        name, KINDS[name], tmp_path, stir=0.5, decoder_start_token_id=START, **untied
    )
    model = _open(tmp_path, decoder_start_token_id=START)
    assert model.task == "answer"
    answers = []
    for text in SENTENCES[:2]:
        ids = model.tokenizer(text)["input_ids"]
        expected = _greedy(network, ids, 12, end=network.config.eos_token_id)
        answers.append(answer(model, text, max_tokens=12))
        assert answers[-1] == tuple(expected)
    assert len({*answers[0], *answers[1]}) > 5, "answers that say next to nothing prove nothing"
    assert answers[0] != answers[1]


@pytest.mark.parametrize("name", KINDS)
def test_the_parts_below_the_head_are_those_that_attend(name: str, tmp_path: Path) -> None:
    """In T5 they stand beside the head, without a network of their own."""
    network = build_with_head(name, KINDS[name], tmp_path, decoder_start_token_id=START)
    model = _open(tmp_path)
    given = {"input_ids": torch.tensor([[5, 6, 7]]), "decoder_input_ids": torch.tensor([[2, 9]])}
    with torch.no_grad():
        ours = model.network(**given).last_hidden_state
        own = network(**given, output_hidden_states=True).decoder_hidden_states[-1]
    torch.testing.assert_close(ours, own)
    assert model.language_model is not None
    shared = {id(weight) for weight in model.language_model.parameters()}
    assert {id(weight) for weight in model.network.parameters()} <= shared


def test_an_answer_obeys_the_tokens_that_its_settings_force_and_suppress(tmp_path: Path) -> None:
    build_with_head("bart", KINDS["bart"], tmp_path)
    plain = answer(_open(tmp_path), SENTENCES[0], max_tokens=6)
    forced = _open(
        tmp_path,
        forced_bos_token_id=17,
        forced_eos_token_id=18,
        suppress_tokens=sorted(set(plain[1:])),
    )
    ids = answer(forced, SENTENCES[0], max_tokens=6)
    assert (ids[0], ids[1], ids[-1]) == (START, 17, 18)
    assert not set(ids[2:-1]) & set(plain[1:])


def test_settings_that_name_no_token_are_ignored(tmp_path: Path) -> None:
    build_with_head("bart", KINDS["bart"], tmp_path)
    plain = answer(_open(tmp_path), SENTENCES[0], max_tokens=6)
    wrong = {
        "forced_bos_token_id": VOCABULARY,
        "forced_eos_token_id": True,
        "suppress_tokens": [-1, "x"],
        "begin_suppress_tokens": {"a": 1},
    }
    assert answer(_open(tmp_path, **wrong), SENTENCES[0], max_tokens=6) == plain


def test_a_model_without_such_a_head_and_an_empty_text_are_refused(
    tmp_path: Path, model_of: ModelOf
) -> None:
    with pytest.raises(UnsupportedModelError, match="no language-model head for answers"):
        answer(model_of("bert"), SENTENCES[0])
    build_with_head("bart", KINDS["bart"], tmp_path)
    with pytest.raises(EmptyTextError):
        answer(_open(tmp_path), "")
