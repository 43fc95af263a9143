"""The steps of a tokenizer: all that transformers has pass, and none can make much of a text."""

from __future__ import annotations

import base64
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import transformers
from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES

from core.model import load
from core.model.errors import ModelError, UnsupportedModelError
from core.model.opening import hub
from core.model.opening.steps import check_tokenizer
from tests.conftest import FolderOf

# As published with Llama 3, GPT-4o, DeepSeek-V3 (and for its digits), BLOOM, Falcon, SmolLM 3;
# those of GPT-2, CLIP and Qwen are among the tokenizers of transformers.
PUBLISHED = [
    (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+"
        r"[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+"
        r"|\s+(?!\S)|\s+"
    ),
    (
        r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
        r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    r"[一-龥぀-ゟ゠-ヿ]+",
    r" ?[^(\s|[.,!?…。，、।۔،])]+",
    "[0-9][0-9][0-9]",
    r"\p{N}{1,3}(?=(?:\p{N}{3})*(?:\P{N}|$))",
]
ENDLESS = ("(a|a)*[^a]", "a*a*[^a]", "(?<n>a)\\k<n>", "(a")


def content(**sections: Any) -> dict[str, Any]:
    """A tokenizer.json with these sections."""
    return {"model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}, **sections}


def replace(pattern: str, by: str, kind: str = "String") -> dict[str, Any]:
    """A step that replaces."""
    return {"type": "Replace", "pattern": {kind: pattern}, "content": by}


def sequence(*steps: dict[str, Any]) -> dict[str, Any]:
    """Steps one after the other."""
    return {"type": "Sequence", "normalizers": list(steps)}


def charsmap(text: bytes) -> dict[str, Any]:
    """A map of SentencePiece whose trie is empty and which leads to one text."""
    raw = (0).to_bytes(4, "little") + text + b"\0"
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(raw).decode()}


def splitting(pattern: str) -> dict[str, Any]:
    """A tokenizer.json that splits a text by a pattern."""
    return content(pre_tokenizer={"type": "Split", "pattern": {"Regex": pattern}})


@pytest.mark.slow
def test_what_every_type_of_tokenizer_does_to_a_text_is_bounded() -> None:
    """Those of BERT, GPT-2, T5, ALBERT, Llama, Gemma, CLIP, Qwen, DeBERTa and all others."""
    known = TOKENIZER_MAPPING_NAMES.values()
    names = {name for each in known for name in (each if isinstance(each, tuple) else (each,))}
    checked = 0
    for name in sorted(filter(None, names)):
        try:
            tokenizer = getattr(transformers, name)().backend_tokenizer
        except Exception:  # noqa: BLE001, S112 - it is a slow one, or needs a file
            continue
        check_tokenizer(json.loads(tokenizer.to_str()))
        checked += 1
    assert checked > 50


def test_a_pattern_that_is_no_published_one_is_refused_but_in_ones_own_folder() -> None:
    for pattern in PUBLISHED:
        check_tokenizer(splitting(pattern))
    for pattern in ENDLESS:
        with pytest.raises(UnsupportedModelError, match="no published one"):
            check_tokenizer(splitting(pattern))
        check_tokenizer(splitting(pattern), own=True)


@pytest.mark.parametrize(
    ("sections", "problem"),
    [
        ({"normalizer": replace("", "x")}, "looks for nothing"),
        ({"normalizer": replace("", "x", "Regex")}, "looks for nothing"),
        ({"decoder": replace("", "x")}, "looks for nothing"),
        ({"normalizer": sequence(*[replace("a", "aa")] * 18)}, "too many or not known"),
        ({"normalizer": sequence(*[replace("a", "aa")] * 5)}, "makes a text longer"),
        ({"normalizer": replace("a", "a" * 17)}, "makes a text longer"),
        ({"normalizer": replace("a|", "a" * 16, "Regex")}, "no published one"),
        ({"normalizer": sequence(*[{"type": "ByteLevel"}] * 5)}, "lengthens a text twice"),
        ({"normalizer": {"type": "Prepend", "prepend": "x" * 65}}, "64 characters"),
        ({"normalizer": charsmap(b"x" * 65)}, "64 characters"),
        ({"normalizer": sequence(charsmap(b"x"), charsmap(b"x"))}, "lengthens a text twice"),
        ({"normalizer": {"type": "Custom"}}, "not known"),
        ({"pre_tokenizer": {"type": "FixedLength", "length": 0}}, "not known"),
        (
            {"post_processor": {"type": "TemplateProcessing", "single": ["a"] * 300}},
            "more than 256 values",
        ),
        ({"added_tokens": [{"content": "x" * 1_001}]}, "more than 1,000 characters"),
        ({"model": {"type": "BPE", "end_of_word_suffix": "x" * 65}}, "64 characters"),
        ({"model": {"type": "WordPiece", "max_input_chars_per_word": 10**6}}, "1,000 characters"),
        ({"model": {"type": "Own"}}, "no vocabulary of a known kind"),
    ],
)
def test_a_step_that_makes_much_of_a_text_is_refused(
    sections: dict[str, Any], problem: str
) -> None:
    with pytest.raises(UnsupportedModelError, match=re.escape(problem)):
        check_tokenizer(content(**sections))


def test_a_pattern_of_ones_own_opens_from_ones_own_folder_only(
    folder_of: FolderOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(shutil.copytree(folder_of("bert"), tmp_path / "model"))
    vocabulary = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    split = {"type": "Split", "pattern": {"Regex": "(a|b)*c"}, "behavior": "Isolated"}
    vocabulary["pre_tokenizer"] = split | {"invert": False}
    (folder / "tokenizer.json").write_text(json.dumps(vocabulary), "utf-8")
    assert load(str(folder)).layers == 3
    monkeypatch.setattr(hub, "cached_folder", lambda _: folder)
    with pytest.raises(ModelError, match="a pattern that is no published one"):
        load("some/stranger")
