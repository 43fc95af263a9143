"""What the browser's window needs on every page: Back leaves it, links wait for what was typed."""

from __future__ import annotations

from collections.abc import Callable

from core.components.scripts import register_component

_shell = register_component("shell")


def watch_window(*, key: str, on_other_theme: Callable[[], None]) -> bool:
    """Draw nothing; watch the window in the browser for as long as the app is open.

    Returns whether the browser has confirmed that it is watching: from then on, address changes
    within a page add no history entries, so that one press of Back leaves the page. A click on a
    link that ends typing waits until the text has been sent, and hints open when a finger taps
    them. `on_other_theme` is called when the theme has changed.
    """
    # Read the value instead of waiting for a callback: if two messages come close together,
    # Streamlit may apply both and call back for neither.
    reported = _shell(
        key=key, data=None, on_watched_change=lambda: None, on_theme_change=on_other_theme
    )
    return bool(reported.get("watched"))
