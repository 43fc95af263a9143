"""The steps of a tokenizer: all that transformers has pass, and none can make much of a text."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import pytest
import transformers
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES

from core.model.checks.patterns import ends_soon
from core.model.checks.pipeline import check_built, check_file
from core.model.errors import UnsupportedModelError

# As published with GPT-2, CLIP, Llama 3, GPT-4o, DeepSeek-V3 (and for its digits), BLOOM, Falcon,
# SmolLM 3.
PUBLISHED = [
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"""'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+""",
    (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+"
        r"[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
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
ENDLESS = [
    "(a|a)*[^a]",
    "(?:a+)+[^a]",
    "a*a*[^a]",
    "a*(?=a*b)",
    "a*(?:x|)a*b",
    "(?:a{1,3})+",
    "a{1,3}+",
    "(?:(?:a|a)b)*c",
    "a{0,1000}a{0,1000}b",
    "(a*){3}b",
    "a?" * 20 + "b",
    "(a)\\1",
    "(?<n>a)\\k<n>",
    "(?x) a # b",
    "(a",
    "[a",
]


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


def built() -> dict[str, Tokenizer]:
    """The tokenizers of transformers that can be made without a file."""
    names = {
        name
        for names in TOKENIZER_MAPPING_NAMES.values()
        for name in (names if isinstance(names, tuple) else (names,))
    }
    found: dict[str, Tokenizer] = {}
    for name in sorted(filter(None, names)):
        try:
            found[name] = getattr(transformers, name)().backend_tokenizer
        except Exception:  # noqa: BLE001, S112 - it is a slow one, or needs a file
            continue
    return found


@pytest.mark.slow
def test_what_every_type_of_tokenizer_does_to_a_text_is_bounded() -> None:
    """Those of BERT, GPT-2, T5, ALBERT, Llama, Gemma, CLIP, Qwen, DeBERTa and all others."""
    tokenizers = built()
    assert len(tokenizers) > 50
    for tokenizer in tokenizers.values():
        check_file(json.loads(tokenizer.to_str()))
        check_built(tokenizer)


@pytest.mark.parametrize("pattern", PUBLISHED)
def test_published_patterns_end_soon(pattern: str) -> None:
    assert ends_soon(pattern)
    check_file(content(pre_tokenizer={"type": "Split", "pattern": {"Regex": pattern}}))


@pytest.mark.parametrize("pattern", ENDLESS)
def test_patterns_that_backtrack_without_end_are_refused(pattern: str) -> None:
    with pytest.raises(UnsupportedModelError, match="by a pattern that may take for ever"):
        check_file(content(pre_tokenizer={"type": "Split", "pattern": {"Regex": pattern}}))


@pytest.mark.parametrize(
    ("sections", "problem"),
    [
        ({"normalizer": replace("", "x")}, "looks for nothing"),
        ({"normalizer": replace("", "x", "Regex")}, "looks for nothing"),
        ({"decoder": replace("", "x")}, "looks for nothing"),
        ({"normalizer": sequence(*[replace("a", "aa")] * 18)}, "more than 16 steps"),
        ({"normalizer": sequence(*[replace("a", "aa")] * 5)}, "more than 16 times as long"),
        ({"normalizer": replace("a", "a" * 17)}, "more than 16 times as long"),
        ({"normalizer": replace("a|", "a" * 16, "Regex")}, "more than 16 times as long"),
        ({"normalizer": sequence(*[{"type": "ByteLevel"}] * 5)}, "more than 16 times as long"),
        ({"normalizer": {"type": "Prepend", "prepend": "x" * 65}}, "more than 64 characters"),
        ({"normalizer": charsmap(b"x" * 65)}, "makes 65 characters of one"),
        ({"normalizer": sequence(charsmap(b"x"), charsmap(b"x"))}, "maps its characters twice"),
        ({"normalizer": {"type": "Custom"}}, "not known"),
        ({"pre_tokenizer": {"type": "FixedLength", "length": 0}}, "of no characters"),
        (
            {"post_processor": {"type": "TemplateProcessing", "single": ["a"] * 300}},
            "has a step of 305 values",
        ),
        ({"added_tokens": [{"content": "x" * 1_001}]}, "more than 1,000 characters"),
        ({"model": {"type": "BPE", "end_of_word_suffix": "x" * 65}}, "more than 64 characters"),
        ({"model": {"type": "WordPiece", "max_input_chars_per_word": 10**6}}, "1,000 characters"),
        ({"model": {"type": "Own"}}, "no vocabulary of a known kind"),
    ],
)
def test_a_step_that_makes_much_of_a_text_is_refused(
    sections: dict[str, Any], problem: str
) -> None:
    with pytest.raises(UnsupportedModelError, match=re.escape(problem)):
        check_file(content(**sections))


def test_what_was_built_of_another_file_is_looked_at_too() -> None:
    """A map of SentencePiece comes from spiece.model, not from tokenizer.json."""
    tokenizer = Tokenizer(models.WordLevel({"a": 0}, unk_token="a"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("(a|a)*[^a]"), "isolated")
    with pytest.raises(UnsupportedModelError, match="take for ever"):
        check_built(tokenizer)
    tokenizer.pre_tokenizer = None
    tokenizer.normalizer = normalizers.Prepend("x" * 65)
    with pytest.raises(UnsupportedModelError, match="64 characters"):
        check_built(tokenizer)
