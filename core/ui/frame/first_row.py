"""The first row of every page: a text, an image, or a place for searching a corpus."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.model.bundled.first import SENTENCE
from core.ui import controls
from core.ui.frame import switch
from core.ui.words.glossary import TERMS

# Text, second text, and the head shown in the example's source.
EXAMPLES: tuple[tuple[str, str | None, tuple[str, str] | None], ...] = (
    (SENTENCE, None, None),
    ("My friend told me about this class and I love it so far! She was right.", None, None),
    ("The brown capybara is sleeping now.", None, None),
    ("leaves fall in autumn", "autumn is marked by colorful foliage", None),
    ("astronomers discovered a new planet", None, ("1", "9")),
)
_SLOT = "_place_of_search"
_SECOND = "Second sentence: fed together"
_KEYS = "Or press Enter. Shift + Enter begins a new line."


def draw(*, searches: bool) -> DeltaGenerator:
    """Draw and return the row: for a text, an image, or a page that `searches` a corpus."""
    if switch.modality() == "image":  # another row, with other controls
        from core.ui.frame import image_row

        draw, declare = image_row.draw, image_row.declare
    else:
        draw, declare = _draw_text, _declare_text
    if not searches:
        return draw()
    declare()
    with (row := _row()):  # the page fills the :func:`place_of_search` in it
        st.session_state[_SLOT] = st.container(horizontal=True, width="stretch")
    return row


def _row() -> DeltaGenerator:
    return st.container(key="typed_row", horizontal=True, vertical_alignment="center", gap="small")


def _draw_text() -> DeltaGenerator:
    """The row for a text. Enter, the button, and leaving a field all apply what was typed."""
    row = _row()
    with row:
        _declare_text("Text", _SECOND)
        st.button("Show", key="show_text", type="primary", help=_KEYS)
        st.menu_button(
            "Examples",
            range(len(EXAMPLES)),
            format_func=lambda index: " / ".join(filter(None, EXAMPLES[index][:2])),
            key="example",
            on_click=_use_example,
        )
        st.toggle(_SECOND, key="two", persist_state="session", help=TERMS["pair"])
    return row


def _declare_text(label: str = "", label_of_second: str = "") -> None:
    """Declare the text and the second one; without labels they are not drawn."""
    controls.text(
        "text",
        EXAMPLES[0][0],
        label,
        height="content",
        label_visibility="collapsed",
        placeholder="Type a sentence",
    )
    st.session_state.setdefault("two", False)
    if st.session_state["two"]:
        controls.text(
            "pair",
            "",
            label_of_second,
            height="content",
            label_visibility="collapsed",
            placeholder="e.g. It was a gift from my friend.",
        )


def _use_example() -> None:
    text, pair, place = EXAMPLES[st.session_state["example"]]
    st.session_state.update(text=text, pair=pair or "", two=pair is not None)
    if place is not None:
        declared = controls.declared()
        keys = dict(zip(("layer", "head"), place, strict=True))
        if all(key in declared and each in declared[key].allowed for key, each in keys.items()):
            controls.pick(**keys)


def place_of_search() -> DeltaGenerator:
    """Where the page draws its search."""
    slot: DeltaGenerator = st.session_state[_SLOT]
    return slot
