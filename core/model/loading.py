"""A name or a folder -> a model that can be traced, or a refusal that says why and what instead."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from core.model import catalog, network
from core.model.checks.config import check_config
from core.model.checks.folder import ModelFiles, check_folder
from core.model.checks.tokenizer import private_copy
from core.model.checks.weights import count_weights
from core.model.downloading import downloads, hub
from core.model.errors import (
    ModelError,
    NotDownloadedError,
    UnknownModelError,
    UnsupportedModelError,
)
from core.model.loaded import LoadedModel
from core.model.machine import memory
from core.model.refusal import refusing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerFast

_LOAD_LOCK = threading.Lock()  # one load at a time: loading needs the most memory
_LEAST_TOKENS = 4  # [CLS], [SEP] and two of the text
_ELSEWHERE = ("//", "\\\\")  # to look there can log in to another machine
_PICK_ANOTHER = "Pick a model from the list, for example bundled/minilm."


def load(
    name: str, download: bool = True, *, folders: bool = True, token: bool | None = None
) -> LoadedModel:
    """Load a model and prove that its attention can be recomputed from what is recorded.

    A folder is taken for a stranger's: nothing of it reaches transformers before it was checked.

    Parameters
    ----------
    name : a catalogue name, a Hugging Face id, or a local folder.
    download : fetch the weights when they are not on this machine; otherwise refuse.
    folders : whether `name` may be a folder; without, the disk is not looked at for one.
    token : False asks the hub without anybody's token, None with the one of this machine, if any.

    Raises
    ------
    ModelError
        One of its subclasses, with what was found and the way out; nothing else.
    """
    with refusing(name, "load"):
        folder = _locate(name.strip(), download, folders, token)
        with _LOAD_LOCK, _quiet():
            return _load(name, folder, pinned=catalog.is_pinned(name.strip()))


def _load(name: str, folder: Path, *, pinned: bool) -> LoadedModel:
    """The model of a folder; the files of a pinned one are known and are read where they lie."""
    files = check_folder(name, folder)
    settings = check_config(name, files.config)
    on_disk = count_weights(name, files.weights)
    memory.check_fits(name, on_disk)
    place = contextlib.nullcontext(folder) if pinned else private_copy(name, files, settings)
    with place as checked:
        config = network.read_config(name, checked)
        empty = network.build_empty(name, config)
        network.check_share(name, on_disk, empty)
        memory.check_fits(name, max(on_disk, network.count_numbers(empty)))
        tokenizer = _read_tokenizer(name, checked)
        return _assemble(name, _read_network(name, empty, config, files), config, tokenizer)


def _locate(name: str, download: bool, folders: bool, token: bool | None) -> Path:
    """The folder with the model's files, fetched first where that is allowed."""
    spec = catalog.find(name)
    if spec is not None and spec.bundled:
        catalog.check_bundled(spec)
        return catalog.bundled_folder(spec)
    if folders and spec is None and (path := as_folder(name)) is not None:
        return path
    repos = spec.repos if spec is not None else (name,)
    for repo in repos:
        if (folder := hub.cached_folder(repo)) is not None:
            return folder
    found = hub.ask(repos[0], token)
    if not download:
        raise NotDownloadedError(
            name,
            f"{{name}} is not on this machine yet: {found.size_mb} MB must be downloaded.",
            "Download it, or pick a model that is here.",
            size_mb=found.size_mb,
        )
    return downloads.fetch(found, token)


def as_folder(name: str) -> Path | None:
    """`name` as a local folder; None when it reads like a hub id."""
    try:
        path = Path(name).expanduser()
        if name and not name.startswith(_ELSEWHERE) and path.is_dir():
            return path
    except (OSError, ValueError, RuntimeError):
        pass  # too long, a NUL byte, no such user: no folder either
    if not name or name.startswith(("/", ".", "~", "\\")) or name.count("/") > 1 or "\0" in name:
        raise UnknownModelError(name, "There is no folder {name} on this machine.", _PICK_ANOTHER)
    return None


def _read_tokenizer(name: str, folder: Path) -> PreTrainedTokenizerFast:
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False
        )
    except Exception as error:
        raise UnsupportedModelError(
            name,
            f"{{name}} has no tokenizer that can be read ({type(error).__name__}).",
            _PICK_ANOTHER,
        ) from error
    if not getattr(tokenizer, "is_fast", False):
        raise UnsupportedModelError(
            name,
            "{name} has no fast tokenizer, which is needed to tell words from word pieces.",
            _PICK_ANOTHER,
        )
    return tokenizer  # type: ignore[no-any-return]


def _read_network(
    name: str, empty: PreTrainedModel, config: PreTrainedConfig, files: ModelFiles
) -> PreTrainedModel:
    return network.fill(name, empty, config, files.weights)


def _assemble(
    name: str,
    filled: PreTrainedModel,
    config: PreTrainedConfig,
    tokenizer: PreTrainedTokenizerFast,
) -> LoadedModel:
    from core.model.probe import probe

    device = pick_device()
    filled.to(device)  # type: ignore[arg-type]
    found = probe(name, filled, tokenizer)
    max_tokens = _max_tokens(filled, config, tokenizer)
    if max_tokens < _LEAST_TOKENS:
        raise UnsupportedModelError(
            name,
            f"The settings of {{name}} allow texts of {max_tokens} tokens only, special ones"
            " included.",
            "Correct model_max_length in tokenizer_config.json, or pick another model.",
        )
    return LoadedModel(
        name=name,
        tokenizer=tokenizer,
        network=filled,
        device=device,
        layers=found.layers,
        heads=found.heads,
        kv_heads=found.kv_heads,
        dim=found.dim,
        parameters=sum(weight.numel() for weight in filled.parameters()),
        max_tokens=max_tokens,
        causal=found.causal,
        probe_error=found.error,
    )


def pick_device() -> str:
    """The fastest device there is: "cuda", else "mps", else "cpu"."""
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _max_tokens(
    filled: PreTrainedModel, config: PreTrainedConfig, tokenizer: PreTrainedTokenizerFast
) -> int:
    """Longest input: what the tokenizer says, and no more than there are positions."""
    import torch

    limits = [tokenizer.model_max_length, getattr(config, "max_position_embeddings", None)]
    for key, module in filled.named_modules():
        if key.endswith(("position_embeddings", "embed_positions")) and isinstance(
            module, torch.nn.Embedding
        ):
            # RoBERTa counts positions from padding_idx + 1.
            first = 0 if module.padding_idx is None else module.padding_idx + 1
            limits.append(module.num_embeddings - first)
    sane = [limit for limit in limits if isinstance(limit, int) and 0 < limit < 10**9]
    return min(sane, default=512)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep transformers' load reports and progress bars out of the server's log."""
    from transformers.utils import logging

    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()


__all__ = ["LoadedModel", "ModelError", "load", "pick_device"]
