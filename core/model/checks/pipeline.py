"""What a tokenizer.json does to a text, step by step, and whether that is bounded.

A file of 2 kB can make 6 GB of one sentence: eighteen steps that double every letter, one that puts
40 MB before it. So the steps must be known ones, few, and short, and together they may lengthen a
text only so far.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Mapping
from math import ceil, prod
from typing import TYPE_CHECKING

from core.model.checks.patterns import ends_soon
from core.model.errors import UnsupportedModelError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    Step = Mapping[str, object]

# All of tokenizers 0.23, by the section that they belong to.
_NORMALIZERS = (
    *("BertNormalizer", "ByteLevel", "Lowercase", "NFC", "NFD", "NFKC", "NFKD", "Nmt"),
    *("Precompiled", "Prepend", "Replace", "Sequence", "Strip", "StripAccents"),
)
_PRE_TOKENIZERS = (
    *("BertPreTokenizer", "ByteLevel", "CharDelimiterSplit", "Digits", "FixedLength", "Metaspace"),
    *("Punctuation", "Sequence", "Split", "UnicodeScripts", "Whitespace", "WhitespaceSplit"),
)
_DECODERS = (
    *("BPEDecoder", "ByteFallback", "ByteLevel", "CTC", "Fuse", "Metaspace", "Replace"),
    *("Sequence", "Strip", "WordPiece"),
)
_KNOWN = {
    "normalizer": _NORMALIZERS,
    "pre_tokenizer": _PRE_TOKENIZERS,
    "post_processor": (
        *("BertProcessing", "ByteLevel", "RobertaProcessing", "Sequence", "TemplateProcessing"),
    ),
    "decoder": _DECODERS,
}
_MODELS = frozenset({"BPE", "Unigram", "WordLevel", "WordPiece"})
_INNER = ("normalizers", "pretokenizers", "processors", "decoders")  # of a Sequence
_MAX_STEPS = 16  # of a section; published tokenizers have at most eight
_MAX_CHARACTERS = 64  # of anything that a step adds or looks for
_MAX_VALUES = 256  # in one step: a template names each special token four times
_MAX_GROWTH = 16  # times; published tokenizers reach eight, with four replacements
_MAX_WORD = 1_000  # characters of a word that WordPiece takes apart: the square is its time
_USUAL_RUN = 18  # characters that the map of SentencePiece makes of one (U+FDFA)
_MAX_TOKEN = 1_000  # characters of an added token: each is searched for in every text
_ADVICE = "Save the model with the tokenizer of its own family, and open that folder."


def check_file(content: object) -> None:
    """Refuse the content of a tokenizer.json that is not bounded.

    Raises
    ------
    UnsupportedModelError
        With the step and what is wrong with it.
    """
    if not isinstance(content, dict):
        raise _refusal("is not a JSON object")
    check_steps(content)
    _check_model(content.get("model"))
    for token in content.get("added_tokens") or ():
        text = token.get("content") if isinstance(token, dict) else token
        if not isinstance(text, str) or len(text) > _MAX_TOKEN:
            raise _refusal(
                f"has an added token that is none, or has more than {_MAX_TOKEN:,} characters"
            )


def check_built(tokenizer: Tokenizer) -> None:
    """The same of a tokenizer that was built from another file, such as one of SentencePiece."""
    check_steps(
        {
            section: json.loads(getattr(tokenizer, section).__getstate__())
            for section in ("normalizer", "pre_tokenizer")
            if getattr(tokenizer, section) is not None
        }
    )


def check_steps(sections: Step) -> None:
    """Refuse steps that are unknown, too many or too long, or that lengthen a text too much.

    Raises
    ------
    UnsupportedModelError
        With the step and what is wrong with it.
    """
    growths = []
    for section, known in _KNOWN.items():
        steps = list(_steps(sections.get(section)))
        if len(steps) > _MAX_STEPS:
            raise _refusal(f"has more than {_MAX_STEPS} steps ({section})")
        for step in steps:
            if step.get("type") not in known:
                raise _refusal(f"has a step that is not known ({section})")
            _check_values(step)
            growths.append(1 if section in ("post_processor", "decoder") else _growth(step))
        if sum(step["type"] == "Precompiled" for step in steps) > 1:
            raise _refusal("maps its characters twice")
    if prod(growths) > _MAX_GROWTH:
        raise _refusal(f"can make a text more than {_MAX_GROWTH} times as long")


def _steps(step: object, depth: int = 0) -> Iterator[Step]:
    """A step and, of a Sequence, those in it; one more than are allowed is enough to know."""
    if step is None:
        return
    if not isinstance(step, dict) or depth > _MAX_STEPS:
        raise _refusal("has a step that is not known")
    yield step
    for name in _INNER:
        inner = step.get(name)
        for each in inner[: _MAX_STEPS + 1] if isinstance(inner, list) else ():
            yield from _steps(each, depth + 1)


def _check_values(step: Step) -> None:
    """Refuse a step with long or many values, or a pattern that is empty or may never end."""
    own = {name: value for name, value in step.items() if name not in _INNER}
    own.pop("precompiled_charsmap", None)
    pattern = own.pop("pattern", None)
    looked_for = _pattern(pattern)
    if pattern is not None and not looked_for:
        raise _refusal(f"looks for nothing ({step['type']})")
    if isinstance(pattern, dict) and "Regex" in pattern:
        if not ends_soon(looked_for):
            raise _refusal("splits texts by a pattern that may take for ever")
    else:
        own["pattern"] = looked_for
    values = list(_scalars(own))
    if len(values) > _MAX_VALUES:
        raise _refusal(f"has a step of {len(values):,} values ({step['type']})")
    if any(isinstance(value, str) and len(value) > _MAX_CHARACTERS for value in values):
        raise _refusal(f"has a step of more than {_MAX_CHARACTERS} characters ({step['type']})")
    if step["type"] == "FixedLength" and step.get("length") == 0:
        raise _refusal("cuts texts into pieces of no characters")


def _pattern(pattern: object) -> str:
    """What a step looks for; empty where it looks for nothing."""
    if isinstance(pattern, dict):
        pattern = pattern.get("Regex", pattern.get("String"))
    return pattern if isinstance(pattern, str) else ""


def _scalars(value: object) -> Iterator[object]:
    """Numbers, texts and names in a value, however deep."""
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _scalars(each)
    else:
        yield value


def _growth(step: Step) -> int:
    """How many times as long a step makes a text at most, beyond what Unicode itself does."""
    if step["type"] == "ByteLevel":  # what is not ASCII has two bytes or more
        return 2
    if step["type"] == "Precompiled":
        return ceil(_longest_run(step.get("precompiled_charsmap")) / _USUAL_RUN)
    if step["type"] != "Replace":
        return 1
    added, pattern = len(str(step.get("content") or "")), step.get("pattern")
    if isinstance(pattern, dict) and "Regex" in pattern:  # it may match between two characters
        return 1 + added
    return max(1, ceil(added / len(_pattern(pattern))))


def _longest_run(charsmap: object) -> int:
    """The most characters that a map of SentencePiece makes of one.

    It is the size of a trie (four bytes), the trie, and what it leads to: texts that end with NUL.
    """
    try:
        raw = base64.b64decode(charsmap or "", validate=True) if isinstance(charsmap, str) else b""
    except (ValueError, binascii.Error):
        raise _refusal("has a map of characters that cannot be read") from None
    texts = raw[4 + int.from_bytes(raw[:4], "little") :].split(b"\0")
    longest = max(len(text.decode("utf-8", "replace")) for text in texts)
    if longest > _MAX_CHARACTERS:
        raise _refusal(f"makes {longest:,} characters of one")
    return max(1, longest)


def _check_model(model: object) -> None:
    if not isinstance(model, dict) or model.get("type", "BPE") not in _MODELS:
        raise _refusal("has no vocabulary of a known kind")
    short = {name: value for name, value in model.items() if isinstance(value, str)}
    if any(len(value) > _MAX_CHARACTERS for value in short.values()):
        raise _refusal(f"puts more than {_MAX_CHARACTERS} characters beside each piece of a word")
    word = model.get("max_input_chars_per_word", 0)
    if not isinstance(word, int) or word > _MAX_WORD:
        raise _refusal(f"takes words of more than {_MAX_WORD:,} characters apart")


def _refusal(problem: str) -> UnsupportedModelError:
    return UnsupportedModelError(f"The tokenizer of {{name}} {problem}.", _ADVICE)
