"""An image and its patches: what each attends to and what attends to it, and how far heads look."""

import streamlit as st

from core.ui.navigation import open_page

open_page("images")

from functools import partial

from core.components.patches import show_patches
from core.ui import presets
from core.ui.current import current_key, current_trace
from core.ui.downloads import contents, offer_file
from core.ui.frame.layout import control_row, pick_part, show_end
from core.ui.navigation import ask
from core.ui.place import pick_head
from core.screens.images.help import MATHEMATICS, examples, explain, headline
from core.screens.images import view as patches

trace = current_trace()
with control_row():
    part = pick_part()
    if part == "distance":
        from core.screens.images.distance import pick_over, show_distance  # imports tables

        over = pick_over()
    else:
        layer, head = pick_head(trace, heads=patches.head_summaries(trace))
presets.show(partial(examples, trace), measured_on=current_key(trace.model))
if part == "distance":
    show_distance(trace, over)
else:
    held = contents("patches", trace.model, "")  # the picture adds what is chosen in it
    view = patches.restore_view(trace)
    ask(headline(trace, int(layer), head), "Press a patch to see where it looks.")
    data = patches.pack_for_page(trace, view, held)
    show_patches(data, key=patches.KEY, on_view=patches.take_report)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(explain(trace, view), width="stretch")
        offer_file(
            "Save as HTML",
            patches.file_later(trace, view, held),
            contents("patches", trace.model),
            ".html",
            help="One file that opens offline and works like this page.",
        )
show_end(MATHEMATICS)
