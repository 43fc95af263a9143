"""A button that copies the address of what is on the screen."""

from __future__ import annotations

from core.components.scripts import register

_copy_link = register("copy_link")


def show_copy_link(*, key: str, offered: bool = True) -> None:
    """Draw the button. The address bar holds the whole state, so the address is the link.

    Also asks for a rerun when the theme changes, so that figures follow, even if no link is
    `offered`.
    """
    _copy_link(
        key=key,
        data={"label": "Copy link to this view", "offered": offered},
        on_theme_change=lambda: None,
    )
