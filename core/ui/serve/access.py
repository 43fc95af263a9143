"""What this visitor may use, decided before a model is loaded.

Models are cached by name for all visitors, so the cache key must be unambiguous: a catalogue name,
a hub id, or the absolute path of a folder. Only :func:`resolve` makes such a name.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import streamlit as st

from core.model.errors import ModelError, NotOfferedError, WrongInputError
from core.model.opening import catalog, hub
from core.model.opening.catalog import as_folder, find_entry
from core.ui.serve import visitor
from core.ui.serve.deployment import is_on, megabytes, setting
from core.vocabulary import Modality

DOWNLOAD_MB = 2_500.0  # the largest download for a visitor; Qwen2.5-0.5B takes 1,000
PUBLIC_SECONDS = 600.0  # for which a model found to be public still counts as public
_HUB_ID = re.compile(r"\w[\w.-]{0,95}(/\w[\w.-]{0,95})?", re.ASCII)
_FOLDER_STARTS = ("/", ".", "~", "\\")  # of folders in the operator's list
_ANY_OTHER_MODEL = "To use any other model, run the app on your own machine."
_SIGNS = (
    "\n\n↔ reads both ways (encoder)  \n→ reads left to right (decoder)  \n↔→ has an encoder and a"
    " decoder  \nA size is what must be downloaded the first time; *licence*: its owner wants it"
    " accepted on the model hub; *too large here*: it needs more memory than is available."
)
_MAX_NAMES = 12  # models listed in a refusal


@dataclass(frozen=True)
class Access:
    """What a visitor may use.

    Attributes
    ----------
    names : the models listed in the box.
    any_hub_id : whether any other model on the hub may be named.
    any_folder : whether any folder on this machine may be named.
    folders : folders on this machine whose subfolders may be named.
    """

    names: tuple[str, ...]
    any_hub_id: bool = False
    any_folder: bool = False
    folders: tuple[str, ...] = ()

    @property
    def free_text(self) -> bool:
        """Whether a visitor may type a name that is not in the box."""
        return self.any_hub_id or self.any_folder or bool(self.folders)


def access(modality: Modality = "text") -> Access:
    """What this run's visitor may use, for texts or for images.

    The operator's settings apply to everybody. Without any, a visitor at this machine may use
    everything, others only the bundled models. A visitor at this machine who may use any hub id
    may also open any folder; others only folders below the operator's. All may use `own_model`.
    """
    granted, own = _granted(modality), own_model(modality)
    return replace(granted, names=tuple(dict.fromkeys((own, *granted.names)))) if own else granted


def _granted(modality: Modality) -> Access:
    is_here = visitor.is_on_this_machine()
    names, any_hub_id = read_offer(setting("MODELS") or "", modality)
    if not names and not any_hub_id and not (setting("MODELS") or "").strip(" ,"):
        if is_here:
            return Access(_catalogue(modality), any_hub_id=True, any_folder=True)
        names = tuple(spec.name for spec in catalog.reading(modality) if spec.bundled)
    folders = tuple(part for part in (setting("FOLDERS") or "").split(os.pathsep) if part.strip())
    return Access(names, any_hub_id, is_here and any_hub_id, folders)


def _catalogue(modality: Modality) -> tuple[str, ...]:
    return tuple(spec.name for spec in catalog.reading(modality))


def read_offer(setting: str, modality: Modality = "text") -> tuple[tuple[str, ...], bool]:
    """Read the operator's comma-separated list: names of models, and whether to allow any hub id.

    Catalogue models that do not read this modality are dropped.

    ``catalogue`` means every model in the catalogue, ``any`` these and any hub id; both may be
    mixed with names, in upper or lower case. Everything else is a name.
    """
    words = [word.strip() for word in setting.split(",")]
    names: list[str] = []
    for word in filter(None, words):
        is_catalog = word.lower() in {"any", "catalogue", "catalog"}
        spec = None if is_catalog else find_entry(word)
        if spec is None or spec.modality == modality:
            names += _catalogue(modality) if is_catalog else [word]
    return tuple(dict.fromkeys(names)), "any" in map(str.lower, words)


def first_offered(modality: Modality = "text") -> str:
    """The model shown when a link names none; "" if this site offers none for this modality."""
    names, default = access(modality).names, own_model(modality) or catalog.default_model(modality)
    return default if default in names else next(iter(names), "")


def own_model(modality: Modality) -> str:
    """The model of ``HEADSCOPE_MODEL``, if it reads this modality; else ""."""
    name = (setting("MODEL") or "").strip()
    return _if_it_reads(modality, name) if name else ""


@lru_cache(maxsize=8)  # a few files are read
def _if_it_reads(modality: Modality, name: str) -> str:
    """What cannot be opened counts as a text model; it is refused where it is shown."""
    from core.model.opening.folder import check_folder

    if spec := find_entry(name):
        return spec.name if spec.modality == modality else ""
    reads: Modality | None = "text"
    try:
        if folder := as_folder(name):
            name = str(folder.resolve())
        if folder := folder or hub.cached_folder(name):
            reads = check_folder(folder, modality).modality
    except WrongInputError:
        reads = None
    except ModelError:
        pass
    return name if reads == modality else ""


def resolve(name: str, modality: Modality = "text") -> str:
    """The name to load a model by, if this visitor may use it.

    Raises
    ------
    NotOfferedError
        The visitor may not use it. For a name that looks like a folder the message is always the
        same, and the disk is not searched for it.
    ModelError
        There is no such folder (if the visitor may know that), or the model is in this machine's
        cache but is not public on the hub.
    """
    granted = access(modality)
    spec = find_entry(name)
    if name in granted.names or (spec is not None and spec.name in granted.names):
        is_folder = spec is None and name.startswith(_FOLDER_STARTS)
        return str(Path(name).expanduser().resolve()) if is_folder else name
    if granted.any_folder and spec is None and (folder := as_folder(name)) is not None:
        return str(folder.resolve())
    if (path := _resolve_below(name, granted.folders)) is not None:
        return path
    if not granted.any_hub_id or (not granted.any_folder and not _HUB_ID.fullmatch(name)):
        raise _not_offered(name, granted)
    if hub_token() is False and spec is None and hub.cached_folder(name) is not None:
        from core.model.refusal import refusing

        with refusing(name, "load"):
            _check_public(name)
    return name


@st.cache_resource(max_entries=256, ttl=PUBLIC_SECONDS, show_spinner=False)
def _check_public(repo: str) -> None:
    """Raise the hub's error without a token, if any: the cache may hold a private model."""
    hub.look_up(repo, token=False)


def hub_token() -> bool | None:
    """The token for this visitor's hub requests: None for the operator's, False for none."""
    return None if is_on("HUB_TOKEN") or visitor.is_on_this_machine() else False


def max_download_mb() -> float | None:
    """The largest model that this visitor may download, in MB; None for no limit."""
    return None if visitor.is_on_this_machine() else megabytes("DOWNLOAD_MB", DOWNLOAD_MB)


def box_help(granted: Access) -> str:
    """The help text of the model box: what may be picked and typed."""
    if not granted.free_text:
        return f"This site offers these models. {_ANY_OTHER_MODEL} {_SIGNS}"
    typed = ["any Hugging Face id (owner/name)"] if granted.any_hub_id else []
    if granted.any_folder:
        typed.append("a local folder")
    elif granted.folders:
        typed.append("a folder that this site has opened to visitors")
    return f"Pick one, or type {' or '.join(typed)}. {_SIGNS}"


def _resolve_below(name: str, roots: tuple[str, ...]) -> str | None:
    """`name` with links followed, if it lies below one of the operator's folders.

    Nothing outside them is accessed: paths are compared as text before links are followed.
    """
    if not roots or not Path(name).is_absolute() or "\0" in name:
        return None
    path = Path(os.path.normpath(name))  # resolves ".." without touching the disk
    for root in (Path(root.strip()).absolute() for root in roots):
        real_root = root.resolve()
        if not any(map(path.is_relative_to, (root, real_root))):
            continue
        real = Path(os.path.realpath(path))
        if real.is_relative_to(real_root) and real.is_dir():
            return str(real)
    return None


def _not_offered(name: str, granted: Access) -> NotOfferedError:
    if granted.any_hub_id:
        return NotOfferedError(
            "{name} is not a model id (owner/name), and this site opens no folder of that name.",
            "Type an id, or pick a model from the list. To open folders, run the app on your own"
            " machine.",
            name,
        )
    names = ", ".join(granted.names[:_MAX_NAMES])
    names += " …" if len(granted.names) > _MAX_NAMES else ""
    return NotOfferedError(
        "This site does not offer {name}.", f"It offers: {names}. {_ANY_OTHER_MODEL}", name
    )
