"""Will it fit? Told before the operating system tells it by ending the process."""

from __future__ import annotations

import contextlib
import ctypes
from pathlib import Path

from core.model.errors import OutOfMemoryError
from core.model.machine import control_groups

_BYTES_PER_WEIGHT = 4  # everything runs in float32
_HEADROOM = 1.25  # activations and the moment when file and network are both in memory
_ARENA_MAX, _MMAP_THRESHOLD = -8, -3  # as malloc.h of glibc names them


def return_freed_memory() -> None:
    """Let glibc give memory back to the system when it is freed; nothing happens elsewhere.

    A server runs each visitor's script in a thread, and each thread's arena keeps what was freed
    in it. With two arenas, and arrays from a megabyte on outside of them, a freed array is gone.
    """
    with contextlib.suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        library.mallopt(_ARENA_MAX, 2)
        library.mallopt(_MMAP_THRESHOLD, 2**20)


def check_fits(name: str, weights: int) -> None:
    """Refuse a model whose weights would not fit into the memory that is free.

    Parameters
    ----------
    name : the model as it was asked for.
    weights : how many numbers it has.

    Raises
    ------
    OutOfMemoryError
        With the sizes in megabytes.
    """
    free = available_bytes()
    needed = int(weights * _BYTES_PER_WEIGHT * _HEADROOM)
    if free is not None and needed > free:
        raise OutOfMemoryError(
            name,
            f"{{name}} needs about {needed / 1e6:,.0f} MB of memory,"
            f" and {free / 1e6:,.0f} MB are free.",
            "Pick a smaller model, or close other programs and try again.",
        )


def available_bytes() -> int | None:
    """Memory this process can still take, in bytes; None where the system does not tell."""
    limits = [_meminfo_available(), control_groups.available_bytes(), _address_space_available()]
    return min((limit for limit in limits if limit is not None), default=None)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error means that memory ran out, on the processor or on the graphics card."""
    text = str(error).lower()
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError)
        and ("out of memory" in text or "can't allocate memory" in text)
    )


def _meminfo_available() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    kilobytes = next((line.split()[1] for line in lines if line.startswith("MemAvailable")), None)
    return int(kilobytes) * 1024 if kilobytes else None


def _address_space_available() -> int | None:
    """What a limit on the address space (``ulimit -v``) leaves; None where there is none."""
    try:
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        used = pages * resource.getpagesize()
    except (ImportError, OSError, ValueError, IndexError):  # no such limit on Windows
        return None
    return None if limit == resource.RLIM_INFINITY else max(0, limit - used)
