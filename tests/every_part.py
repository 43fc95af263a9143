"""Every page and part, as the records have them, and a site that offers a large atlas."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from unittest import mock

from core.ui.words.pages import PAGES, Part
from tests.atlas.folders import write_folder
from tests.pages.atlases import small

if TYPE_CHECKING:
    from collections.abc import Iterator

    from core.ui.words.pages import Page
    from core.vocabulary import Modality

    Place = tuple[str, dict[str, str]]  # a page, and the parameters of a link to it


def parts(modality: Modality) -> list[Place]:
    """Every part of every page that shows texts, or images."""
    return [
        (page.name, {page.part_key: name} if name else {})
        for page in PAGES
        for name, part in _parts(page).items()
        if modality in page.modalities and modality in part.modalities
    ]


def visits(modality: Modality | None = None) -> list[Place]:
    """Links that together show every control, of texts, of images, or of what each part is for."""
    places = []
    for page in PAGES:
        for name, part in _parts(page).items():
            shown = [each for each in page.modalities if each in part.modalities]
            if modality in (None, *shown):
                first = modality or shown[0]
                given = {**page.quick, **({page.part_key: name} if name else {})}
                if first != page.modalities[0]:
                    given["input"] = first
                    given.pop("model", None)
                places += [
                    (page.name, {**given, **link})
                    for link in part.visits
                    if link.get("input", first) == first or modality is None
                ]
    return places


def _parts(page: Page) -> dict[str, Part]:
    """The parts of the page; itself where it has none."""
    return dict(page.parts) or {"": Part(page.title, page.modalities, page.visits)}


@contextmanager
def prepared_site() -> Iterator[None]:
    """A site that offers a large atlas."""
    with TemporaryDirectory() as folder:
        write_folder(small(), Path(folder) / "large.atlas", [(0, 1), (2, 3)], (1, 2))
        with mock.patch.dict(os.environ, HEADSCOPE_ATLASES=folder):
            yield
