"""Which Chromium the tests and benchmarks drive, and how it is started."""

from __future__ import annotations

import os
import shutil

ARGUMENTS = [
    "--no-sandbox",
    "--disable-quic",
    "--disable-gpu-rasterization",
    "--disable-gpu-compositing",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
]
_NAMES = (
    "chromium-headless-shell",  # the same engine, an eighth less work
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)


def find_chromium() -> str | None:
    """The executable that HEADSCOPE_CHROMIUM names, else one on the path, else None."""
    return os.environ.get("HEADSCOPE_CHROMIUM") or next(
        filter(None, map(shutil.which, _NAMES)), None
    )
