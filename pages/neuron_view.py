"""One head, dimension by dimension: q, k, their products, scores, softmax."""

from core.ui.navigation import open_page

words = open_page("neuron_view")

from functools import partial

from core.analysis.layer_payload import LayerPayload
from core.analysis.neuron import read_head
from core.components.export import standalone_page
from core.components.neuron_view import packed, show_neuron_view
from core.components.packing import patch_sprite
from core.ui import presets
from core.ui.current import current_trace
from core.ui.downloads import contents, offer_page
from core.ui.frame.layout import caption_row, control_row, show_end
from core.ui.place import pick_head
from core.ui.place import pick_pairs
from core.screens.neuron_view import pick_tokens, take_state

trace = current_trace()
pairs = pick_pairs(trace)  # drawn by the picture itself

with control_row():
    layer, head = pick_head(trace)
    export = contents("neuron-view", trace.model)  # the picture adds its own choices
    state = pick_tokens(trace, pairs)

presets.show_for(trace)
neuron_head = read_head(trace, layer, head)
picture = export.titled("Queries, keys and their products", place=neuron_head.name)
patches = patch_sprite(trace)
payload = LayerPayload.of(trace, layer, head)
parts = (neuron_head, payload, trace.tokens, trace.source)
data = partial(packed, *parts, picture=picture, patches=patches)
sizes = len(trace.tokens), len(trace.key_tokens)
show_neuron_view(data, state, sizes, key="neuron_view", on_change=take_state)
whole = contents("neuron-view", trace.model)
title = f"{neuron_head.name}: queries, keys and their products · {trace.model}"
note = trace.input.quoted(" ".join(token.display for token in trace.key_tokens))
with caption_row(words("reading", pairs=state.pairs, tokens=max(sizes))):
    offer_page(
        lambda: standalone_page("neuron_view", data(state), title, note, facts=whole.facts), whole
    )
show_end()
