"""Under which address other machines reach an app that was started on this one."""

from __future__ import annotations

from streamlit import config, net_util

from core.ui.serve.visitor import is_loopback


def address_for_others(netloc: str) -> str:
    """`netloc` ("localhost:8501") with this machine's address in its network instead of its own.

    Unchanged where it is no loopback address, where the server listens to this machine only, and
    where the machine is in no network.
    """
    host, colon, port = netloc.rpartition(":") if netloc.count(":") == 1 else (netloc, "", "")
    if not is_loopback(host) or is_loopback(config.get_option("server.address") or ""):
        return netloc
    address = net_util.get_internal_ip()
    return netloc if address is None or is_loopback(address) else f"{address}{colon}{port}"
