"""Is the visitor sitting at the machine that runs the app? Read from the connection."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from urllib.parse import urlsplit

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

# What proxies, tunnels and content networks add; no browser sends these.
_FORWARDED_NAMES = frozenset(
    {
        *("forwarded", "forwarded-for", "via", "cdn-loop", "client-ip", "true-client-ip"),
        *("fastly-client-ip", "fly-client-ip", "proxy-client-ip", "wl-proxy-client-ip"),
        *("x-real-ip", "x-client-ip", "x-cluster-client-ip", "x-remote-ip", "x-remote-addr"),
        *("x-originating-ip", "x-amzn-trace-id", "x-appengine-user-ip", "x-azure-clientip"),
    }
)
_FORWARDED_STARTS = ("x-forwarded", "x-original-", "x-envoy-", "cf-")
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[0-9a-z.-]+)(:(\d{1,5}))?", re.IGNORECASE)
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Connection:
    """One visitor's connection: the address at its other end, if known, and its first headers."""

    ip: str | None = None
    headers: tuple[tuple[str, str], ...] = ()


def is_on_this_machine() -> bool:
    """Whether the visitor of this run sits at this machine; False if nothing is known."""
    current = connection()
    return is_local(current.ip, current.headers)


def is_local(ip: str | None, headers: Iterable[tuple[str, str]]) -> bool:
    """Whether everything about a connection says that the visitor is at this machine.

    The other end must be a loopback address, the address bar must say `localhost` or a loopback
    number (``Host``), the page must come from the same place and port (``Origin``, if present), and
    no proxy may have left a trace. Browsers always send ``Origin``, which gives away a proxy that
    sets its own ``Host``, a foreign name that was pointed at this machine, and a page that another
    program here serves on another port.

    A program that forges headers behind a proxy on this machine that leaves no trace passes, so a
    site behind a proxy must say what it offers with HEADSCOPE_MODELS.
    """
    values: dict[str, list[str]] = {}
    for name, value in headers:
        values.setdefault(name.lower(), []).append(value)
    if any(name in _FORWARDED_NAMES or name.startswith(_FORWARDED_STARTS) for name in values):
        return False
    hosts = values.get("host", [])
    return (
        ip is not None
        and _is_loopback_number(ip)
        and len(hosts) == 1
        and is_loopback(_name_and_port(hosts[0])[0])
        and all(_is_from(hosts[0], origin) for origin in values.get("origin", []))
    )


def connection() -> Connection:
    """The connection of the visitor whose run this is."""
    context = get_script_run_ctx()
    if context is None or not runtime.exists():
        return Connection()
    client = runtime.get_instance().get_client(context.session_id)
    # st.context.ip_address is None both for 127.0.0.1 and for an unknown address.
    ip = getattr(getattr(client, "client_context", None), "remote_ip", None)
    if not isinstance(ip, str):
        return Connection()
    headers = st.context.headers
    return Connection(
        ip, tuple((name, value) for name in headers for value in headers.get_all(name))
    )


def is_loopback(name: str) -> bool:
    """Whether `localhost` or a number, such as 127.0.0.1 or [::1], stands for this machine."""
    return name == "localhost" or _is_loopback_number(name.strip("[]"))


def _is_loopback_number(text: str) -> bool:
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped.is_loopback
    return address.is_loopback


def _is_from(host: str, text: str) -> bool:
    """Whether an ``Origin`` is the very place that a ``Host`` names."""
    try:
        origin = urlsplit(text)
    except ValueError:
        return False
    usual = _PORTS.get(origin.scheme)
    return usual is not None and _name_and_port(origin.netloc, usual) == _name_and_port(host, usual)


def _name_and_port(text: str, usual: int = 0) -> tuple[str, int]:
    """The two of ``localhost:8501``, with the `usual` port where there is none; no name if bad."""
    match = _HOST.fullmatch(text)
    return (match[1].lower(), int(match[3] or usual)) if match else ("", usual)
