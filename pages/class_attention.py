"""What the token of the whole image attends to, in every head and over all layers."""

import streamlit as st

from core.ui.navigation import open_page

open_page("class_attention")

from functools import partial

from core.figures.palette import palette
from core.screens.class_attention.distance import pick_over, show_distance
from core.screens.class_attention.help import examples, mathematics
from core.screens.class_attention.maps import pick_view, show_maps
from core.ui import cache, controls, presets
from core.ui.current import current_key, current_trace
from core.ui.frame.layout import control_row, show_terms
from core.ui.selectors import pick_part
from core.ui.words.references import show_references

PARTS = {"maps": "CLS maps", "distance": "Distance"}

trace = current_trace()
patches = trace.patches
if patches is None:  # a text, where images are not offered
    controls.end_page()
key = current_key(trace.model)
with control_row():
    part = pick_part(PARTS)
    if part == "maps":
        view = pick_view(trace, patches)
    else:
        over = pick_over()
maps = cache.cls_maps(key)
presets.show("class_attention", partial(examples, maps), measured_on=key)
if part == "maps":
    show_maps(trace, patches, maps, view, key)
else:
    show_distance(trace, key, over, palette(st.context.theme.type))
show_terms("patch", "CLS", "register", "head", "layer", "rollout", "uniform baseline")
presets.show_mathematics(mathematics())
show_references("class_attention")
