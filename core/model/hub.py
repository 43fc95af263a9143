"""The model hub: ask it first, with a short time-out, then download. No retries, no surprises."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from core.model.errors import (
    HubUnreachableError,
    ModelError,
    NoWeightsError,
    UnknownModelError,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from huggingface_hub import ModelInfo

T = TypeVar("T")

ASK_SECONDS = 3.0  # a person waits at most this long to hear that the hub is out of reach
_WANTED = ("*.json", "*.txt", "*.model", "*.safetensors")  # never pickle, never code
_LOCAL_WAY_OUT = "Pick a bundled model, a model downloaded before, or a local folder."


@dataclass(frozen=True)
class HubModel:
    """What the hub says of a model: its id and the size of its safetensors weights in MB."""

    repo: str
    size_mb: int


def cached_folder(repo: str) -> Path | None:
    """Folder of a model in the local cache, if its settings and safetensors weights are there."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        config = try_to_load_from_cache(repo, "config.json")
    except HFValidationError:
        return None
    if not isinstance(config, str):
        return None
    folder = Path(config).parent
    return folder if any(folder.glob("*.safetensors")) else None


def ask(repo: str) -> HubModel:
    """Ask the hub about a model.

    Raises
    ------
    UnknownModelError
        No such id, or it is private or gated.
    NoWeightsError
        The model has no safetensors weights.
    HubUnreachableError
        No answer within `ASK_SECONDS`.
    """
    answer = _within(ASK_SECONDS, lambda: _model_info(repo))
    if answer is None:
        raise HubUnreachableError(
            repo,
            f"The model hub did not answer within {ASK_SECONDS:.0f} seconds about {{name}}.",
            f"Check the internet connection and try again. {_LOCAL_WAY_OUT}",
        )
    if isinstance(answer, ModelError):
        raise answer
    return _read_info(repo, answer)


def download(repo: str) -> Path:
    """Download settings, tokenizer and safetensors weights into the local cache.

    Raises
    ------
    HubUnreachableError
        When the connection breaks off.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError

    try:
        return Path(snapshot_download(repo, allow_patterns=list(_WANTED)))
    except (HfHubHTTPError, OSError) as error:
        raise HubUnreachableError(
            repo,
            f"The download of {{name}} broke off ({type(error).__name__}).",
            f"Try again: what has arrived is kept. {_LOCAL_WAY_OUT}",
        ) from error


def _endpoint() -> str | None:
    """Address of the hub; None for the client's own default (``HF_ENDPOINT``)."""
    return None


def _model_info(repo: str) -> ModelInfo | ModelError:
    """The hub's model record, or the error to raise in the asking thread."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import (
        GatedRepoError,
        HFValidationError,
        OfflineModeIsEnabled,
        RepositoryNotFoundError,
    )

    try:
        return HfApi(endpoint=_endpoint()).model_info(
            repo, timeout=ASK_SECONDS, files_metadata=True
        )
    except (RepositoryNotFoundError, GatedRepoError, HFValidationError):
        return UnknownModelError(
            repo,
            "There is no public model called {name}, neither as a folder here nor on the hub.",
            "Check the spelling (owner/name), or pick a model from the list.",
        )
    except OfflineModeIsEnabled:
        return HubUnreachableError(
            repo,
            "{name} is not on this machine, and the hub client is set to offline mode.",
            _LOCAL_WAY_OUT,
        )
    except Exception as error:  # noqa: BLE001 - every way a network can fail is the same to a person
        return HubUnreachableError(
            repo,
            f"The model hub could not be reached about {{name}} ({type(error).__name__}).",
            f"Check the internet connection and try again. {_LOCAL_WAY_OUT}",
        )


def _read_info(repo: str, info: ModelInfo) -> HubModel:
    files = {file.rfilename: file.size or 0 for file in info.siblings or ()}
    # Top level only: subfolders hold other formats of the same weights.
    weights = {
        name: size
        for name, size in files.items()
        if name.endswith(".safetensors") and "/" not in name
    }
    if not weights:
        raise NoWeightsError(
            repo,
            "{name} has no weights in the safetensors format, and other formats can run code.",
            "Pick another model, or convert its weights with save_pretrained and open the folder.",
        )
    return HubModel(repo, round(sum(weights.values()) / 1e6))


def _within(seconds: float, work: Callable[[], T]) -> T | None:
    """The result of `work`, or None after `seconds`; the abandoned thread ends on its own.

    The client's own time-out does not cover name resolution nor its retries.
    """
    results: list[T] = []
    thread = threading.Thread(target=lambda: results.append(work()), daemon=True)
    thread.start()
    thread.join(seconds)
    return results[0] if results else None
