"""Translators: what their decoders read and write begins as transformers has it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from transformers import AutoTokenizer, PreTrainedModel

from core.model import LoadedModel, load, trace_text
from core.model.encoder_decoder import MAX_ANSWER
from core.model.errors import UnsupportedModelError, WrongInputError
from core.model.text.languages import codes, own_languages
from tests.model.translators import TRANSLATORS, build_translator

TEXT, TARGET = "the cat sat", "the mat"


class Opened(NamedTuple):
    folder: Path
    network: PreTrainedModel
    languages: tuple[str, str, str]
    model: LoadedModel


@pytest.fixture(scope="module", params=TRANSLATORS)
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Opened:
    folder = tmp_path_factory.mktemp(request.param)
    return Opened(folder, *build_translator(request.param, folder), load(str(folder)))


def read_ids(model: LoadedModel, target: str | None, languages: Any = None) -> list[int]:
    trace = trace_text(model, TEXT, target=target, languages=languages)
    return [token.id for token in trace.of_type("decoder").tokens]


def shifted(network: PreTrainedModel, tokenizer: Any) -> list[int]:
    """What transformers' own decoder gets of the target in training."""
    labels = tokenizer(text_target=TARGET, return_tensors="pt")["input_ids"]
    with torch.no_grad():
        given = tokenizer(TEXT, return_tensors="pt")["input_ids"]
        seen: list[Any] = []
        network.get_decoder().register_forward_pre_hook(
            lambda _, __, options: seen.append(options["input_ids"]), with_kwargs=True
        )
        network(input_ids=given, labels=labels)
    ids: list[int] = seen[0][0].tolist()
    return ids


def test_the_decoder_reads_its_text_in_the_language_that_the_tokenizer_names(
    opened: Opened,
) -> None:
    folder, network, (source, target, _), model = opened
    assert own_languages(model) == (source, target)
    ids = read_ids(model, TARGET)
    assert ids == shifted(network, AutoTokenizer.from_pretrained(folder))
    assert target in model.tokenizer.convert_ids_to_tokens(ids)


def test_both_languages_may_be_chosen(opened: Opened) -> None:
    folder, network, (source, target, third), model = opened
    assert {source, target, third} <= set(codes(model))
    own = AutoTokenizer.from_pretrained(folder, src_lang=target, tgt_lang=third)
    assert read_ids(model, TARGET, (target, third)) == shifted(network, own)
    trace = trace_text(model, TEXT, languages=(target, third))
    assert [token.id for token in trace.tokens] == own(TEXT)["input_ids"]
    plain = trace_text(model, TEXT)
    assert plain.tokens != trace.tokens, "the choice is for one text"
    assert source in model.tokenizer.convert_ids_to_tokens([token.id for token in plain.tokens])


@pytest.mark.parametrize(
    ("kind", "file"),
    [*((kind, "generation_config.json") for kind in TRANSLATORS), ("nllb", "config.json")],
)
def test_an_answer_begins_with_the_language_that_the_settings_force(
    kind: str, file: str, tmp_path: Path
) -> None:
    network, (_, _, third) = build_translator(kind, tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    forced = tokenizer.convert_tokens_to_ids(third)
    path = tmp_path / file
    content = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(content | {"forced_bos_token_id": forced}))
    model = load(str(tmp_path))
    assert own_languages(model) is not None
    assert own_languages(model)[1] == third  # type: ignore[index]
    expected = answer(network, tokenizer, forced_bos_token_id=forced)
    assert expected[1] == forced
    assert read_ids(model, None) == expected


def answer(network: PreTrainedModel, tokenizer: Any, **options: int) -> list[int]:
    """Transformers' own greedy answer, without the end."""
    given = tokenizer(TEXT, return_tensors="pt")["input_ids"]
    ids: list[int] = network.generate(  # type: ignore[operator]
        given, max_length=MAX_ANSWER, do_sample=False, num_beams=1, **options
    )[0].tolist()
    return ids[:-1] if ids[-1] == tokenizer.eos_token_id else ids


def test_a_language_it_does_not_have_is_refused(tmp_path: Path) -> None:
    build_translator("nllb", tmp_path)
    with pytest.raises(WrongInputError, match="has no language “xx_XX”"):
        trace_text(load(str(tmp_path)), TEXT, languages=("eng_Latn", "xx_XX"))


def test_the_tokenizer_of_m2m100_is_none_of_the_fast_ones(tmp_path: Path) -> None:
    build_translator("nllb", tmp_path)
    path = tmp_path / "tokenizer_config.json"
    path.write_text(
        json.dumps(json.loads(path.read_text()) | {"tokenizer_class": "M2M100Tokenizer"})
    )
    with pytest.raises(UnsupportedModelError, match="no fast tokenizer"):
        load(str(tmp_path))
