"""An address of earlier links: their images are shown with queries and keys."""

from core.ui.navigation import open_page

open_page("patch_space")
