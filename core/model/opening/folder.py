"""What a model folder holds, checked before anything reads it: anyone may have written it.

A file counts when it is a regular file of bounded size in the folder itself. A link may only lead
to where the hub's cache keeps its files: from snapshots/<revision>/ to blobs/.
"""

from __future__ import annotations

import json
import os
import re
import stat
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from core.model import memory
from core.model.errors import (
    FREE_MEMORY,
    SAVE_AGAIN,
    NoWeightsError,
    OutOfMemoryError,
    UnknownModelError,
    UnsupportedModelError,
)
from core.model.image.facts import detect_modality
from core.vocabulary import Modality

CONFIG, TOKENIZER_CONFIG = "config.json", "tokenizer_config.json"
GENERATION_CONFIG = "generation_config.json"
TOKENIZER, _SPECIAL_TOKENS = "tokenizer.json", "special_tokens_map.json"
_UNUSED = ("vocab.txt", "added_tokens.json")  # never read, but refused where they lead elsewhere
IMAGE_PROCESSOR, _PROCESSOR = "preprocessor_config.json", "processor_config.json"
_WEIGHTS, _INDEX = "model.safetensors", "model.safetensors.index.json"
_ADAPTER = "adapter_config.json"
_JOINED = {"encoder-decoder", "vision-encoder-decoder", "speech-encoder-decoder"}
# A trainer's folder, and the old layout of sentence-transformers.
_NESTED, _NUMBER = re.compile(r"checkpoint-\d{1,9}|0_Transformer"), re.compile(r"\d+")
_MAX_SETTINGS_BYTES = 2_000_000  # the largest published config.json, with 20,000 labels, has 1 MB
_MAX_INDEX_BYTES = 8_000_000  # 45,000 tensors of 100 characters take 5 MB
# The largest published tokenizer.json (256,000 entries and their merges) has 34 MB.
_MAX_VOCABULARY_BYTES = 64_000_000
# An entry of a parsed list or object with its string or number; measured on tokenizer.json files.
_BYTES_PER_ENTRY = 130


@dataclass(frozen=True)
class ModelFiles:
    """The files of a folder that may be read; transformers has not seen them yet.

    Attributes
    ----------
    config : content of config.json.
    tokenizer_settings : content of tokenizer_config.json and special_tokens_map.json, by file name.
    tokenizer : tokenizer.json; None for a vision model.
    weights : the folder's safetensors files.
    modality : whether the network, or the part of it that was asked for, reads texts or images.
    processor : for a vision model, the settings of its image processor; empty without a file.
    notes : what the folder holds that is not used, a sentence each.
    generation : content of generation_config.json, on how a network answers; empty without it.
    """

    config: dict[str, object]
    tokenizer_settings: dict[str, dict[str, object]]
    tokenizer: Path | None
    weights: tuple[Path, ...]
    modality: Modality = "text"
    processor: dict[str, object] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    generation: dict[str, object] = field(default_factory=dict)


def check_folder(folder: Path, modality: Modality | None = None) -> ModelFiles:
    """Check a folder's files and where they are.

    A vision model needs no tokenizer; `modality` is as for :func:`core.model.load`.

    Raises
    ------
    UnknownModelError, UnsupportedModelError, NoWeightsError, OutOfMemoryError, WrongInputError
        With the file's name and what is wrong with it.
    """
    if not (folder / CONFIG).is_file():
        raise _no_model(folder)
    config = _read_object(folder, CONFIG, _MAX_SETTINGS_BYTES)
    if config.get("model_type") in _JOINED:
        raise UnsupportedModelError(
            "{name} joins two networks of their own, an encoder and a decoder (as BERT2BERT does),"
            " and this app opens single networks.",
            "Open the encoder's or the decoder's own model.",
        )
    weights = _find_weights(folder)
    if (modality := detect_modality(config, modality)) == "image":
        processor = _read_processor(folder)
        return ModelFiles(config, {}, None, weights, modality, processor, _notes(folder, config))
    if not _exists(folder, TOKENIZER):
        raise UnsupportedModelError(
            "{name} has no fast tokenizer: its folder holds no tokenizer.json.",
            "Open its tokenizer with AutoTokenizer, and save it into the folder: save_pretrained"
            " writes that file.",
        )
    settings = {
        file: _read_object(folder, file, _MAX_SETTINGS_BYTES)
        for file in (TOKENIZER_CONFIG, _SPECIAL_TOKENS, GENERATION_CONFIG)
        if _exists(folder, file)
    }
    for file in filter(partial(_exists, folder), _UNUSED):
        _check_file(folder, file)
    tokenizer = _check_file(folder, TOKENIZER, _MAX_VOCABULARY_BYTES)
    _check_expansion(tokenizer)
    generation, notes = settings.pop(GENERATION_CONFIG, {}), _notes(folder, config)
    return ModelFiles(config, settings, tokenizer, weights, notes=notes, generation=generation)


def _no_model(folder: Path) -> UnknownModelError:
    """Why a folder without config.json is refused: what it holds instead."""
    if _exists(folder, _ADAPTER):
        return UnknownModelError(
            "The folder {name} holds an adapter (such as LoRA) without the model it belongs to.",
            "Load both with PEFT, call merge_and_unload(), save the result with save_pretrained,"
            " and open that folder.",
        )
    inner = [path.parent.name for path in folder.glob(f"*/{CONFIG}") if path.is_file()]
    nested = sorted(
        filter(_NESTED.fullmatch, inner), key=lambda name: int(_NUMBER.findall(name)[0])
    )
    if nested:
        return UnknownModelError(
            "The folder {name} holds no model itself: it has no config.json.",
            f"Open the folder {nested[-1]} inside it.",
        )
    return UnknownModelError("The folder {name} holds no model: it has no config.json.", SAVE_AGAIN)


def _notes(folder: Path, config: dict[str, object]) -> tuple[str, ...]:
    """What people might expect of the folder that this app does not do."""
    notes = {
        "Its folder brings code of its own (auto_map), which this app never runs: what you see is"
        f" the {str(config.get('model_type'))[:40]} of transformers with these weights.": (
            "auto_map" in config
        ),
        "An adapter (such as LoRA) lies beside its weights and is not applied: merge it with PEFT"
        " (merge_and_unload), save, and open that folder.": _exists(folder, _ADAPTER),
    }
    return tuple(note for note, applies in notes.items() if applies)


def _read_processor(folder: Path) -> dict[str, object]:
    """The settings of the image processor; empty without a file."""
    if _exists(folder, IMAGE_PROCESSOR):
        return _read_object(folder, IMAGE_PROCESSOR, _MAX_SETTINGS_BYTES)
    if _exists(folder, _PROCESSOR):  # for texts and images, with one inside
        inner = _read_object(folder, _PROCESSOR, _MAX_SETTINGS_BYTES).get("image_processor")
        return inner if isinstance(inner, dict) else {}
    return {}


def _check_file(folder: Path, file: str, max_bytes: float = float("inf")) -> Path:
    """The path of a regular file in the folder, unless it leads elsewhere or is too large."""
    path = folder / file
    try:
        status = path.stat() if _lies_in(folder, path) else None
    except (OSError, RuntimeError):  # RuntimeError: a loop of links
        status = None
    if status is None or not stat.S_ISREG(status.st_mode):
        raise UnsupportedModelError(
            f"{file} of {{name}} is not a file in its folder: it leads somewhere else.",
            "Copy the file itself into the folder.",
        )
    if status.st_size > max_bytes:
        raise UnsupportedModelError(
            f"{file} of {{name}} has {status.st_size / 1e6:,.0f} MB;"
            f" this app reads at most {max_bytes / 1e6:,.0f} MB."
        )
    return path


def _read_object(folder: Path, file: str, max_bytes: int) -> dict[str, object]:
    """A JSON object, unless the file is not JSON, nested too deep or too large."""
    path = _check_file(folder, file, max_bytes)
    try:
        with path.open("rb") as opened:
            content = json.loads(opened.read(max_bytes))
    except (ValueError, OSError, RecursionError) as error:
        raise UnsupportedModelError(
            f"{file} of {{name}} cannot be read ({type(error).__name__}).", SAVE_AGAIN
        ) from error
    if not isinstance(content, dict):
        raise UnsupportedModelError(
            f"{file} of {{name}} is not a JSON object: it holds no settings.", SAVE_AGAIN
        )
    return content


def _exists(folder: Path, file: str) -> bool:
    """Whether the folder has an entry of this name, even a link that leads nowhere."""
    return os.path.lexists(folder / file)


def _lies_in(folder: Path, path: Path) -> bool:
    """Whether a file, with links followed, lies in the folder or in the hub cache's blobs."""
    home, target = folder.resolve(strict=True), path.resolve(strict=True)
    in_cache = home.parent.name == "snapshots"
    return target.parent == home or (in_cache and target.parent == home.parent.parent / "blobs")


def _check_expansion(path: Path) -> None:
    """Refuse a JSON vocabulary that would outgrow free memory once parsed."""
    with path.open("rb") as file:
        content = file.read(_MAX_VOCABULARY_BYTES)
    needed = len(content) + _BYTES_PER_ENTRY * sum(content.count(mark) for mark in b",[{")
    if needed > (free := memory.available_bytes()):
        raise OutOfMemoryError(
            f"{TOKENIZER} of {{name}} needs about {needed / 1e6:,.0f} MB of memory,"
            f" and {free / 1e6:,.0f} MB are free.",
            FREE_MEMORY,
        )


def _find_weights(folder: Path) -> tuple[Path, ...]:
    """The safetensors files: a single file, or those of an index; never another format."""
    if _exists(folder, _WEIGHTS):
        return (_check_file(folder, _WEIGHTS),)
    if _exists(folder, _INDEX):
        return tuple(_check_file(folder, file) for file in _indexed_files(folder))
    pickled = [path.name for path in folder.iterdir() if path.suffix in {".bin", ".pt", ".pth"}]
    if pickled:
        raise NoWeightsError(
            f"{{name}} has its weights only in pickle form ({pickled[0]}), which can run code.",
            "Convert them with save_pretrained, which writes safetensors, and open that folder.",
        )
    raise NoWeightsError(
        "The folder of {name} has settings but no weights (no model.safetensors file).", SAVE_AGAIN
    )


def _indexed_files(folder: Path) -> list[str]:
    """The files that the index of the weights lists, each a safetensors file in this folder."""
    places = _read_object(folder, _INDEX, _MAX_INDEX_BYTES).get("weight_map")
    if not isinstance(places, dict) or not places:
        raise NoWeightsError(
            f"{_INDEX} of {{name}} does not say where the weights are.", SAVE_AGAIN
        )
    files = sorted({file if isinstance(file, str) else "" for file in places.values()})
    if not all(map(_is_plain_safetensors, files)):
        raise NoWeightsError(
            f"{_INDEX} of {{name}} lists weights that are not safetensors files of its own folder.",
            SAVE_AGAIN,
        )
    missing = [file for file in files if not _exists(folder, file)]
    if missing:
        raise NoWeightsError(
            f"The weights of {{name}} are incomplete: {len(missing)} of {len(files)} files are"
            f" missing, for example {missing[0][:100]}.",
            "Download or save the model again.",
        )
    return files


def _is_plain_safetensors(file: str) -> bool:
    is_path = any(mark in file for mark in "/\\:\0")
    return not is_path and file.endswith(".safetensors") and not file.startswith(".")
