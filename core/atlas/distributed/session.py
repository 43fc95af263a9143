"""Join a Ray cluster, or start one on this machine's cores."""

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
# Memory for what travels between processes: some megabytes of sums per part, lines of the corpus.
_OBJECT_STORE = 512 * 2**20
# Read when Ray is imported. Nothing is reported to Ray's makers, and logs only contain errors: no
# line of the corpus may get into them.
_SETTINGS = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal"}


class ClusterError(Exception):
    """The cluster cannot be used; the message says why in one line."""


@dataclass(frozen=True)
class Workers:
    """How many processes hold the model, and what each of them uses."""

    count: int
    cores: int
    gpus: int


@contextmanager
def joined(address: str, workers: int | None = None, cores: int = 1) -> Iterator[Workers]:
    """Ray at this address, until the end of the block.

    Parameters
    ----------
    address : "local", "auto" on a machine of a running cluster, or its head's host:port.
    workers : processes that hold the model; by default one per GPU or, without any, as many as the
        cores allow. A cluster with too little room for them grows, if it can.
    cores : for each worker without a GPU.

    Raises `ClusterError` if Ray is not installed, nothing answers there, or the cluster fails.
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

    Ray itself would also join a cluster that another program started here for itself, which ends
    with that program, along with everything that joined it.
    """
    from ray._private.utils import read_ray_address

    address = os.environ.get("RAY_ADDRESS") or read_ray_address()
    if not address or address == AUTO:
        raise ClusterError(f"No Ray at {AUTO}: `ray start` has not been given on this machine.")
    return str(address)


def _knock(address: str) -> None:
    """Check that something answers at host:port, where Ray would wait for minutes; `OSError`."""
    host, _, port = address.rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host, int(port)), _PATIENCE).close()


def _options(address: str, workers: int | None, cores: int) -> dict[str, object]:
    """Arguments for `ray.init`: workers import the same code as this process."""
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
    """Cores for a cluster on this machine only; None for as many as Ray finds."""
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
