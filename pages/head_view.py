"""One layer's heads as lines between two columns of tokens."""

import streamlit as st

from core.ui.navigation import open_page

open_page("head_view")

from functools import partial

from core.components.head_view import show_head_view
from core.ui import presets
from core.ui.current import current_trace
from core.ui.downloads import offer_file
from core.screens.head_view.sending import file_later, pack_for_page, shown_layer, weightings
from core.screens.head_view.help import examples, explain, mathematics
from core.screens.head_view.state import KEY, restore_view, take_report

trace = current_trace(cross=True)
offered = weightings(trace)
view = restore_view(trace, [each.value for each in offered if not each.disabled])

show_head_view(pack_for_page(trace, view, offered), key=KEY, on_view=take_report)
reading, saving = st.columns([5, 1])
reading.caption(explain(trace, view))
with saving:
    offer_file(
        "Save as HTML",
        file_later(trace, view, offered),
        "head-view.html",
        width="stretch",
        help="One file that opens without internet and does what this picture does.",
    )
presets.show("head_view", partial(examples, trace))
presets.show_mathematics(mathematics(trace, shown_layer(trace, view)))
