"""One layer's heads as lines between two columns of tokens."""

import streamlit as st

from core.ui.navigation import open_page

open_page("head_view")

from functools import partial

from core.components.head_view import show_head_view
from core.ui import presets
from core.ui.current import current_key, current_trace
from core.ui.downloads import contents, offer_file
from core.ui.frame.layout import show_end
from core.screens.head_view.sending import (
    file_later,
    pack_for_page,
    weightings,
)
from core.screens.head_view.help import MATHEMATICS, examples, explain
from core.screens.head_view.state import KEY, restore_view, take_report

trace = current_trace()
offered = weightings(trace)
view = restore_view(trace, [each.value for each in offered if not each.disabled])

presets.show(partial(examples, trace), measured_on=current_key(trace.model))
held = contents("head-view", trace.model, "")
show_head_view(pack_for_page(trace, view, offered, held), key=KEY, on_view=take_report)
with st.container(horizontal=True, vertical_alignment="center"):
    st.caption(explain(trace, view), width="stretch")
    offer_file(
        "Save as HTML",
        file_later(trace, view, offered, held),
        contents("head-view", trace.model, f"L{view['layer']}"),
        ".html",
        help="One file that opens offline and works like this page.",
    )
show_end(MATHEMATICS)
