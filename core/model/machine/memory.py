"""Will it fit? Checked before the operating system answers by killing the process."""

from __future__ import annotations

import contextlib
import ctypes

import psutil

from core.model.errors import FREE_MEMORY, OutOfMemoryError
from core.model.machine import control_groups

BYTES_PER_WEIGHT = 4  # everything runs in float32
_HEADROOM = 1.25  # for activations, and for the file and the network being in memory together
_ARENA_MAX, _MMAP_THRESHOLD = -8, -3  # from glibc's malloc.h


def return_freed_memory() -> None:
    """Make glibc return freed memory to the system; does nothing with other C libraries.

    A server runs each visitor's script in a thread, and each thread's arena keeps what was freed
    in it. With two arenas, and arrays of a megabyte or more outside them, freed arrays are gone.
    """
    with contextlib.suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        library.mallopt(_ARENA_MAX, 2)
        library.mallopt(_MMAP_THRESHOLD, 2**20)


def check_fits(weights: int) -> None:
    """Refuse a model whose weights would not fit in free memory.

    Parameters
    ----------
    weights : how many numbers it has.

    Raises
    ------
    OutOfMemoryError
        With the sizes in megabytes.
    """
    needed = int(weights * BYTES_PER_WEIGHT * _HEADROOM)
    if needed > (free := available_bytes()):
        raise OutOfMemoryError(
            f"{{name}} needs about {needed / 1e6:,.0f} MB of memory,"
            f" and {free / 1e6:,.0f} MB are free.",
            FREE_MEMORY,
        )


def available_bytes() -> int:
    """Memory that this process can still take, in bytes."""
    limits = (
        psutil.virtual_memory().available,
        control_groups.available_bytes(),  # psutil knows the machine, not the container
        _address_space_available(),
    )
    return min(limit for limit in limits if limit is not None)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error means that memory ran out, on the processor or on the graphics card."""
    text = str(error).lower()
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError)
        and ("out of memory" in text or "can't allocate memory" in text)
    )


def _address_space_available() -> int | None:
    """What ``ulimit -v`` leaves, in bytes; None without such a limit, or such limits."""
    process = psutil.Process()
    if not hasattr(process, "rlimit"):  # Windows, macOS
        return None
    limit, _ = process.rlimit(psutil.RLIMIT_AS)
    return None if limit == psutil.RLIM_INFINITY else max(0, limit - process.memory_info().vms)
