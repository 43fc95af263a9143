"""Memory that a container leaves to this process: control groups of Linux, versions 1 and 2.

Version 1: Documentation/admin-guide/cgroup-v1/memory.rst of the kernel, section 5.
Version 2: Documentation/admin-guide/cgroup-v2.rst, "Memory Interface Files".
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# Version 1 says "no limit" with the largest multiple of a page below 2^63.
_NO_LIMIT_BYTES = 2**60


@dataclass(frozen=True)
class _Files:
    """How a version names the limit, the use, and the part of the use that can be given back."""

    limit: str
    used: str
    reclaimable: str


_VERSION_1 = _Files("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
_VERSION_2 = _Files("memory.max", "memory.current", "inactive_file")


def available_bytes(
    groups: Path = Path("/sys/fs/cgroup"), process: Path = Path("/proc/self/cgroup")
) -> int | None:
    """The least that any group around this process leaves, in bytes; None where none has a limit.

    Parameters
    ----------
    groups : where the control groups are mounted.
    process : the file that names the groups of this process.
    """
    try:
        lines = process.read_text("utf-8")
    except OSError:
        lines = ""
    left = [
        bytes_left(folder, files)
        for files, folder in _folders(groups, lines)
        if (folder / files.limit).is_file()
    ]
    return min((each for each in left if each is not None), default=None)


def own_groups(lines: str) -> tuple[str | None, str | None]:
    r"""Paths of a process's memory groups, of version 1 and of version 2, from /proc/self/cgroup.

    >>> own_groups("4:memory:/pod/app\n2:cpu:/x\n0::/unified")
    ('/pod/app', '/unified')
    """
    first = second = None
    for line in lines.splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if "memory" in controllers.split(","):
            first = path
        elif number == "0" and not controllers:
            second = path
    return first, second


def bytes_left(group: Path, files: _Files) -> int | None:
    """Limit less use of one group, in bytes; None without a limit, or where it cannot be read.

    Pages of files that nobody has used lately count as free: the kernel drops them when memory is
    asked for.
    """
    try:
        text = (group / files.limit).read_text("utf-8").strip()
        used = int((group / files.used).read_text("utf-8"))
        limit = _NO_LIMIT_BYTES if text == "max" else int(text)
    except (OSError, ValueError):
        return None
    if limit >= _NO_LIMIT_BYTES:
        return None
    return max(0, limit - max(0, used - _reclaimable(group, files)))


def _reclaimable(group: Path, files: _Files) -> int:
    try:
        lines = (group / "memory.stat").read_text("utf-8").splitlines()
    except OSError:
        return 0
    fields = (line.split() for line in lines)
    sizes = {field[0]: field[1] for field in fields if len(field) == 2}
    size = sizes.get(files.reclaimable, "0")
    return int(size) if size.isdigit() else 0


def _folders(groups: Path, lines: str) -> Iterator[tuple[_Files, Path]]:
    """The process's group and those around it, up to the mount, for both versions.

    A container often sees its own group as the mount itself, while /proc names the path from the
    host; the folders that are not there are passed over by the caller.
    """
    first, second = own_groups(lines)
    yield from ((_VERSION_1, folder) for folder in _upward(groups / "memory", first))
    for mount in (groups, groups / "unified"):
        yield from ((_VERSION_2, folder) for folder in _upward(mount, second))


def _upward(mount: Path, path: str | None) -> list[Path]:
    parts = [part for part in (path or "").split("/") if part]
    if ".." in parts:  # a group outside the mount, as a process in a foreign namespace has
        parts = []
    return [mount.joinpath(*parts[:count]) for count in range(len(parts), -1, -1)]
