"""Are the bundled models the files we checked? Their sha256 is pinned here."""

from __future__ import annotations

import hashlib
import os
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

# sentence-transformers/all-MiniLM-L6-v2 as published, and this project's own models: every file
# that transformers reads. Others that it would read must not be there.
MINILM = {
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "special_tokens_map.json": "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
GPT2_NOVELS = {
    "config.json": "34d6beb53ebc653752648e836784bee9f82a69d9234dfc79e1e105bac018eec6",
    "model.safetensors": "5d5e58c4c2d43304a74dd2660d5b20bd46dfe3d2be053025c802c4d4254e7dcf",
    "tokenizer.json": "363c3adbfde78d044ee1b16de0b6037731fadf749f6cb4fc7f1c9bceb02cc5c1",
    "tokenizer_config.json": "cbf6f35083ee5f43f19a0d4cbc45bc0ade593bf704d481ace4bf9c52820a6410",
}
VIT_SCENES = {
    "config.json": "1424b635a2d292513a5bc898bf4b9e6113762e1a0182440b6c03b46c91f01774",
    "model.safetensors": "7eff57e40655e74949d43aa137ff3564a52d53b9f3b6807670caa9fa4e5194fd",
    "preprocessor_config.json": "4c047454b6abb653a7d60450c5e88a768a30b80fc708006e5875e53741632d7f",
}
_WOULD_BE_READ = (
    *("adapter_config.json", "added_tokens.json", "additional_chat_templates"),
    *("chat_template.jinja", "chat_template.json", "entity_vocab.json", "generation_config.json"),
    *("merges.txt", "model.safetensors.index.json", "normalizer.json", "tekken.json"),
    "processor_config.json",
    *("tokenizer.model", "tiktoken.model", "vocab.json"),
    *("preprocessor_config.json", "processor_config.json"),
)

_MAX_ANSWERS = 16  # a changed folder is a new question
_answers: dict[tuple[object, ...], str | None] = {}
_lock = threading.Lock()


def first_difference(folder: Path, pins: Mapping[str, str]) -> str | None:
    """Name of a file in the folder that differs from its pin; None if all match.

    Files are read once per process (91 MB in 0.12 s), and again when their size, time or inode
    changes.
    """
    try:
        stats = [(folder / name).stat() for name in pins]
    except OSError:
        return next((name for name in pins if not (folder / name).is_file()), "config.json")
    for name in _WOULD_BE_READ:
        if name not in pins and os.path.lexists(folder / name):
            return name
    key = (str(folder), *((each.st_ino, each.st_size, each.st_mtime_ns) for each in stats))
    with _lock:
        if key not in _answers:
            if len(_answers) >= _MAX_ANSWERS:
                _answers.clear()
            different = (name for name, pin in pins.items() if _sha256(folder / name) != pin)
            _answers[key] = next(different, None)
        return _answers[key]


def _sha256(path: Path) -> str | None:
    """The file's sha256 in hexadecimal; None if it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
