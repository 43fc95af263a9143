"""The tokenizer settings that are used, and a folder with nothing but checked files.

transformers opens files that a tokenizer's settings name (`vocab` or `merges` as a path, arguments
in `init_inputs`, `fast_tokenizer_files`), and looks for a dozen more by name. So it never sees the
folder itself, only a private copy of tokenizer.json, with the settings that are data.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from core.model.errors import UnsupportedModelError
from core.model.opening.folder import CONFIG, TOKENIZER, ModelFiles
from core.model.opening.steps import check_tokenizer, scalars

Settings = dict[str, object]

NOT_FAST = "{name} has no fast tokenizer, which is needed to tell words from word pieces."
_TEXTS = frozenset(
    {"padding_side", "truncation_side", "tokenizer_class", "backend", "errors"}
    | {"src_lang", "tgt_lang"}
)
_LISTS = frozenset({"additional_special_tokens", "extra_special_tokens", "model_input_names"})
_OBJECTS = frozenset({"extra_special_tokens", "model_specific_special_tokens"})
_MAX_ID = 2**22  # entries of a vocabulary
_MAX_TOKEN_LENGTH = 1000  # characters of a special token: each is searched for in every text
_ADVICE = "Save the tokenizer again with save_pretrained, and open that folder."


def check_settings(file: str, settings: Settings) -> Settings:
    """The settings of tokenizer_config.json or special_tokens_map.json that are data.

    Paths left over from the author's machine (`name_or_path`, `special_tokens_map_file` and others
    that published settings carry) are dropped; the folder's own files are used instead.

    Raises
    ------
    UnsupportedModelError
        When a token is too long.
    """
    data = {key: value for key, value in settings.items() if _is_data(key, value)}
    longest = max((len(each) for each in scalars(data) if isinstance(each, str)), default=0)
    if longest > _MAX_TOKEN_LENGTH:
        raise UnsupportedModelError(
            f"{file} of {{name}} has a token of {longest:,} characters.", _ADVICE
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
    from transformers import PreTrainedTokenizerFast
    from transformers.models.auto.tokenization_auto import tokenizer_class_from_name

    if declared is None or declared in {"PreTrainedTokenizer", "PreTrainedTokenizerFast"}:
        return None
    kind = tokenizer_class_from_name(declared) if isinstance(declared, str) else object
    if kind is None:  # from older versions or foreign code: transformers uses its general class
        return None
    if not (isinstance(kind, type) and issubclass(kind, PreTrainedTokenizerFast)):
        raise UnsupportedModelError(NOT_FAST)
    return str(declared)


@contextlib.contextmanager
def private_copy(files: ModelFiles, config: Settings, *, own: bool) -> Iterator[Path]:
    """A temporary folder with the checked settings and tokenizer, for the length of the block.

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
    contents = {file: json.dumps(content).encode() for file, content in settings.items()}
    contents[CONFIG] = json.dumps(config).encode()
    if files.tokenizer is not None:
        contents[TOKENIZER] = _checked(files.tokenizer, own)
    with contextlib.ExitStack() as stack:
        try:
            folder = Path(stack.enter_context(TemporaryDirectory(ignore_cleanup_errors=True)))
            for file, written in contents.items():
                (folder / file).write_bytes(written)
        except OSError as error:
            raise UnsupportedModelError(
                "{name} cannot be read: there is no temporary folder to unpack its tokenizer in.",
                "Make room there, or pick a bundled model.",
            ) from error
        yield folder


def _checked(path: Path, own: bool) -> bytes:
    """The content of tokenizer.json, unless it is refused."""
    content = path.read_bytes()
    try:
        check_tokenizer(json.loads(content), own=own)
    except (ValueError, RecursionError) as error:
        raise UnsupportedModelError(
            f"{TOKENIZER} of {{name}} cannot be read ({type(error).__name__}).", _ADVICE
        ) from error
    return content


def _is_data(key: str, value: object) -> bool:
    """Whether a setting is data of a known kind: a number, a switch, tokens or their names."""
    if key.startswith("_") or key.endswith(("_file", "_files")) or key in {"vocab", "merges"}:
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
            index.isdecimal() and int(index) < _MAX_ID and _is_token(token)
            for index, token in value.items()
        )
    if key in _OBJECTS:
        return all(isinstance(each, str) or _is_token(each) for each in value.values())
    return key.endswith("_token") and _is_token(value)


def _is_token(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("content"), str)
