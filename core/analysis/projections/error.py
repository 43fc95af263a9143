"""Why points could not be laid out, in a sentence that a page can show."""

from __future__ import annotations


class ProjectionError(RuntimeError):
    """A projection failed; the message is for a visitor: no path, no library's own words."""
