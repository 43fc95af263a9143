"""What a tokenizer.json may do to a text: known steps of short values, and published patterns.

A file of 2 kB can make 6 GB of one sentence: eighteen steps that double every letter, one that puts
40 MB before it. So nothing is worked out about a step: it is on the list, or refused.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping

from core.model.checks.published import is_published
from core.model.errors import UnsupportedModelError

Step = Mapping[str, object]

# Of tokenizers 0.23, by the section that they belong to.
_KNOWN = {
    "normalizer": (
        *("BertNormalizer", "ByteLevel", "Lowercase", "NFC", "NFD", "NFKC", "NFKD", "Nmt"),
        *("Precompiled", "Prepend", "Replace", "Sequence", "Strip", "StripAccents"),
    ),
    "pre_tokenizer": (
        *("BertPreTokenizer", "ByteLevel", "CharDelimiterSplit", "Digits", "Metaspace"),
        *("Punctuation", "Sequence", "Split", "UnicodeScripts", "Whitespace", "WhitespaceSplit"),
    ),
    "post_processor": (
        *("BertProcessing", "ByteLevel", "RobertaProcessing", "Sequence", "TemplateProcessing"),
    ),
    "decoder": (
        *("BPEDecoder", "ByteFallback", "ByteLevel", "CTC", "Fuse", "Metaspace", "Replace"),
        *("Sequence", "Strip", "WordPiece"),
    ),
}
_MODELS = ("BPE", "Unigram", "WordLevel", "WordPiece")
_ONCE = ("ByteLevel", "Precompiled", "Prepend")  # of a section: they make a text longer
_INNER = ("normalizers", "pretokenizers", "processors", "decoders")  # of a Sequence
_MAX_STEPS = 16  # of a section; published tokenizers have at most eight
_MAX_CHARACTERS = 64  # of anything that a step adds or looks for
_MAX_VALUES = 256  # in one step: a template names each special token four times
_MAX_WORD = 1_000  # characters of a word that WordPiece takes apart: the square is its time
_MAX_TOKEN = 1_000  # characters of an added token: each is searched for in every text
_ADVICE = "Save the model with the tokenizer of its own family, and open that folder."


def check_tokenizer(content: object, *, own: bool = False) -> None:
    """Refuse the content of a tokenizer.json that is not bounded.

    In a person's `own` folder, patterns need not be published ones.

    Raises
    ------
    UnsupportedModelError
        With what is wrong.
    """
    if not isinstance(content, dict):
        raise _refusal("is not a JSON object")
    for section, known in _KNOWN.items():
        steps = list(_steps(content.get(section)))
        types = [step.get("type") for step in steps]
        if len(steps) > _MAX_STEPS or any(name not in known for name in types):
            raise _refusal(f"has steps that are too many or not known ({section})")
        if any(types.count(name) > 1 for name in _ONCE):
            raise _refusal(f"lengthens a text twice ({section})")
        for step in steps:
            _check_step(step, own)
    model = content.get("model")
    if not isinstance(model, dict) or model.get("type", "BPE") not in _MODELS:
        raise _refusal("has no vocabulary of a known kind")
    _check_lengths([value for value in model.values() if isinstance(value, str)])
    word = model.get("max_input_chars_per_word", 0)
    if not isinstance(word, int) or word > _MAX_WORD:
        raise _refusal(f"takes words of more than {_MAX_WORD:,} characters apart")
    for token in content.get("added_tokens") or ():
        text = token.get("content") if isinstance(token, dict) else token
        if not isinstance(text, str) or len(text) > _MAX_TOKEN:
            raise _refusal(f"has an added token of more than {_MAX_TOKEN:,} characters")


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


def _check_step(step: Step, own: bool) -> None:
    """Refuse long or many values, a pattern that is unknown, a replacement that lengthens."""
    values = {name: value for name, value in step.items() if name not in _INNER}
    charsmap, pattern = values.pop("precompiled_charsmap", None), values.pop("pattern", None)
    _check_lengths(list(scalars(values)))
    if isinstance(charsmap, str):
        _check_lengths([_longest_text(charsmap)])
    if pattern is None:
        return
    kind, text = (
        next(iter(pattern.items())) if isinstance(pattern, dict) and len(pattern) == 1 else ("", "")
    )
    if not isinstance(text, str) or not text:
        raise _refusal(f"looks for nothing ({step['type']})")
    if kind != "Regex":
        _check_lengths([text])
    elif not own and not is_published(text):
        raise _refusal("splits texts by a pattern that is no published one, and may never end")
    if len(str(step.get("content") or "")) > (1 if kind == "Regex" else len(text)):
        raise _refusal("makes a text longer by what it replaces")


def _longest_text(charsmap: str) -> bytes:
    """The longest of the texts that a map of SentencePiece makes of a character.

    It is the size of a trie (four bytes), the trie, and what it leads to: texts that end with NUL.
    """
    raw = base64.b64decode(charsmap, validate=True)
    return max(raw[4 + int.from_bytes(raw[:4], "little") :].split(b"\0"), key=len)


def _check_lengths(values: list[object]) -> None:
    longest = max((len(value) for value in values if isinstance(value, str | bytes)), default=0)
    if len(values) > _MAX_VALUES or longest > _MAX_CHARACTERS:
        raise _refusal(
            f"has a step of more than {_MAX_VALUES} values or {_MAX_CHARACTERS} characters"
        )


def scalars(value: object) -> Iterator[object]:
    """Numbers, texts and names in a value, however deep."""
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from scalars(each)
    else:
        yield value


def _refusal(problem: str) -> UnsupportedModelError:
    return UnsupportedModelError(f"The tokenizer of {{name}} {problem}.", _ADVICE)
