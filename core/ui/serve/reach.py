"""Under which address other machines reach an app that was started on this one."""

from __future__ import annotations

import socket

from streamlit import config

from core.ui.serve.visitor import is_loopback

_ANYWHERE = ("192.0.2.1", 9)  # an address for documentation (RFC 5737); nothing is sent to it


def address_for_others(netloc: str) -> str:
    """`netloc` ("localhost:8501") with this machine's address in its network instead of its own.

    Unchanged where it is no loopback address, where the server listens to this machine only, and
    where the machine is in no network.
    """
    host, colon, port = netloc.rpartition(":") if netloc.count(":") == 1 else (netloc, "", "")
    if not is_loopback(host) or is_loopback(config.get_option("server.address") or ""):
        return netloc
    found = _address_in_network()
    return netloc if found is None else f"{found}{colon}{port}"


def _address_in_network() -> str | None:
    """The address that this machine would send from; None without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(_ANYWHERE)  # chooses a route; UDP sends nothing until there is data
        except OSError:
            return None
        address: str = probe.getsockname()[0]
    return None if is_loopback(address) else address
