"""A name or a folder -> a model that can be traced, or a refusal that says why and what instead."""

from __future__ import annotations

import contextlib
import json
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from core.model import catalog, downloads, hub, memory
from core.model.errors import (
    ModelError,
    NotDownloadedError,
    NoWeightsError,
    OutOfMemoryError,
    UnknownModelError,
    UnsupportedModelError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerFast

_LOAD_LOCK = threading.Lock()  # one load at a time: loading needs the most memory
_VOCABULARIES = ("tokenizer.json", "vocab.txt", "vocab.json", "tokenizer.model", "spiece.model")
_ELSEWHERE = ("//", "\\\\")  # to look there can log in to another machine
_PICK_ANOTHER = "Pick a model from the list, for example bundled/minilm."


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """A network with its tokenizer, checked: what is recorded of it is its own attention.

    Attributes
    ----------
    name : what it was loaded by.
    tokenizer, network : transformers' own objects; the network stays as it is after loading.
    device : "cuda", "mps" or "cpu".
    layers, heads, kv_heads, dim : as recorded; `dim` is the length of a query.
    parameters : number of weights.
    max_tokens : longest input in tokens.
    causal : whether no token attends to a later one.
    probe_error : largest difference between recomputed and eager attention on a short sentence.
    tokenizer_lock : fast tokenizers must not be called by two threads at once.
    """

    name: str
    tokenizer: PreTrainedTokenizerFast
    network: PreTrainedModel
    device: str
    layers: int
    heads: int
    kv_heads: int
    dim: int
    parameters: int
    max_tokens: int
    causal: bool
    probe_error: float
    tokenizer_lock: threading.Lock = field(default_factory=threading.Lock, repr=False)


def load(
    name: str, download: bool = True, *, folders: bool = True, token: bool | None = None
) -> LoadedModel:
    """Load a model and prove that its attention can be recomputed from what is recorded.

    Parameters
    ----------
    name : a catalogue name, a Hugging Face id, or a local folder.
    download : fetch the weights when they are not on this machine; otherwise refuse.
    folders : whether `name` may be a folder; without, the disk is not looked at for one.
    token : False asks the hub without anybody's token, None with the one of this machine, if any.

    Raises
    ------
    ModelError
        One of its subclasses, with what was found and the way out.
    """
    folder = _locate(name.strip(), download, folders, token)
    with _LOAD_LOCK, _quiet():
        config = _read_config(name, folder)
        _check_weights(name, folder)
        memory.check_fits(name, folder)
        tokenizer = _read_tokenizer(name, folder)
        try:
            return _assemble(name, folder, config, tokenizer)
        except Exception as error:
            if memory.is_out_of_memory(error):
                raise OutOfMemoryError(
                    name,
                    "There is not enough memory to load {name}.",
                    "Pick a smaller model, or close other programs and try again.",
                ) from error
            raise


def _locate(name: str, download: bool, folders: bool, token: bool | None) -> Path:
    """The folder with the model's files, fetched first where that is allowed."""
    spec = catalog.find(name)
    if spec is not None and spec.bundled:
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


def _read_config(name: str, folder: Path) -> PreTrainedConfig:
    from transformers import AutoConfig

    if not (folder / "config.json").is_file():
        raise UnknownModelError(
            name,
            "The folder {name} holds no model: it has no config.json.",
            "Choose the folder that save_pretrained wrote.",
        )
    try:
        config: PreTrainedConfig = AutoConfig.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False
        )
    except (ValueError, OSError, KeyError, TypeError, json.JSONDecodeError) as error:
        raise UnsupportedModelError(
            name,
            "The settings of {name} cannot be read without running code from its folder,"
            f" which this app never does ({type(error).__name__}).",
            _PICK_ANOTHER,
        ) from error
    if config.is_encoder_decoder:
        raise UnsupportedModelError(
            name,
            f"{{name}} is an encoder-decoder model ({config.model_type}):"
            " it has three kinds of attention, and the pages here show one.",
            "Pick an encoder (BERT family) or a decoder (GPT family).",
        )
    return config


def _check_weights(name: str, folder: Path) -> None:
    if any(folder.glob("*.safetensors")):
        return
    pickled = [path.name for path in folder.iterdir() if path.suffix in {".bin", ".pt", ".pth"}]
    if pickled:
        raise NoWeightsError(
            name,
            f"{{name}} has its weights only in pickle form ({pickled[0]}), which can run code.",
            "Convert them with save_pretrained, which writes safetensors, and open that folder.",
        )
    raise NoWeightsError(
        name,
        "The folder of {name} has settings but no weights (no .safetensors file).",
        "Choose the folder that save_pretrained wrote.",
    )


def _read_tokenizer(name: str, folder: Path) -> PreTrainedTokenizerFast:
    from transformers import AutoTokenizer

    if not any((folder / file).is_file() for file in _VOCABULARIES):
        raise UnsupportedModelError(
            name,
            "{name} has no tokenizer: its folder holds no vocabulary.",
            "Save the tokenizer into the same folder with save_pretrained.",
        )
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


def _assemble(
    name: str, folder: Path, config: PreTrainedConfig, tokenizer: PreTrainedTokenizerFast
) -> LoadedModel:
    from core.model.probe import probe

    network = _read_network(name, folder)
    device = pick_device()
    network.to(device)  # type: ignore[arg-type]
    found = probe(name, network, tokenizer)
    return LoadedModel(
        name=name,
        tokenizer=tokenizer,
        network=network,
        device=device,
        layers=found.layers,
        heads=found.heads,
        kv_heads=found.kv_heads,
        dim=found.dim,
        parameters=sum(weight.numel() for weight in network.parameters()),
        max_tokens=_max_tokens(network, config, tokenizer),
        causal=found.causal,
        probe_error=found.error,
    )


def _read_network(name: str, folder: Path) -> PreTrainedModel:
    """The network in float32 and evaluation mode, with the recording attention."""
    import torch
    from safetensors import SafetensorError
    from transformers import AutoModel

    from core.model import capture

    capture.register()
    try:
        network, report = AutoModel.from_pretrained(
            folder,
            attn_implementation=capture.IMPLEMENTATION,
            dtype=torch.float32,
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
        )
    except (SafetensorError, OSError) as error:
        raise NoWeightsError(
            name,
            f"The weights of {{name}} cannot be read ({type(error).__name__}): a file is damaged or"
            " missing.",
            "Download or save the model again.",
        ) from error
    except ValueError as error:
        raise UnsupportedModelError(
            name,
            "The attention of {name} cannot be captured: transformers does not let it be"
            f" replaced ({_first_line(error)}).",
            _PICK_ANOTHER,
        ) from error
    # Poolers sit above the last layer: checkpoints often lack them, and attention never sees them.
    missing = [key for key in report["missing_keys"] if "pooler" not in key]
    if missing:
        raise NoWeightsError(
            name,
            f"The weights of {{name}} are not complete: {len(missing)} tensors are missing,"
            f" for example {missing[0]}.",
            "Choose the folder that save_pretrained wrote.",
        )
    network.config.use_cache = False
    network.requires_grad_(requires_grad=False)
    return network.eval()  # type: ignore[no-any-return]


def pick_device() -> str:
    """The fastest device there is: "cuda", else "mps", else "cpu"."""
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _max_tokens(
    network: PreTrainedModel, config: PreTrainedConfig, tokenizer: PreTrainedTokenizerFast
) -> int:
    """Longest input: what the tokenizer says, and no more than there are positions."""
    import torch

    limits = [tokenizer.model_max_length, getattr(config, "max_position_embeddings", None)]
    for key, module in network.named_modules():
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


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0][:160]


__all__ = ["LoadedModel", "ModelError", "load", "pick_device"]
