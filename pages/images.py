"""An image and its patches: what a patch attends to, what attends to it, how far heads look."""

from core.ui.navigation import open_page

words = open_page("images")

from core.components.patches import show_patches
from core.ui import presets
from core.ui import cache
from core.ui.current import current_key, current_trace
from core.ui.downloads import contents, offer_page
from core.ui.frame.layout import caption_row, control_row, pick_part, show_end
from core.ui.navigation import set_headline
from core.ui.place import pick_head
from core.screens.images import view as patches

trace = current_trace()
with control_row():
    part = pick_part()
    if part == "distance":
        from core.screens.images.distance import pick_over, show_distance  # imports pandas

        over = pick_over()
    else:
        layer, head = pick_head(trace, heads=patches.head_summaries(trace))
presets.show_for(trace)
if part == "distance":
    show_distance(trace, over)
else:
    export = contents("patches", trace.model, "")  # the picture adds its own choices
    view = patches.restore_view(trace)
    set_headline(patches.headline(trace, int(layer), head), "Press a patch to see where it looks.")
    show_patches(
        patches.pack_for_page(trace, view, export), key=patches.KEY, on_view=patches.take_report
    )
    rolls = view["head"] in patches.ROLLOUTS
    reading = words(
        "reading",
        from_query=view["direction"] == "from",
        inexact=rolls and cache.transformed_norms(current_key(trace.model)) is None,
        few=not patches.sends_all(trace),
        layer=view["layer"],
    )
    with caption_row(reading):
        offer_page(patches.file_later(trace, view, export), contents("patches", trace.model))
show_end()
