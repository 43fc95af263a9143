"""An encoder-decoder's greedy answer: each token is the likeliest after those before it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import torch

from core.model import LoadedModel, load, trace_text
from core.model.encoder_decoder.targets import MAX_ANSWER, greedy_ids
from tests.model.families import SENTENCES
from tests.model.language.checkpoints import ANSWERING, build_with_head

if TYPE_CHECKING:
    from pathlib import Path

    from transformers import PreTrainedModel

START = 2


def opened(folder: Path, **settings: Any) -> LoadedModel:
    """The model in a folder, with `settings` added to its config.json."""
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))
    model = load(str(folder))
    assert model.task == "answer"
    return model


def answered(model: LoadedModel, text: str, count: int = 6) -> list[int]:
    assert model.language_model is not None
    return greedy_ids(model.language_model, model.tokenizer(text)["input_ids"], count)


def one_by_one(network: PreTrainedModel, ids: list[int], count: int, end: int) -> list[int]:
    """A whole pass for each token; `end` ends the answer."""
    written = [START]
    while len(written) < count and (len(written) == 1 or written[-1] != end):
        with torch.no_grad():
            logits = network(
                input_ids=torch.tensor([ids]), decoder_input_ids=torch.tensor([written])
            ).logits
        written.append(int(logits[0, -1].argmax()))
    return written


@pytest.mark.slow
@pytest.mark.parametrize("name", ANSWERING)
def test_an_answer_takes_the_likeliest_token_each_time(name: str, tmp_path: Path) -> None:
    network = build_with_head(
        name,
        ANSWERING[name],
        tmp_path,
        stir=0.5,
        decoder_start_token_id=START,
        tie_word_embeddings=False,
    )
    model = opened(tmp_path, decoder_start_token_id=START)
    end = network.config.eos_token_id
    answers = []
    for text in SENTENCES[:2]:
        expected = one_by_one(network, model.tokenizer(text)["input_ids"], MAX_ANSWER, end)
        trace = trace_text(model, text).of_type("cross")
        ids = [token.id for token in trace.tokens]
        assert ids == (expected[:-1] if expected[-1] == end else expected)
        assert trace.origin == "answer"
        answers.append(ids)
    assert len({*answers[0], *answers[1]}) > 5, "answers that say next to nothing prove nothing"
    assert answers[0] != answers[1]


def test_an_answer_obeys_the_tokens_that_its_settings_force_and_suppress(tmp_path: Path) -> None:
    build_with_head("bart", ANSWERING["bart"], tmp_path)
    plain = answered(opened(tmp_path), SENTENCES[0])
    settings = {"forced_bos_token_id": 17, "forced_eos_token_id": 18}
    forced = opened(tmp_path, suppress_tokens=sorted(set(plain[1:])), **settings)
    ids = answered(forced, SENTENCES[0])
    assert (ids[0], ids[1], ids[-1]) == (START, 17, 18)
    assert not set(ids[2:-1]) & set(plain[1:])
