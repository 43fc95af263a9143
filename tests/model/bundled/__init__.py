"""The models that come with the app, and planted ones: each is loaded once a process."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from core.model import LoadedModel, load

loaded: Callable[[str], LoadedModel] = cache(load)
