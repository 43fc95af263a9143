"""What the token of the whole image attends to, in every head and over all layers."""

from core.ui.navigation import open_page

open_page("class_attention")

from collections.abc import Callable
from functools import partial
from typing import Any

from core.analysis.images.patch_scores import patches_of
from core.screens.class_attention.distance import pick_over, show_distance
from core.screens.class_attention.help import examples, mathematics
from core.screens.class_attention.maps import pick_view, show_maps
from core.screens.class_attention import cached
from core.ui import presets
from core.ui.current import current_key, current_trace
from core.ui.frame.layout import control_row, pick_part, show_end

PARTS: dict[str, tuple[Callable[..., Any], Callable[..., None]]] = {
    "maps": (pick_view, show_maps),
    "distance": (pick_over, show_distance),
}

trace = current_trace()
patches = patches_of(trace)
key = current_key(trace.model)
with control_row():
    pick, show = PARTS[pick_part()]
    options = pick(trace, patches)
presets.show(partial(examples, cached.cls_maps(key)), measured_on=key)
show(trace, patches, options)
show_end(mathematics())
