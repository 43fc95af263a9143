"""Who sits at the machine that the app runs on, and where others reach it."""

from __future__ import annotations

from itertools import product

import pytest
from streamlit import config

from core.ui.serve.visitor import address_for_others, is_local_visitor

LOCAL = {"Host": "localhost:8501", "Origin": "http://localhost:8501"}
HERE = (
    ("127.0.0.1", LOCAL),
    ("127.0.0.1", {"Host": "LocalHost", "Origin": "http://LOCALHOST"}),
    ("127.8.9.10", {"Host": "127.8.9.10:80"}),
    ("::1", {"Host": "[::1]:8501", "Origin": "http://[::1]:8501"}),
    ("::ffff:127.0.0.1", {"Host": "localhost:8501"}),
)
IPS = (
    *(None, "", "192.168.1.7", "10.0.0.1", "8.8.8.8", "2001:db8::1", "0.0.0.0", "::"),  # noqa: S104
    *("::ffff:8.8.8.8", "localhost", "127.1", "127.0.0.1, 8.8.8.8"),
)
HOSTS = (
    *("example.org", "localhost.example.org", "127.0.0.1.example.org", "0.0.0.0:8501"),
    *("192.168.1.7", "atlas.local", "127.1", "2130706433", "localhost@example.org", ""),
    *("localhost, example.org", "[::ffff:8.8.8.8]", "127.0.0.1:x", "foo.localhost"),
)
PROXIES = (
    *("X-Forwarded-For", "x-forwarded-host", "X-FORWARDED-PROTO", "X-Forwarded", "Forwarded"),
    *("Forwarded-For", "Via", "X-Real-IP", "X-Client-IP", "True-Client-IP", "CF-Connecting-IP"),
    *("CF-Ray", "X-Cluster-Client-Ip", "Fly-Client-IP", "X-Envoy-External-Address", "CDN-Loop"),
)
ORIGINS = (  # of a page that another program here shows, with scripts of its own
    *("http://127.0.0.1:3000", "http://127.0.0.1", "https://127.0.0.1", "http://[::1]:8501"),
    *("http://localhost:8501", "http://127.0.0.1:85010", "http://localhost:x", "http://[::1"),
    *("https://atlas.example.org", "http://evil.example", "null", "", "file://"),
    *("localhost:8501", "http://localhost@example.org"),
)


def test_a_loopback_address_with_a_loopback_name_is_this_machine_and_nothing_else() -> None:
    """nginx without settings hands on its own name for the server, and says nothing of itself."""
    assert all(is_local_visitor(ip, headers.items()) for ip, headers in HERE)
    own = "127.0.0.1"
    proxied = {"Host": "127.0.0.1:8501", "Connection": "upgrade"}
    connections = [
        *((ip, LOCAL) for ip in IPS),
        *((own, {"Host": host}) for host in HOSTS),
        *((own, LOCAL | {each: value}) for each, value in product(PROXIES, ("8.8.8.8", own, ""))),
        *((own, proxied | {"Origin": origin}) for origin in ORIGINS),
        (own, {}),
    ]
    assert [each for each in connections if is_local_visitor(each[0], each[1].items())] == []
    assert not is_local_visitor(own, [("Host", "localhost"), ("Host", "localhost")])


def test_the_machines_own_name_becomes_its_address_in_the_network_that_it_listens_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("streamlit.net_util.get_internal_ip", lambda: "192.0.2.77")
    for own in ("localhost:8501", "127.0.0.1:8501"):
        assert address_for_others(own) == "192.0.2.77:8501"
    monkeypatch.setattr(config, "get_option", {"server.address": "127.0.0.1"}.get)
    assert address_for_others("localhost:8501") == "localhost:8501"
