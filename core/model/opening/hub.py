"""Ask the model hub about a model, with a short time-out and no retries."""

from __future__ import annotations

import json
import re
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core.model.errors import (
    DownloadRefusedError,
    HubUnreachableError,
    ModelError,
    NoWeightsError,
    UnknownModelError,
    UnsupportedModelError,
)

if TYPE_CHECKING:
    from huggingface_hub import ModelInfo

_MAX_FILES = 300  # of one model; the largest models come in about 200
_INDEX = "model.safetensors.index.json"
_COMMIT = re.compile("[0-9a-f]{40}")  # becomes the name of a folder
ASK_SECONDS = 3.0  # the longest wait before a visitor hears that the hub is unreachable
_WANTED = (".json", ".safetensors")  # never pickle, never code
_READERS = {"tokenizer.json", "preprocessor_config.json", "processor_config.json"}
LOCAL_ADVICE = "Pick a bundled model, or one that was downloaded before."


@dataclass(frozen=True)
class HubModel:
    """What the hub says about a model.

    Attributes
    ----------
    repo, revision : its id, and the commit of the files.
    files : name and size in bytes of every file we want: settings, tokenizer and safetensors
        weights at the top level. Subfolders hold other formats of the same weights.
    """

    repo: str
    revision: str
    files: tuple[tuple[str, int], ...]

    @property
    def size(self) -> int:
        """Total bytes of the files."""
        return sum(size for _, size in self.files)

    @property
    def size_mb(self) -> int:
        """The size in MB, rounded."""
        return round(self.size / 1e6)


def cached_folder(repo: str) -> Path | None:
    """Folder of a model in the local cache, if it has settings and all its safetensors weights.

    After an interrupted download, the index names files that are missing.
    """
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        config = try_to_load_from_cache(repo, "config.json")
    except HFValidationError:
        return None
    if not isinstance(config, str):
        return None
    folder = Path(config).parent
    index = folder / _INDEX
    if index.is_file():
        try:
            names = set(json.loads(index.read_text("utf-8"))["weight_map"].values())
        except (ValueError, KeyError, TypeError, AttributeError):
            return folder  # the check of the folder says what is wrong with it
        return folder if all((folder / str(name)).is_file() for name in names) else None
    return folder if any(folder.glob("*.safetensors")) else None


def look_up(repo: str, token: bool | None = None) -> HubModel:
    """Ask the hub about a model.

    Parameters
    ----------
    token : False sends no token, None this machine's token if there is one.

    Raises
    ------
    UnknownModelError
        No such id, or it is private or gated.
    NoWeightsError
        The model has no safetensors weights.
    DownloadRefusedError
        The hub does not say how large it is.
    HubUnreachableError
        No answer within `ASK_SECONDS`.
    """
    # The client's own time-out covers neither name resolution nor retries. An abandoned thread ends
    # on its own.
    answers: list[ModelInfo | ModelError] = []
    ask = threading.Thread(target=lambda: answers.append(_model_info(repo, token)), daemon=True)
    ask.start()
    ask.join(ASK_SECONDS)
    if not answers:
        raise HubUnreachableError(
            f"The model hub did not answer within {ASK_SECONDS:.0f} seconds about {{name}}.",
            f"Check the internet connection and try again. {LOCAL_ADVICE}",
        )
    (answer,) = answers
    if isinstance(answer, ModelError):
        raise answer
    if token is False and answer.gated:
        raise _unknown()
    return _read_info(repo, answer)


def _model_info(repo: str, token: bool | None) -> ModelInfo | ModelError:
    """The hub's model record, or the error for the asking thread to raise."""
    from huggingface_hub import HfApi, constants, errors

    constants.HF_HUB_DISABLE_TELEMETRY = True  # saves requests, and tells the hub less
    try:
        return HfApi(token=token).model_info(repo, timeout=ASK_SECONDS, files_metadata=True)
    except (errors.RepositoryNotFoundError, errors.HFValidationError):  # or it is gated
        return _unknown()
    except errors.OfflineModeIsEnabled:
        return HubUnreachableError(
            "{name} is not on this machine, and the hub client is set to offline mode.",
            LOCAL_ADVICE,
        )
    except Exception as error:  # noqa: BLE001 - all network failures are the same to a visitor
        return HubUnreachableError(
            f"The model hub could not be reached for {{name}} ({type(error).__name__}).",
            f"Check the internet connection and try again. {LOCAL_ADVICE}",
        )


def _unknown() -> UnknownModelError:
    return UnknownModelError(
        "There is no public model called {name} on the hub.",
        "Check the spelling (owner/name), or pick a model from the list.",
    )


def _read_info(repo: str, info: ModelInfo) -> HubModel:
    sizes = {file.rfilename: file.size for file in info.siblings or () if _wanted(file.rfilename)}
    if not any(name.endswith(".safetensors") for name in sizes):
        raise NoWeightsError(
            "{name} has no weights in the safetensors format, and other formats can run code.",
            "Pick another model, or convert its weights with save_pretrained and open the folder.",
        )
    if not _READERS & set(sizes):
        raise UnsupportedModelError(
            "{name} has no fast tokenizer: it comes without tokenizer.json.",
            "Pick another model, or save its tokenizer with save_pretrained and open the folder.",
        )
    if len(sizes) > _MAX_FILES:
        raise DownloadRefusedError(
            f"{{name}} comes in {len(sizes):,} files.", "Pick another model."
        )
    files = tuple((name, n) for name, n in sizes.items() if isinstance(n, int) and n >= 0)
    if len(files) < len(sizes) or _COMMIT.fullmatch(info.sha or "") is None:
        raise DownloadRefusedError(
            "The hub does not say how large the files of {name} are.", "Pick another model."
        )
    return HubModel(repo, info.sha, files)


def _wanted(name: str) -> bool:
    return not set(name) & set("/\\") and name.endswith(_WANTED)
