"""What a stranger may send, each attack with little memory and time beside what it needs."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

_SECONDS = (
    300  # of own work: no clock on the wall decides, since a busy machine makes anything slow
)


@contextmanager
def little_memory(megabytes: int = 200) -> Iterator[None]:
    """In the block, the process may take no more than that beside what it has.

    Who works on and on in it is ended by the system.
    """
    most = {
        resource.RLIMIT_AS: psutil.Process().memory_info().vms + megabytes * 2**20,
        resource.RLIMIT_CPU: int(time.process_time()) + _SECONDS,
    }
    usual = {kind: resource.getrlimit(kind) for kind in most}
    try:
        for kind, limit in most.items():
            resource.setrlimit(kind, (limit, usual[kind][1]))
        yield
    finally:
        for kind, limits in usual.items():
            resource.setrlimit(kind, limits)
