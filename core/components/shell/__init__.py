"""What the browser's window needs on every page: Back leaves it, links wait for what was typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.components.scripts import register

if TYPE_CHECKING:
    from collections.abc import Callable

_shell = register("shell")


def watch_window(
    *, key: str, on_watched: Callable[[], None], on_other_theme: Callable[[], None]
) -> None:
    """Draw nothing; watch the window from the browser's side for as long as the app is open.

    Within a page the address changes without new entries in the history, so that one press of Back
    leaves the page; `on_watched` is called once that holds. A click on a link that ends typing
    waits until the text has been sent. `on_other_theme` is called when the theme has changed.
    """
    _shell(key=key, data=None, on_watched_change=on_watched, on_theme_change=on_other_theme)
