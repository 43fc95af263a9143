"""Who sits at the machine that the app runs on, and where others reach it."""

from __future__ import annotations

import pytest
from streamlit import config

from core.ui.serve.visitor import address_for_others, is_local

LOCAL = {"Host": "localhost:8501", "Origin": "http://localhost:8501"}


@pytest.mark.parametrize(
    ("ip", "host", "origin"),
    [
        ("127.0.0.1", "localhost:8501", "http://localhost:8501"),
        ("127.0.0.1", "LocalHost", "http://LOCALHOST"),
        ("127.0.0.1", "127.0.0.1:8501", "http://127.0.0.1:8501"),
        ("127.8.9.10", "127.8.9.10:80", None),
        ("::1", "[::1]:8501", "http://[::1]:8501"),
        ("::ffff:127.0.0.1", "localhost:8501", None),
    ],
)
def test_a_loopback_address_with_a_loopback_name_is_this_machine(
    ip: str, host: str, origin: str | None
) -> None:
    headers = {"Host": host} | ({} if origin is None else {"Origin": origin})
    assert is_local(ip, headers.items())


@pytest.mark.parametrize(
    "ip",
    [
        *(None, "", "192.168.1.7", "10.0.0.1", "172.17.0.1", "8.8.8.8", "2001:db8::1"),
        *("0.0.0.0", "::", "::ffff:8.8.8.8", "localhost", "127.1", "127.0.0.1, 8.8.8.8"),  # noqa: S104
    ],
)
def test_another_address_or_an_unknown_one_is_not(ip: str | None) -> None:
    assert not is_local(ip, LOCAL.items())


@pytest.mark.parametrize(
    "host",
    [
        *("example.org", "localhost.example.org", "127.0.0.1.example.org", "0.0.0.0:8501"),
        *("192.168.1.7", "atlas.local", "127.1", "2130706433", "localhost@example.org", ""),
        *("localhost, example.org", "[::ffff:8.8.8.8]", "127.0.0.1:x", "foo.localhost"),
    ],
)
def test_another_name_in_the_address_bar_is_not(host: str) -> None:
    assert not is_local("127.0.0.1", {"Host": host}.items())


def test_a_connection_without_a_name_or_with_two_is_not() -> None:
    assert not is_local("127.0.0.1", [])
    assert not is_local("127.0.0.1", [("Host", "localhost"), ("Host", "localhost")])


@pytest.mark.parametrize(
    "name",
    [
        *("X-Forwarded-For", "x-forwarded-host", "X-FORWARDED-PROTO", "X-Forwarded"),
        *("Forwarded", "Forwarded-For", "Via", "X-Real-IP", "X-Client-IP", "True-Client-IP"),
        *("CF-Connecting-IP", "CF-Ray", "X-Cluster-Client-Ip", "Fly-Client-IP"),
        *("X-Envoy-External-Address", "CDN-Loop"),
    ],
)
@pytest.mark.parametrize("value", ["8.8.8.8", "127.0.0.1", ""])
def test_whoever_comes_through_a_proxy_that_says_so_is_not(name: str, value: str) -> None:
    assert not is_local("127.0.0.1", (LOCAL | {name: value}).items())


@pytest.mark.parametrize(
    "origin",
    [
        *("http://127.0.0.1:3000", "http://127.0.0.1", "https://127.0.0.1", "http://[::1]:8501"),
        *("http://localhost:8501", "http://127.0.0.1:85010", "http://localhost:x", "http://[::1"),
        *("https://atlas.example.org", "http://evil.example", "null", "", "file://"),
        *("localhost:8501", "http://localhost@example.org"),
    ],
)
def test_a_page_of_another_port_or_name_is_not_whatever_a_proxy_calls_itself(origin: str) -> None:
    """Such as one that another program here shows, with scripts of its own."""
    # nginx without settings hands on its own name for the server, and says nothing of itself.
    proxied = {"Host": "127.0.0.1:8501", "Connection": "upgrade", "Origin": origin}
    assert not is_local("127.0.0.1", proxied.items())


@pytest.fixture
def _network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamlit.net_util.get_internal_ip", lambda: "192.0.2.77")


@pytest.mark.usefixtures("_network")
@pytest.mark.parametrize("own", ["localhost:8501", "127.0.0.1:8501"])
def test_the_machines_own_name_becomes_its_address_in_the_network(own: str) -> None:
    assert address_for_others(own) == "192.0.2.77:8501"


@pytest.mark.usefixtures("_network")
def test_a_server_that_listens_to_this_machine_only_keeps_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(config, "get_option", {"server.address": "127.0.0.1"}.get)
    assert address_for_others("localhost:8501") == "localhost:8501"
