"""Kept for old links: CLS is now one of the tokens on the page of images."""

from core.ui.navigation import open_page

open_page("class_attention")
