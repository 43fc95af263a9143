"""A button that copies the address of what is on the screen."""

from __future__ import annotations

from core.components.scripts import register

_copy_link = register("copy_link")


def show_copy_link(address: str, *, key: str) -> None:
    """Draw the button for `address`, the link to what is on the screen."""
    _copy_link(key=key, data={"label": "Copy link", "address": address})
