"""What this visitor may use, decided before a model is asked for.

Models are cached by name for all visitors, so the name that the cache is asked for says all: a
catalogue name, an id of the hub, or the absolute path of a folder. Only :func:`resolve` makes one.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from core.model import CATALOG, catalog
from core.model.catalog import BUNDLED, find, offered
from core.model.downloading import hub
from core.model.errors import NotOfferedError
from core.model.loading import as_folder
from core.ui.site import visitor
from core.ui.site.deployment import is_on, megabytes, setting

DOWNLOAD_MB = 2_500.0  # the largest download for a visitor: Qwen2.5-0.5B takes 1,000
_HUB_ID = re.compile(r"\w[\w.-]{0,95}(/\w[\w.-]{0,95})?", re.ASCII)
_FOLDER_STARTS = ("/", ".", "~", "\\")  # of a folder in the operator's list
_ELSEWHERE = "To use any other model, run the app on your own machine."


@dataclass(frozen=True)
class Access:
    """What a visitor may use.

    Attributes
    ----------
    names : the models in the box.
    any_hub_id : whether any other model of the hub may be named.
    any_folder : whether any folder of this machine may be.
    folders : folders of this machine below which any may be.
    """

    names: tuple[str, ...]
    any_hub_id: bool = False
    any_folder: bool = False
    folders: tuple[str, ...] = ()

    @property
    def free_text(self) -> bool:
        """Whether something may be typed that is not in the box."""
        return self.any_hub_id or self.any_folder or bool(self.folders)


def access() -> Access:
    """What the visitor of this run may use.

    What the operator says holds for all, and where nothing is said a visitor on this machine may
    use everything, all others the models that come with the app. Folders are for a visitor on this
    machine who may use everything or any id of the hub; for others, below those of the operator.
    """
    offer, here = offered(setting("MODELS")), visitor.is_on_this_machine()
    folders = tuple(part for part in (setting("FOLDERS") or "").split(os.pathsep) if part.strip())
    if offer is None and here:
        return Access(tuple(spec.name for spec in CATALOG), any_hub_id=True, any_folder=True)
    offer = offer or BUNDLED
    return Access(offer.names, offer.any_hub_id, here and offer.any_hub_id, folders)


def default_model() -> str:
    """The model shown when a link names none."""
    names, first = access().names, catalog.default_model()
    return first if first in names else names[0]


def resolve(name: str) -> str:
    """The name to load a model by, if this visitor may use it.

    Raises
    ------
    NotOfferedError
        The visitor may not; where a name reads like a folder, in the same words and without a look
        at the disk whether there is one or not.
    ModelError
        There is no such folder here, for a visitor who may know; or the model lies in this
        machine's cache, and the hub does not show it to everybody.
    """
    granted = access()
    spec = find(name)
    if name in granted.names or (spec is not None and spec.name in granted.names):
        listed_folder = spec is None and name.startswith(_FOLDER_STARTS)
        return str(Path(name).expanduser().resolve()) if listed_folder else name
    if granted.any_folder and spec is None and (folder := as_folder(name)) is not None:
        return str(folder.resolve())
    if (below := _below(name, granted.folders)) is not None:
        return below
    if not granted.any_hub_id or (not granted.any_folder and not _HUB_ID.fullmatch(name)):
        raise _not_offered(name, granted)
    if hub_token() is False and spec is None and hub.cached_folder(name) is not None:
        hub.check_public(name)
    return name


def hub_token() -> bool | None:
    """Whether this visitor's requests to the hub carry the operator's token: None yes, False no."""
    return None if is_on("HUB_TOKEN") or visitor.is_on_this_machine() else False


def max_download_mb() -> float | None:
    """The largest model that this visitor may have downloaded, in MB; None for any."""
    return None if visitor.is_on_this_machine() else megabytes("DOWNLOAD_MB", DOWNLOAD_MB)


def box_help(granted: Access) -> str:
    """What may be chosen and typed, for the model box."""
    if not granted.free_text:
        return f"This site offers these models. {_ELSEWHERE}"
    typed = ["any Hugging Face id (owner/name)"] if granted.any_hub_id else []
    if granted.any_folder:
        typed.append("a local folder")
    elif granted.folders:
        typed.append("a folder that this site has opened to visitors")
    return f"Pick one, or type {' or '.join(typed)}."


def _below(name: str, roots: tuple[str, ...]) -> str | None:
    """`name` with links followed, where it lies below one of the operator's folders.

    Nothing outside of them is looked at: first the words are compared, then what they lead to.
    """
    if not roots or not Path(name).is_absolute() or "\0" in name:
        return None
    plain = os.path.normpath(name)  # ".." is taken out without a look at the disk
    for root in (Path(root.strip()).absolute() for root in roots):
        real_root = root.resolve()
        if not any(Path(plain).is_relative_to(each) for each in (root, real_root)):
            continue
        try:
            real = Path(plain).resolve(strict=True)
        except (OSError, RuntimeError):  # not there, or links in a circle
            continue
        if real.is_relative_to(real_root) and real.is_dir():
            return str(real)
    return None


def _not_offered(name: str, granted: Access) -> NotOfferedError:
    if granted.any_hub_id:
        return NotOfferedError(
            name,
            "{name} is not a model id (owner/name), and this site opens no folder of that name.",
            "Type an id, or pick a model from the list. To open folders, run the app on your own"
            " machine.",
        )
    few = 12
    names = ", ".join(granted.names[:few]) + (" …" if len(granted.names) > few else "")
    return NotOfferedError(
        name, "This site does not offer {name}.", f"It offers: {names}. {_ELSEWHERE}"
    )
