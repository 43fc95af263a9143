"""The server asks for nothing outside: what Streamlit would ask is switched off."""

from __future__ import annotations

from streamlit import net_util


def ask_nothing() -> None:
    """Keep Streamlit from asking an outside address for the server's own.

    It does so when it starts without a browser, unless ``browser.serverAddress`` is set (which
    ``.streamlit/config.toml`` does), and for every connection that another site's page makes, to
    compare the two; such a connection is refused, unless ``server.corsAllowedOrigins`` names it.
    """
    net_util.get_external_ip = lambda: None
