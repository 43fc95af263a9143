"""The pages' terms and their sources, read from the files beside this one."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Final, NamedTuple

_FOLDER = Path(__file__).parent


class Reference(NamedTuple):
    """One source. `where` is a DOI, an arXiv number, an ISBN or an address, shown as text."""

    authors: str
    year: str
    title: str
    published: str  # with the part that is meant
    where: str

    @property
    def entry(self) -> str:
        """A line of the list (Markdown); the address is plain text, since it may not open here."""
        entry = f"{self.authors} ({self.year}). *{self.title}*. {self.published}. `{self.where}`"
        return entry.replace("?*.", "?*")


TERMS: Final[dict[str, str]] = tomllib.loads((_FOLDER / "glossary.toml").read_text("utf-8"))
OF_IMAGES: Final = {"token": "patch", "[CLS]": "CLS", "special token": "register"}
REFERENCES: Final = {
    name: Reference(**fields)
    for name, fields in tomllib.loads((_FOLDER / "references.toml").read_text("utf-8")).items()
}
