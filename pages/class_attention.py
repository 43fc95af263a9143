"""An address of earlier links: CLS is one of the tokens that images show."""

from core.ui.navigation import open_page

open_page("class_attention")
