"""The operator's settings, from the environment or the secrets; and the server's process.

``MODEL``: the model that pages open with; ``MODELS``: what visitors may use; ``FOLDERS``: folders
whose models they may open; ``HUB_TOKEN``: "1" sends the operator's token with their requests to the
model hub; ``DOWNLOAD_MB``: the largest model they may download; ``TOKENS``: the largest atlas;
``ATLASES``: a folder of prepared ones; ``HALF``: "1" runs checkpoints in bfloat16 or float16 as
they are, on a graphics card.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import sys
import threading

import streamlit as st
from starlette.formparsers import MultiPartParser
from streamlit import runtime
from streamlit.runtime import Runtime, RuntimeState

DESCRIPTORS = 8192  # enough for 2,700 visits in two minutes; the system may limit it further
_YES = frozenset({"1", "true", "yes", "on"})


def setting(name: str) -> str | None:
    """The value of a setting such as ``MODELS`` (``HEADSCOPE_MODELS``); None if it is not set.

    The environment takes precedence over the secrets.
    """
    full = f"HEADSCOPE_{name}"
    if (value := os.environ.get(full)) is not None:
        return value
    return str(st.secrets[full]) if _has_secrets() and full in st.secrets else None


@functools.cache  # without the file, Streamlit looks for it at every question
def _has_secrets() -> bool:
    return st.secrets.load_if_toml_exists()


def is_on(name: str) -> bool:
    """Whether a switch such as ``HUB_TOKEN`` is set to 1, true, yes or on."""
    return (setting(name) or "").strip().lower() in _YES


def megabytes(name: str, default: float) -> float:
    """A size in MB such as ``DOWNLOAD_MB``; the default if it is missing or not a number."""
    try:
        size = float((setting(name) or "").replace(",", ""))
    except ValueError:
        return default
    return size if size >= 0 else default


def prepare_process() -> None:
    """Prepare the app's process; call before PyTorch is imported. Safe to repeat.

    Waiting threads sleep: OpenMP's default is to spin, and when other visitors also use the CPUs,
    that makes a forward pass of a small model five to ten times slower.
    Uploads stay in memory: Starlette's parser would write large ones to a temporary file.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    MultiPartParser.spool_max_size = st.get_option("server.maxUploadSize") * 2**20
    if runtime.exists():
        _prepare_server(runtime.get_instance())


@functools.cache
def _prepare_server(server: Runtime) -> None:
    allow_descriptors()
    atexit.register(_end_at_once, server)


def allow_descriptors() -> None:
    """Let this process open `DESCRIPTORS` files, or as many as the system allows.

    Streamlit keeps three per visit for two minutes. Does nothing on Windows, which has no limit.
    """
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        allowed = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, DESCRIPTORS)
        if soft != resource.RLIM_INFINITY and soft < allowed:
            resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))


def _end_at_once(server: Runtime) -> None:
    """End the process of a stopped server with status 0, even if threads are still working.

    Python kills them as it exits, and one that then returns from torch aborts the process.
    """
    works = any(thread.daemon for thread in threading.enumerate())  # such as the first load
    if works and server.state is RuntimeState.STOPPED:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
