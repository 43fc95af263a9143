"""Atlases that whoever runs the site has prepared: small files and large folders, by name.

They lie in the folder that HEADSCOPE_ATLASES names. Only what is listed there can be opened: a
link can name nothing else, and links on the disk are not followed.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from core.ui.serve.deployment import setting

PREPARED = "prepared"  # among the corpora, and the parameter of links
FILE, FOLDER = ".atlas.zip", ".atlas"
_MAX_NAMES = 500  # in the menu


def prepared_atlases() -> dict[str, Path]:
    """The files and folders that are offered, by name; a folder comes before a file of its name."""
    given = (setting("ATLASES") or "").strip()
    if not given:
        return {}
    files, folders = dict[str, Path](), dict[str, Path]()
    with suppress(OSError), os.scandir(given) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.name.endswith(FILE) and entry.is_file(follow_symlinks=False):
                files[entry.name.removesuffix(FILE)] = Path(entry.path)
            elif entry.name.endswith(FOLDER) and entry.is_dir(follow_symlinks=False):
                folders[entry.name.removesuffix(FOLDER)] = Path(entry.path)
    return dict(sorted((files | folders).items())[:_MAX_NAMES])
