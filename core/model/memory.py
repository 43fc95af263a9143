"""Will it fit? Checked before the operating system answers by killing the process."""

from __future__ import annotations

import contextlib
import ctypes
from pathlib import Path

import psutil

from core.model.errors import FREE_MEMORY, OutOfMemoryError

BYTES_PER_WEIGHT = 4  # of float32
_HEADROOM = 1.25  # for activations, and for the file and the network being in memory together
_GROUPS, _OWN_GROUP = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
_ARENA_MAX, _MMAP_THRESHOLD = -8, -3  # from glibc's malloc.h


def return_freed_memory() -> None:
    """Make glibc return freed memory to the system; does nothing with other C libraries.

    A server runs each visitor's script in a thread, and each thread's arena keeps what was freed
    in it. With two arenas, and arrays of a megabyte or more outside them, freed arrays go back.
    """
    with contextlib.suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        library.mallopt(_ARENA_MAX, 2)
        library.mallopt(_MMAP_THRESHOLD, 2**20)


def needed_bytes(weights: int, bytes_per_weight: int = BYTES_PER_WEIGHT) -> int:
    """Memory that a network of this many weights needs, in bytes."""
    return int(weights * bytes_per_weight * _HEADROOM)


def check_fits(weights: int, bytes_per_weight: int = BYTES_PER_WEIGHT) -> None:
    """Refuse a model whose weights would not fit in free memory.

    Parameters
    ----------
    weights : how many numbers it has.
    bytes_per_weight : 2 for a model that stays in half precision.

    Raises
    ------
    OutOfMemoryError
        With the sizes in megabytes.
    """
    needed = needed_bytes(weights, bytes_per_weight)
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
        container_bytes(),  # psutil knows the machine, not the container
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


def container_bytes() -> int | None:
    """What the control groups around this process leave, in bytes; None without a limit.

    The kernel's Documentation/admin-guide/cgroup-v2.rst, "Memory Interface Files". A container
    often sees its own group as the mount itself while /proc names the path on the host, so some of
    these folders do not exist.
    """
    try:
        lines = _OWN_GROUP.read_text("utf-8").splitlines()
    except OSError:
        lines = []
    path = next((line.removeprefix("0::") for line in lines if line.startswith("0::")), "")
    parts = [part for part in path.split("/") if part]
    if ".." in parts:  # a group outside the mount, as in a foreign namespace
        parts = []
    groups = (_GROUPS.joinpath(*parts[:count]) for count in range(len(parts) + 1))
    return min((free for group in groups if (free := _free_bytes(group)) is not None), default=None)


def _free_bytes(group: Path) -> int | None:
    """Limit minus usage of one group; None without a limit, or where it cannot be read.

    File pages that nobody used lately count as free: the kernel drops them when memory is needed.
    """
    try:
        limit = int((group / "memory.max").read_text("utf-8"))  # ValueError: "max", no limit
        used = int((group / "memory.current").read_text("utf-8"))
        lines = (group / "memory.stat").read_text("utf-8").splitlines()
        sizes = {name: int(size) for name, _, size in (line.partition(" ") for line in lines)}
    except (OSError, ValueError):
        return None
    return max(0, limit - max(0, used - sizes.get("inactive_file", 0)))
