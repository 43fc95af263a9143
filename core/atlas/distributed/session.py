"""Join a Ray cluster, or start one of this machine's cores."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

CORE = Path(__file__).parents[2]
LOCAL, AUTO = "local", "auto"
_PATIENCE = 5.0  # seconds
# Bytes for what travels between processes: sums of some megabytes a part, and lines of the corpus.
_OBJECT_STORE = 512 * 2**20
# Read when Ray is imported. Nothing is reported to Ray's makers, and logs have errors only: a line
# of the corpus must not get into them.
_SETTINGS = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal"}


class ClusterError(Exception):
    """The cluster cannot be used; the message says why in one line."""


@dataclass(frozen=True)
class Workers:
    """How many processes hold the model, and what each of them takes."""

    count: int
    cores: int
    gpus: int


@contextmanager
def joined(address: str, workers: int | None = None, cores: int = 1) -> Iterator[Workers]:
    """Ray at this address, until the end of the block.

    Parameters
    ----------
    address : "local", "auto" on a machine of a running cluster, or its head's host:port.
    workers : processes that hold the model; by default one a GPU or, without any, as many as there
        are cores for. More than the cluster has room for make one that can grow do so.
    cores : of each worker that has no GPU.

    Raises `ClusterError` when Ray is not installed, nothing answers there, or the cluster fails.
    """
    os.environ |= {name: os.environ.get(name, value) for name, value in _SETTINGS.items()}
    try:
        import ray
    except ImportError as error:
        raise ClusterError(
            "Ray is not installed: pip install -r core/atlas/distributed/requirements.txt"
        ) from error
    there = _running() if address == AUTO else address
    if there.startswith("ray://"):
        raise ClusterError(
            "Give this command on a machine of the cluster with --ray auto, or with `ray job"
            " submit`: by ray:// the corpus could not be read in order."
        )
    try:
        _knock(there)
        ray.init(**_options(address, workers, cores))  # "auto" finds the cluster's token too
    except (OSError, RuntimeError, ValueError) as error:
        raise ClusterError(f"No Ray at {address}: {error}") from error
    try:
        yield _workers(workers, cores)
    except Exception as error:
        if not type(error).__module__.startswith("ray."):
            raise
        reason = str(error or type(error).__name__).strip().partition("\n")[0]
        raise ClusterError(f"The cluster failed: {reason}") from error
    finally:
        ray.shutdown()


def _running() -> str:
    """Where the cluster is that `ray start` or a job made this machine part of.

    Ray itself would also take a cluster that somebody's program has here for itself, and that ends
    with it, and with all that joined it.
    """
    from ray._private.utils import read_ray_address

    address = os.environ.get("RAY_ADDRESS") or read_ray_address()
    if not address or address == AUTO:
        raise ClusterError(f"No Ray at {AUTO}: `ray start` has not been given on this machine.")
    return str(address)


def _knock(address: str) -> None:
    """Ask whether anything is at host:port, where Ray itself would wait for minutes; `OSError`."""
    host, _, port = address.rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host, int(port)), _PATIENCE).close()


def _options(address: str, workers: int | None, cores: int) -> dict[str, object]:
    """For `ray.init`: workers import the same code as this process."""
    common = {
        "address": address,
        "logging_level": "error",
        "log_to_driver": False,
    }
    if address != LOCAL:
        return common | {"runtime_env": {"py_modules": [str(CORE)]}}
    return common | {
        "include_dashboard": False,
        "object_store_memory": _OBJECT_STORE,
        "num_cpus": _cpus(workers, cores),
        "runtime_env": {"env_vars": {"PYTHONPATH": str(CORE.parent)}},
    }


def _cpus(workers: int | None, cores: int) -> int | None:
    """Cores of a cluster of this machine alone; None for as many as Ray finds that there are."""
    if workers:
        return workers * cores
    return None if cores == 1 else max(cores, os.cpu_count() or 1)


def _workers(count: int | None, cores: int) -> Workers:
    import ray

    resources = ray.cluster_resources()
    gpus = int(resources.get("GPU", 0))
    if gpus:
        return Workers(count or gpus, 1, 1)
    return Workers(count or max(1, int(resources.get("CPU", 1)) // cores), cores, 0)
