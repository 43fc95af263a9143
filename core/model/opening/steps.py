"""What a tokenizer.json may do to a text: known steps with short values, and published patterns.

A file of 2 kB can turn one sentence into 6 GB: eighteen steps that double every letter, one that
puts 40 MB before it. So steps are not analysed: a step is on the list, or refused.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from hashlib import sha256

from core.model.errors import UnsupportedModelError

ImportStep = Mapping[str, object]

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
_ONCE = ("ByteLevel", "Precompiled", "Prepend")  # at most once per section: they lengthen a text
_INNER = ("normalizers", "pretokenizers", "processors", "decoders")  # of a Sequence
_MAX_STEPS = 16  # per section; published tokenizers have at most eight
_MAX_CHARACTERS = 64  # of anything that a step adds or looks for
_MAX_VALUES = 256  # in one step: a template names each special token four times
_MAX_WORD = 1_000  # characters of a word that WordPiece splits, in quadratic time
_MAX_TOKEN = 1_000  # characters of an added token: each is searched for in every text
_ADVICE = "Save the model with the tokenizer of its own family, and open that folder."
# The sha256 of the regular expressions by which published tokenizers split and replace. Their
# engine (Oniguruma) backtracks: `(a|a)*[^a]` on forty letters takes longer than anyone waits. These
# are fast on any text. They come from transformers 5.23 and from published tokenizer.json files.
_PUBLISHED = frozenset(
    {
        "8de8bbf80ce1e12495a2a89fc0914019198e776b2bd5505881f22835dc096acd",  # Barthez, DeBERTa v2
        "c997711b730df03beec340e0abdbce3bb255c74e7560fa0c5e6e00f4b7b38a2a",  # BLOOM
        "fff38a14a39e422ea4d4edfd4c433a4156fa656d4ed037e010de7174e9c96a6a",  # BLOOM
        "4add64ab568a8b698353c562ac83993ed693822fe898d8450add1ea623df1ded",  # CLIP
        "0245a31a25d0f007f4ee8e2a1bf8b02905323f86485c4221c372793f27b86fe5",  # CLIP
        "66de4b24bd34e8d5b1c3e64924ac8d432952e4d4fad3a690a1839cdcf790650e",  # CLIP
        "fbdf87df61b5e88fa192e89066b114c8ee68b195a3165360cae8e5f7ac70640b",  # DeepSeek
        "e4a59e0ed11bb883f6a2346ecbf313929e25ddad027a86c11571c79bf8ac08ed",  # DeepSeek
        "d29ab68a0d90ba6be161465d9087f15063db0c70f765ecb5780d1eb665488317",  # DeepSeek
        "a9e31f463e1bd653c3d89fb26abc9a610b23eb0447b1bfcac71c7949e72583e4",  # DeepSeek
        "16f72e393af534b9e1af2f1521e289e7426a51f3a48f9ec1c1e8f8ddef318006",  # DeepSeek
        "5cada29124805d8e0454dc5b67225bbf87075cffd53418e9c56f674708220e2c",  # DeepSeek
        "e09ac538f66999112a4596a63ff072f315213ebf36ffd8333a67070c5f200357",  # DeepSeek V3
        "b17444129c80d563051e7b293e0a93351a65cd7722d7008bcdeecadbf02d12b3",  # DeepSeek V3
        "37eeaf14e325fd50c91d4af3b63ab2b18738486e4ad64c66d0b5777032e9e9a9",  # DeepSeek V3
        "c903ee638e48e525ed7aefd8bcf804c5a88b80358403017a36f52702360a031c",  # DeepSeek V3
        "8e12e7a373c51572720981efd4632812047973c1b3c4a3979480fd96a219af93",  # digits
        "c2254b6cf31ca13417a2e7f5fc091323e7e10cc201cc23c2fdd4d9b251983962",  # digits
        "163dd89509292f5cc3f0bcace529181dedb4482be045256aa20f52a1f78ac3d2",  # Falcon
        "eeb55ba74cc544ae7067587b680d16521d9891de9e94c7ba9412c0e0e93b1c36",  # GPT-2
        "2d1b8dc11e89af71459b36004f698ab3693f59fd84f63e8ec2b49564ab857420",  # GPT-4o
        "a4bb8cc38b305a24c4f49a83b058d838a487c62039db54551b6b4a7026c38e83",  # Ling
        "8327a0649c7e541ee7f9d225d5700b3ef99cbac940f792e7eb5630b63fa4b3fb",  # Ling
        "d98f9631be1e9607a9848c26c1f9eac1aa9fc21ac6ba82a2fc0741af9780a48f",  # Llama 3, OLMo 2
        "1d64a9a8eaf9f1bd80331984d81fdd514e7feafe8df83a525dd31472f275699a",  # Mistral
        "a80e516bfb196e1c48a9acbe39da8fceb6bc82e0d991b8a990b8f3239c7efaed",  # Pegasus
        "1ff7f41064896984db5d1bb6ff64fa4bc29007d08c1b439e505b7392777a319e",  # Qwen 2, StableLM 2
        "00431aed57e696b747435f734d1e3b9b1bfd931a121fb5cac7129e97c181e9ba",  # Qwen 3.5
        "2023bee8ce9e972dc79e05141fe402fb18036052c33b9ecd25ab9eaeed92a1b6",  # Seamless
        "21cda22a6695d127aad4d5903e2b95c5157040cc891c8727c4fd65087a6b86cc",  # Seamless
        "1438cbe4b9c384f20067b86b8bf92f1c75147e8abd9c8ee239017cc602a60449",  # Seamless
        "042d2f5ff6a14c7f0b8c343dfea08171906342d12bbcfee0dff9fa8f81cecdc2",  # Seed
        "dfa66c1644748ec479d682d866becfcd8cbcacae0af58d60f824b6ca88f54547",  # SentencePiece
        "c26bf68d7270443cf8f39b9b9f3e50ce7b44a828c90b52e5bd9f1868986a36ff",  # SmolLM 3
        "4512531cabfb2d2f1d8a7529f4d6fe2269a7659492ef674eb40e18c8e0f9495c",  # SuperBPE
    }
)


def check_tokenizer(content: object, *, own: bool = False) -> None:
    """Refuse the content of a tokenizer.json that is not bounded.

    In the user's `own` folder, patterns need not be published ones.

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


def _steps(step: object, depth: int = 0) -> Iterator[ImportStep]:
    """A step and, for a Sequence, the steps in it, at most one more than allowed."""
    if step is None:
        return
    if not isinstance(step, dict) or depth > _MAX_STEPS:
        raise _refusal("has a step that is not known")
    yield step
    for name in _INNER:
        inner = step.get(name)
        for nested in inner[: _MAX_STEPS + 1] if isinstance(inner, list) else ():
            yield from _steps(nested, depth + 1)


def _check_step(step: ImportStep, own: bool) -> None:
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
    elif not own and sha256(text.encode("utf-8", "replace")).hexdigest() not in _PUBLISHED:
        raise _refusal("splits texts by a pattern that is no published one, and may never end")
    if len(str(step.get("content") or "")) > (1 if kind == "Regex" else len(text)):
        raise _refusal("makes a text longer by what it replaces")


def _longest_text(charsmap: str) -> bytes:
    """The longest text by which a SentencePiece character map replaces a character.

    The map is the size of a trie (four bytes), the trie, and the texts it leads to, ended by NUL.
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
        for item in value:
            yield from scalars(item)
    else:
        yield value


def _refusal(problem: str) -> UnsupportedModelError:
    return UnsupportedModelError(f"The tokenizer of {{name}} {problem}.", _ADVICE)
