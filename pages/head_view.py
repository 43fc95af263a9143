"""One layer's heads as lines between two columns of tokens."""

from core.ui.navigation import open_page

words = open_page("head_view")

from core.components.head_view import show_head_view
from core.ui import presets
from core.ui.current import current_trace
from core.ui.downloads import contents, offer_page
from core.ui.frame.layout import caption_row, show_end
from core.screens.head_view import (
    KEY,
    file_later,
    pack_for_page,
    restore_view,
    take_report,
    weightings,
)

trace = current_trace()
offered = weightings(trace)
view = restore_view(trace, [each.value for each in offered if not each.disabled])

presets.show_for(trace)
export = contents("head-view", trace.model, "")
show_head_view(pack_for_page(trace, view, offered, export), key=KEY, on_view=take_report)
longest = max(len(trace.tokens), len(trace.key_tokens))
with caption_row(words("reading", weigh=view["weigh"], tokens=longest)):
    file = contents("head-view", trace.model, f"L{view['layer']}")
    offer_page(file_later(trace, view, offered, export), file)
show_end()
