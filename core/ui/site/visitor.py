"""Whether a visitor sits at the machine that the app runs on, read from the connection."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

if TYPE_CHECKING:
    from collections.abc import Iterable

# What proxies, tunnels and content networks add; a browser sends none of these.
_FORWARDED_NAMES = frozenset(
    {
        "forwarded",
        "forwarded-for",
        "via",
        "client-ip",
        "true-client-ip",
        "fastly-client-ip",
        "fly-client-ip",
        "wl-proxy-client-ip",
        "proxy-client-ip",
        "cdn-loop",
        "x-real-ip",
        "x-client-ip",
        "x-cluster-client-ip",
        "x-remote-ip",
        "x-remote-addr",
        "x-originating-ip",
        "x-amzn-trace-id",
        "x-appengine-user-ip",
        "x-azure-clientip",
    }
)
_FORWARDED_STARTS = ("x-forwarded", "x-original-", "x-envoy-", "cf-")
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[0-9a-z.-]+)(:\d{1,5})?", re.IGNORECASE)


@dataclass(frozen=True)
class Connection:
    """One visitor's connection.

    Attributes
    ----------
    ip : the address at the other end; None where it is not known.
    headers : name and value of every header of the request that opened it.
    """

    ip: str | None = None
    headers: tuple[tuple[str, str], ...] = ()


def is_on_this_machine() -> bool:
    """Whether the visitor of this run sits at this machine; False where nothing is known."""
    now = connection()
    return comes_from_here(now.ip, now.headers)


def comes_from_here(ip: str | None, headers: Iterable[tuple[str, str]]) -> bool:
    """Whether nothing about a connection speaks against a visitor at this very machine.

    The other end is a loopback address, the address bar says `localhost` or a loopback number
    (``Host``, and ``Origin`` where there is one), and no proxy has left a mark. A browser never
    leaves ``Origin`` out: it gives away a proxy that hands on a ``Host`` of its own, and a foreign
    name that was pointed at this machine.

    A program that forges headers, behind a proxy on this machine that leaves no mark, passes: a
    site behind a proxy says what it offers with HEADSCOPE_MODELS.
    """
    named: dict[str, list[str]] = {}
    for name, value in headers:
        named.setdefault(name.lower(), []).append(value)
    if any(name in _FORWARDED_NAMES or name.startswith(_FORWARDED_STARTS) for name in named):
        return False
    hosts = named.get("host", [])
    return (
        ip is not None
        and _is_loopback_number(ip)
        and len(hosts) == 1
        and _is_loopback_host(hosts[0])
        and all(_is_loopback_origin(origin) for origin in named.get("origin", []))
    )


def connection() -> Connection:
    """The connection of the visitor whose run this is."""
    context = get_script_run_ctx()
    if context is None or not runtime.exists():
        return Connection()
    client = runtime.get_instance().get_client(context.session_id)
    # st.context.ip_address gives None both for 127.0.0.1 and for what is not known.
    ip = getattr(getattr(client, "client_context", None), "remote_ip", None)
    if not isinstance(ip, str):
        return Connection()
    headers = st.context.headers
    return Connection(
        ip, tuple((name, value) for name in headers for value in headers.get_all(name))
    )


def _is_loopback_number(text: str) -> bool:
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped.is_loopback
    return address.is_loopback


def _is_loopback_host(text: str) -> bool:
    match = _HOST.fullmatch(text)
    if match is None:
        return False
    host = match[1].lower()
    return host == "localhost" or _is_loopback_number(host.strip("[]"))


def _is_loopback_origin(text: str) -> bool:
    try:
        origin = urlsplit(text)
    except ValueError:
        return False
    return origin.scheme in {"http", "https"} and _is_loopback_host(origin.netloc)
