"""Where to begin: lessons that ask before they show, and a sheet of each for the teacher."""

from core.ui.navigation import open_page

words = open_page("lessons")

from core.ui.frame.layout import show_end
from core.screens.lessons import show_cards

show_cards()
show_end()
