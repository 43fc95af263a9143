"""What an installation brings is pinned to the last package."""

from __future__ import annotations

import re
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
CLUSTER = "core/atlas/distributed/requirements.txt"
# PyTorch's metadata pins these itself, and which of them there are depends on its build.
OF_TORCH = re.compile(r"nvidia-|cuda-|triton")


def lines(name: str) -> list[str]:
    """A requirements file without comments, options and markers."""
    stripped = (
        re.split("[#;]", line)[0].strip() for line in (ROOT / name).read_text().splitlines()
    )
    return [line for line in stripped if line and not line.startswith("-")]


def closure(wanted: list[Requirement]) -> dict[str, str]:
    """Name -> version, of all that these requirements bring on this machine."""
    versions: dict[str, str] = {}
    seen = set[tuple[str, ...]]()
    while wanted:
        requirement = wanted.pop()
        key = (canonicalize_name(requirement.name), *sorted(requirement.extras))
        if key in seen:
            continue
        seen.add(key)
        package, extras = distribution(requirement.name), ("", *requirement.extras)
        versions[key[0]] = package.version.split("+")[0]  # of a build, such as "+cpu"
        wanted += [
            needed
            for needed in map(Requirement, package.requires or ())
            if not needed.marker or any(needed.marker.evaluate({"extra": e}) for e in extras)
        ]
    return versions


def unpinned(wanted: str, *others: str) -> dict[str, str]:
    """Name -> version of what a requirements file brings, and neither it nor the others pin."""
    pins = (Requirement(line) for name in (wanted, *others) for line in lines(name))
    pinned = {(canonicalize_name(pin.name), str(pin.specifier)) for pin in pins}
    installed = closure([Requirement(line) for line in lines(wanted)])
    return {
        name: version
        for name, version in installed.items()
        if (name, f"=={version}") not in pinned and not OF_TORCH.match(name)
    }


def test_every_package_an_installation_brings_is_pinned_to_the_version_that_was_tested() -> None:
    """And none of one graphics card is forced on anybody."""
    assert "-c constraints.txt" in (ROOT / "requirements.txt").read_text().splitlines()
    assert unpinned("requirements.txt", "constraints.txt") == {}
    assert [line for line in lines("constraints.txt") if OF_TORCH.match(line)] == []


@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is optional, and not installed here")
def test_every_package_that_ray_brings_is_pinned_too() -> None:
    assert unpinned(CLUSTER, "requirements.txt", "constraints.txt") == {}
