"""What a model folder holds, looked at before anything reads it: anyone may have written it.

A file counts when it is a regular file of a bounded size that lies in the folder itself. A link
may lead only to where the hub's cache keeps its files: from snapshots/<revision>/ to blobs/.
"""

from __future__ import annotations

import json
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.model.errors import (
    NoWeightsError,
    OutOfMemoryError,
    UnknownModelError,
    UnsupportedModelError,
)
from core.model.machine import memory

if TYPE_CHECKING:
    from pathlib import Path

CONFIG, TOKENIZER_CONFIG = "config.json", "tokenizer_config.json"
SPECIAL_TOKENS, ADDED_TOKENS = "special_tokens_map.json", "added_tokens.json"
_WEIGHTS, _INDEX = "model.safetensors", "model.safetensors.index.json"
_SETTINGS_BYTES = 2_000_000  # the largest published config.json, with 20,000 labels, has 1 MB
_INDEX_BYTES = 8_000_000  # 45,000 tensors of 100 characters take 5 MB
# The largest published tokenizer.json (256,000 entries and their merges) has 34 MB.
_VOCABULARY_BYTES = 64_000_000
# An entry of a parsed list or object with its string or number; measured on tokenizer.json files.
_BYTES_PER_ENTRY = 130
# The files that a fast tokenizer of transformers is made from: `vocab_files_names` of its classes.
VOCABULARIES = (
    *("tokenizer.json", "vocab.txt", "vocab.json", "tokenizer.model", "spiece.model"),
    *("sentencepiece.bpe.model", "sentencepiece.model", "spm.model"),
)
_BESIDE_VOCABULARIES = ("merges.txt", "entity_vocab.json", "normalizer.json", ADDED_TOKENS)
_SAVE_AGAIN = "Choose the folder that save_pretrained wrote."
_PICK_ANOTHER = "Pick a model from the list, for example bundled/minilm."


@dataclass(frozen=True)
class ModelFiles:
    """The files of a folder that may be read, none of them read by transformers yet.

    Attributes
    ----------
    config : config.json as it stands.
    tokenizer_settings : tokenizer_config.json and special_tokens_map.json as they stand, by name.
    vocabularies : the other files that a tokenizer is made from.
    weights : safetensors files of this folder.
    """

    config: dict[str, object]
    tokenizer_settings: dict[str, dict[str, object]]
    vocabularies: tuple[Path, ...]
    weights: tuple[Path, ...]


def check_folder(name: str, folder: Path) -> ModelFiles:
    """Look at a folder's files and at where they lie.

    Raises
    ------
    UnknownModelError, UnsupportedModelError, NoWeightsError
        With the file's name, what was found, and the way out.
    """
    if not (folder / CONFIG).is_file():
        raise UnknownModelError(
            name,
            "The folder {name} holds no model: it has no config.json.",
            _SAVE_AGAIN,
        )
    config = read_object(name, folder, CONFIG, _SETTINGS_BYTES)
    weights = _find_weights(name, folder)
    found = [file for file in VOCABULARIES if _is_there(folder, file)]
    if not found:
        raise UnsupportedModelError(
            name,
            "{name} has no tokenizer: its folder holds no vocabulary.",
            "Save the tokenizer into the same folder with save_pretrained.",
        )
    found += [file for file in _BESIDE_VOCABULARIES if _is_there(folder, file)]
    settings = {
        file: read_object(name, folder, file, _SETTINGS_BYTES)
        for file in (TOKENIZER_CONFIG, SPECIAL_TOKENS)
        if _is_there(folder, file)
    }
    vocabularies = tuple(checked_path(name, folder, file, _VOCABULARY_BYTES) for file in found)
    for path in vocabularies:
        _check_expansion(name, path)
    return ModelFiles(config, settings, vocabularies, weights)


def checked_path(name: str, folder: Path, file: str, most_bytes: int | None = None) -> Path:
    """A regular file of the folder, not larger than it may be.

    Raises
    ------
    UnsupportedModelError
        When it is a link to elsewhere, a device or a pipe, or too large.
    """
    path = folder / file
    try:
        lies_here = _lies_in(folder, path)
        status = path.stat()
    except (OSError, RuntimeError):  # a loop of links among them
        lies_here, status = False, None
    if status is None or not lies_here or not stat.S_ISREG(status.st_mode):
        raise UnsupportedModelError(
            name,
            f"{file} of {{name}} is not a file of its folder: it leads somewhere else.",
            "Copy the file itself into the folder.",
        )
    if most_bytes is not None and status.st_size > most_bytes:
        raise UnsupportedModelError(
            name,
            f"{file} of {{name}} has {status.st_size / 1e6:,.0f} MB;"
            f" at most {most_bytes / 1e6:,.0f} MB are read.",
            _PICK_ANOTHER,
        )
    return path


def read_object(name: str, folder: Path, file: str, most_bytes: int) -> dict[str, object]:
    """A JSON object from a file of the folder.

    Raises
    ------
    UnsupportedModelError
        When it is no JSON, no object, nested too deep, or too large.
    """
    path = checked_path(name, folder, file, most_bytes)
    try:
        with path.open("rb") as opened:
            content = json.loads(opened.read(most_bytes))
    except (ValueError, OSError, RecursionError) as error:
        raise UnsupportedModelError(
            name, f"{file} of {{name}} cannot be read ({type(error).__name__}).", _SAVE_AGAIN
        ) from error
    if not isinstance(content, dict):
        raise UnsupportedModelError(
            name, f"{file} of {{name}} holds no settings: it is not a JSON object.", _SAVE_AGAIN
        )
    return content


def _is_there(folder: Path, file: str) -> bool:
    """Whether the folder has an entry of this name, also a link that leads nowhere."""
    return (folder / file).exists() or (folder / file).is_symlink()


def _lies_in(folder: Path, path: Path) -> bool:
    """Whether a file, with its links followed, lies in the folder or in the hub cache's blobs."""
    home, target = folder.resolve(strict=True), path.resolve(strict=True)
    if target.parent == home:
        return True
    in_cache = home.parent.name == "snapshots"
    return in_cache and target.parent == home.parent.parent / "blobs"


def _check_expansion(name: str, path: Path) -> None:
    """Refuse a vocabulary that would outgrow the free memory once it is parsed."""
    if path.suffix != ".json":
        return
    with path.open("rb") as file:
        content = file.read(_VOCABULARY_BYTES)
    needed = len(content) + _BYTES_PER_ENTRY * sum(content.count(mark) for mark in b",[{")
    free = memory.available_bytes()
    if free is not None and needed > free:
        raise OutOfMemoryError(
            name,
            f"{path.name} of {{name}} needs about {needed / 1e6:,.0f} MB of memory,"
            f" and {free / 1e6:,.0f} MB are free.",
            "Pick a smaller model, or close other programs and try again.",
        )


def _find_weights(name: str, folder: Path) -> tuple[Path, ...]:
    """The safetensors files, from one file or from the index of several; never another format."""
    if _is_there(folder, _WEIGHTS):
        return (checked_path(name, folder, _WEIGHTS),)
    if _is_there(folder, _INDEX):
        return tuple(checked_path(name, folder, file) for file in _indexed(name, folder))
    pickled = [path.name for path in folder.iterdir() if path.suffix in {".bin", ".pt", ".pth"}]
    if pickled:
        raise NoWeightsError(
            name,
            f"{{name}} has its weights only in pickle form ({pickled[0]}), which can run code.",
            "Convert them with save_pretrained, which writes safetensors, and open that folder.",
        )
    raise NoWeightsError(
        name,
        "The folder of {name} has settings but no weights (no model.safetensors file).",
        _SAVE_AGAIN,
    )


def _indexed(name: str, folder: Path) -> list[str]:
    """The files that the index of the weights names, each a safetensors file of this folder."""
    places = read_object(name, folder, _INDEX, _INDEX_BYTES).get("weight_map")
    if not isinstance(places, dict) or not places:
        raise NoWeightsError(
            name, f"{_INDEX} of {{name}} does not say where the weights are.", _SAVE_AGAIN
        )
    files = sorted({file if isinstance(file, str) else "" for file in places.values()})
    if not all(_is_plain_safetensors(file) for file in files):
        raise NoWeightsError(
            name,
            f"{_INDEX} of {{name}} names weights that are not safetensors files of its own folder.",
            _SAVE_AGAIN,
        )
    missing = [file for file in files if not _is_there(folder, file)]
    if missing:
        raise NoWeightsError(
            name,
            f"The weights of {{name}} are not complete: {len(missing)} of {len(files)} files are"
            f" missing, for example {missing[0][:100]}.",
            "Download or save the model again.",
        )
    return files


def _is_plain_safetensors(file: str) -> bool:
    plain = not any(mark in file for mark in "/\\:\0")
    return plain and file.endswith(".safetensors") and not file.startswith(".")
