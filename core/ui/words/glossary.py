"""What the words on the pages mean, as ``glossary.toml`` has it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Final

_FILE = Path(__file__).with_name("glossary.toml")
TERMS: Final[dict[str, str]] = tomllib.loads(_FILE.read_text("utf-8"))
OF_IMAGES: Final = {"token": "patch", "[CLS]": "CLS", "special token": "register"}
