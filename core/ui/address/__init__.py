"""The address bar: what it says of the page's state, and how far the browser has followed."""

from core.ui.address.bar import (
    MAX_ADDRESS,
    MAX_TEXT,
    WATCHED,
    asks_for,
    current,
    is_read_now,
    links_are_on,
    may_leave_out,
    open_link,
    shown,
    take,
    to_text,
    translate,
    window_is_watched,
    write,
    write_waiting,
)

__all__ = [
    "MAX_ADDRESS",
    "MAX_TEXT",
    "WATCHED",
    "asks_for",
    "current",
    "is_read_now",
    "links_are_on",
    "may_leave_out",
    "open_link",
    "shown",
    "take",
    "to_text",
    "translate",
    "window_is_watched",
    "write",
    "write_waiting",
]
