"""Which tokenizer settings are used, and a folder that holds nothing but checked files.

transformers opens what a tokenizer's settings name: `vocab` or `merges` as a path, the arguments in
`init_inputs`, `fast_tokenizer_files`, and the same from special_tokens_map.json. It also looks for
a dozen more files by their names. So it never sees the folder itself, only a private copy of the
checked files (at most 64 MB each, deleted at once) with the settings that are known to be data.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from core.model.checks import pipeline
from core.model.checks.folder import ADDED_TOKENS, CONFIG, TOKENIZER, ModelFiles
from core.model.checks.temporary import temporary_folder
from core.model.errors import UnsupportedModelError

Settings = dict[str, object]

NOT_FAST = "{name} has no fast tokenizer, which is needed to tell words from word pieces."
_VOCABULARY_KEYS = ("vocab", "merges", "init_inputs")  # could name a file
_TEXTS = frozenset(
    {"padding_side", "truncation_side", "tokenizer_class", "backend", "errors"}
    | {"src_lang", "tgt_lang"}
)
_LISTS = frozenset({"additional_special_tokens", "extra_special_tokens", "model_input_names"})
_OBJECTS = frozenset({"extra_special_tokens", "model_specific_special_tokens"})
_MAX_ID = 2**22  # entries of a vocabulary
_MAX_TOKEN_LENGTH = 1000  # characters of a special token: each is searched for in every text
_FAST_CLASS = re.compile(r"[A-Za-z0-9_]*Tokenizer(Fast)?|TokenizersBackend")
_ADVICE = "Save the tokenizer again with save_pretrained, and open that folder."


def check_settings(file: str, settings: Settings) -> Settings:
    """The settings of tokenizer_config.json or special_tokens_map.json that are data.

    Paths left over from the author's machine (`name_or_path`, `special_tokens_map_file` and others
    that published settings carry) are dropped; the folder's own files are used instead.

    Raises
    ------
    UnsupportedModelError
        When a path stands in for the vocabulary, or a token is too long.
    """
    for key in _VOCABULARY_KEYS:
        if settings.get(key):
            raise UnsupportedModelError(
                f"{file} of {{name}} names its vocabulary ({key}), which must lie beside it.",
                _ADVICE,
            )
    data = {key: value for key, value in settings.items() if _is_data(key, value)}
    for value in (*data.values(), *_inner_tokens(data)):
        if isinstance(value, str) and len(value) > _MAX_TOKEN_LENGTH:
            raise UnsupportedModelError(
                f"{file} of {{name}} has a token of {len(value):,} characters.", _ADVICE
            )
    return data


def check_class(declared: object) -> str | None:
    """The declared class if it is a fast tokenizer of transformers; None if none is declared.

    transformers would accept any of its classes here, even a network, and hand it the folder.

    Raises
    ------
    UnsupportedModelError
        When the class is not a fast tokenizer.
    """
    if declared is None:
        return None
    if not isinstance(declared, str) or not _FAST_CLASS.fullmatch(declared):
        raise UnsupportedModelError(
            "{name} has no tokenizer: its settings name something else.", _ADVICE
        )
    from transformers import PreTrainedTokenizerFast
    from transformers.models.auto.tokenization_auto import tokenizer_class_from_name

    found = tokenizer_class_from_name(declared)
    if found is None or declared in {"PreTrainedTokenizer", "PreTrainedTokenizerFast"}:
        return None  # from older versions or foreign code: transformers uses its general class
    if not (isinstance(found, type) and issubclass(found, PreTrainedTokenizerFast)):
        raise UnsupportedModelError(NOT_FAST)
    return declared


@contextlib.contextmanager
def private_copy(files: ModelFiles, config: Settings) -> Iterator[Path]:
    """A temporary folder with the checked settings and vocabularies, for the length of the block.

    Raises
    ------
    UnsupportedModelError
        When a setting or a step of the tokenizer is refused, or there is nowhere to write.
    """
    settings = {
        file: check_settings(file, content) for file, content in files.tokenizer_settings.items()
    }
    for content in settings.values():
        if check_class(content.get("tokenizer_class")) is None:
            content.pop("tokenizer_class", None)
    with contextlib.ExitStack() as stack:
        try:
            folder = stack.enter_context(temporary_folder())
            _fill(folder, files, {CONFIG: config, **settings})
        except OSError as error:
            raise UnsupportedModelError(
                "{name} cannot be read: there is no temporary folder to unpack its tokenizer in.",
                "Make room there, or pick a bundled model.",
            ) from error
        yield folder


def _fill(folder: Path, files: ModelFiles, settings: dict[str, Settings]) -> None:
    for path in files.vocabularies:
        if path.name == TOKENIZER:
            pipeline.check_file(_parsed(path))
        if path.name != ADDED_TOKENS or _holds_ids(path):
            shutil.copyfile(path, folder / path.name)
    for file, content in settings.items():
        (folder / file).write_text(json.dumps(content), encoding="utf-8")


def _parsed(path: Path) -> object:
    try:
        return json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise UnsupportedModelError(
            f"{path.name} of {{name}} cannot be read ({type(error).__name__}).", _ADVICE
        ) from error


def _holds_ids(path: Path) -> bool:
    """Whether added_tokens.json holds tokens with their ids, as it should."""
    content = _parsed(path)
    return isinstance(content, dict) and all(map(_is_id, content.values()))


def _is_data(key: str, value: object) -> bool:
    """Whether a setting is data of a known kind: a number, a switch, tokens or their names."""
    if key.startswith("_") or key.endswith(("_file", "_files")) or key in _VOCABULARY_KEYS:
        return False
    if value is None or isinstance(value, bool | int | float):
        return not key.endswith(("_object", "_inputs"))
    if isinstance(value, str):
        return key in _TEXTS or key.endswith("_token")
    if isinstance(value, list):
        return key in _LISTS and all(isinstance(each, str) or _is_token(each) for each in value)
    return isinstance(value, dict) and _is_object_of_tokens(key, value)


def _is_object_of_tokens(key: str, value: Settings) -> bool:
    """Whether an object is one token, or tokens by name or by id."""
    if key == "added_tokens_decoder":
        return all(
            index.isdecimal() and _is_id(int(index)) and _is_token(token)
            for index, token in value.items()
        )
    if key in _OBJECTS:
        return all(isinstance(each, str) or _is_token(each) for each in value.values())
    return key.endswith("_token") and _is_token(value)


def _is_token(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("content"), str)


def _is_id(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MAX_ID


def _inner_tokens(settings: Settings) -> Iterator[object]:
    """The texts of tokens in lists and objects."""
    for value in settings.values():
        inner: list[object] = []
        if isinstance(value, list):
            inner = value
        elif isinstance(value, dict):
            inner = [value, *value.values()]
        for each in inner:
            yield each.get("content") if isinstance(each, dict) else each
