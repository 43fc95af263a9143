"""Whether the visitor is at the machine that runs the app, and how other machines reach it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import IPv6Address, ip_address

import streamlit as st
from streamlit import config, net_util, runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

# What proxies, tunnels and content networks add; no browser sends these.
_PROXIED = re.compile("forwarded|ip$|^(via|cdn-|cf-|x-original-|x-envoy-|x-remote-|x-amzn-trace-)")
_HOST = re.compile(r"(localhost|[\d.]+|\[[\da-f:.]+\])(:\d{1,5})?", re.ASCII)  # this machine


def is_on_this_machine() -> bool:
    """Whether this run's visitor is at this machine; False if unknown."""
    return is_local_visitor(*connection())


def connection() -> tuple[str | None, list[tuple[str, str]]]:
    """The remote address of this run's connection, if known, and its initial headers."""
    context = get_script_run_ctx()
    if context is None or not runtime.exists():
        return None, []
    client = runtime.get_instance().get_client(context.session_id)
    # st.context.ip_address is None both for 127.0.0.1 and for an unknown address.
    ip = getattr(getattr(client, "client_context", None), "remote_ip", None)
    if not isinstance(ip, str):
        return None, []
    headers = st.context.headers
    return ip, [(name, value) for name in headers for value in headers.get_all(name)]


def is_local_visitor(ip: str | None, headers: Iterable[tuple[str, str]]) -> bool:
    """Whether everything about a connection indicates that the visitor is at this machine.

    The other end must be a loopback address, the address bar must say `localhost` or a loopback
    number (``Host``), the page must come from the same place and port (``Origin``, if present), and
    no proxy may have left a trace. Browsers always send ``Origin``, which gives away a proxy that
    sets its own ``Host``, a foreign name that resolves to this machine, and a page that another
    program here serves on another port.

    Forged headers that come through a proxy on this machine that leaves no trace do pass, so a site
    behind a proxy must set HEADSCOPE_MODELS.
    """
    values: dict[str, list[str]] = {}
    for name, value in headers:
        values.setdefault(name.lower(), []).append(value.lower())
    if any(map(_PROXIED.search, values)):
        return False
    host, *more = values.get("host", [""])
    local = _HOST.fullmatch(host)
    own = {f"{scheme}://{host}" for scheme in ("http", "https")}
    return (
        not more
        and ip is not None
        and ip != "localhost"
        and is_loopback(ip)
        and local is not None
        and is_loopback(local[1])
        and own.issuperset(values.get("origin", []))
    )


def is_loopback(name: str) -> bool:
    """Whether a name is `localhost` or a loopback number, such as 127.0.0.1 or [::1]."""
    try:
        address = ip_address(name.strip("[]"))
    except ValueError:
        return name == "localhost"
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_loopback


def address_for_others(netloc: str) -> str:
    """`netloc` ("localhost:8501") with this machine's network address as its host.

    Unchanged if it is not a loopback address, if the server listens only to this machine, or if
    the machine is in no network.
    """
    host, colon, port = netloc.rpartition(":") if netloc.count(":") == 1 else (netloc, "", "")
    if not is_loopback(host) or is_loopback(config.get_option("server.address") or ""):
        return netloc
    address = net_util.get_internal_ip()
    return netloc if address is None or is_loopback(address) else f"{address}{colon}{port}"
