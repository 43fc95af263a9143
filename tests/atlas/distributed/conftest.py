"""Ray, started once for a module's tests; they are skipped where it is not installed."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from core.atlas.distributed.session import Workers

# Ray makes a token in the home folder where there is none; of two processes that do so at the same
# time, one would be left with the other's.
os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))


@pytest.fixture(scope="module")
def two_workers() -> Iterator[Workers]:
    """Ray on this machine, with room for two workers of one core."""
    pytest.importorskip("ray", reason="Ray is optional, and not installed here")
    from core.atlas.distributed.session import LOCAL, joined

    with joined(LOCAL, workers=2) as workers:
        yield workers
