"""Will it fit? Told before the operating system tells it by ending the process."""

from __future__ import annotations

import contextlib
import ctypes
import json
from pathlib import Path

from core.model.errors import OutOfMemoryError

_BYTES_PER_WEIGHT = 4  # everything runs in float32
_HEADROOM = 1.25  # activations and the moment when file and network are both in memory
_HEADER_LENGTH_BYTES = 8
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


def check_fits(name: str, folder: Path) -> None:
    """Refuse a model whose weights would not fit into the memory that is free.

    Raises
    ------
    OutOfMemoryError
        With the sizes in megabytes.
    """
    free = available_bytes()
    needed = int(count_weights(folder) * _BYTES_PER_WEIGHT * _HEADROOM)
    if free is not None and needed > free:
        raise OutOfMemoryError(
            name,
            f"{{name}} needs about {needed / 1e6:.0f} MB of memory,"
            f" and {free / 1e6:.0f} MB are free.",
            "Pick a smaller model, or close other programs and try again.",
        )


def count_weights(folder: Path) -> int:
    """Number of weights in a folder's safetensors files, from their headers alone."""
    return sum(_count_in_file(path) for path in folder.glob("*.safetensors"))


def available_bytes() -> int | None:
    """Memory this process can still take, in bytes; None where the system does not tell."""
    limits = [_meminfo_available(), _control_group_available()]
    return min((limit for limit in limits if limit is not None), default=None)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error means that memory ran out, on the processor or on the graphics card."""
    text = str(error).lower()
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError)
        and ("out of memory" in text or "can't allocate memory" in text)
    )


def _count_in_file(path: Path) -> int:
    with path.open("rb") as file:
        length = int.from_bytes(file.read(_HEADER_LENGTH_BYTES), "little")
        if length > path.stat().st_size:
            return 0  # not a safetensors file; loading will say so
        try:
            header = json.loads(file.read(length))
        except ValueError:
            return 0
    return sum(_product(entry["shape"]) for key, entry in header.items() if key != "__metadata__")


def _product(shape: list[int]) -> int:
    total = 1
    for size in shape:
        total *= size
    return total


def _meminfo_available() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    kilobytes = next((line.split()[1] for line in lines if line.startswith("MemAvailable")), None)
    return int(kilobytes) * 1024 if kilobytes else None


def _control_group_available() -> int | None:
    """What a container's memory limit leaves (control groups, version 2)."""
    group = Path("/sys/fs/cgroup")
    try:
        limit = (group / "memory.max").read_text().strip()
        used = int((group / "memory.current").read_text())
    except (OSError, ValueError):
        return None
    return None if limit == "max" else max(0, int(limit) - used)
