"""Kept for old links: images are now on the page of queries and keys."""

from core.ui.navigation import open_page

open_page("patch_space")
