"""Visits in tests that share a process with browser tests."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Coroutine


def run_visit(visit: Coroutine[Any, Any, None]) -> None:
    """Run a visit to its end, in a thread of its own: Playwright keeps a loop in the main one."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        thread.submit(asyncio.run, visit).result()
