"""The error of a projection that fails."""

from __future__ import annotations


class ProjectionError(RuntimeError):
    """A projection failed; the message is for visitors, without paths or library texts."""
