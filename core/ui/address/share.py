"""Share, beside the title of every page: a link, its QR code, and a first Python snippet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit, urlunsplit

import streamlit as st

from core.components.present import show_present, wants_code
from core.ui.words.pages import find_page

if TYPE_CHECKING:
    import segno

_PLACE, _LINK = "_share", "_share_link"
_QR_BYTES = 2_331  # capacity of the largest QR code with this error correction
_QR_PIXELS = 240
_OF_TEXT = """from core.model import load, trace_text

model = load({model})
trace = trace_text(model, {text}{pair})
"""
_OF_IMAGE = """from core.model import load, open_image, trace_image
from core.model.sample_images import open_sample_image

model = load({model}, modality="image")
trace = trace_image(model, {text})
"""
_PLACE_OF_HEAD = "layer, head = trace.layer_labels.index({layer}), {head} - 1  # from 0\n\n"
_OWN_IMAGE = 'open_image(open("your-image.png", "rb").read()).image'
_LOOK: dict[str, Any] = {"dark": "#000", "light": "#fff", "border": 4}


def place_share(page: str) -> None:
    """Draw Present and Share; :func:`fill_share` later fills the latter."""
    link: str = st.session_state.get(_LINK, "") if wants_code() else ""
    code = _code_of(link).svg_data_uri(**_LOOK) if 0 < len(link.encode()) <= _QR_BYTES else ""
    show_present(code)
    button = st.popover("Share", key="share", on_change="rerun", width="content")
    st.session_state[_PLACE] = page, button


def fill_share(parameters: Mapping[str, str]) -> None:
    """Fill the popover of this run: the link, and the first lines of a notebook."""
    if _PLACE not in st.session_state:
        return
    page, button = st.session_state.pop(_PLACE)
    link = link_to(page, parameters) if parameters else ""
    st.session_state[_LINK] = link
    if not button.open:
        return
    with button, st.container(key="share_box", width=420):
        if link:
            _show_link(link)
        else:
            st.markdown("Links are switched off on this site.")
        st.markdown("**To go on in Python**")
        st.code(snippet(page), language="python")


def snippet(page: str) -> str:
    """Python that loads the model and the text or image on screen, as the page does."""
    from core.model.sample_images import SAMPLE_IMAGES

    state = st.session_state
    numbers = (str(state.get(key)) for key in ("layer", "head"))
    layer, head = (int(each) if each.isdigit() else 1 for each in numbers)
    model, text, begin = repr(state["model"].strip()), repr(state["text"]), _OF_TEXT
    pair = f", {state['pair']!r}" if state["two"] else ""
    if state.get("input") == "image":
        begin, pair, name = _OF_IMAGE, "", state["image"]
        text = f"open_sample_image({name!r})" if name in SAMPLE_IMAGES else _OWN_IMAGE
    lines = f"{begin}{_PLACE_OF_HEAD}{find_page(page).python}"
    b = repr(state.get("text_b") or state["text"])
    return lines.format(model=model, text=text, pair=pair, layer=layer, head=head, b=b)


def link_to(page: str, parameters: Mapping[str, str]) -> str:
    """The address of this very view, reachable from other machines if that is known."""
    from core.ui.serve.visitor import address_for_others

    url = urlsplit(st.context.url or "http://localhost:8501/")
    folder = url.path.rpartition("/")[0]
    parts = url.scheme, address_for_others(url.netloc), f"{folder}/{page}"
    return urlunsplit((*parts, urlencode(parameters), ""))


def _show_link(link: str) -> None:
    st.markdown("**Link to this view**")
    st.code(link, language=None, wrap_lines=False)  # with a button that copies it
    host = urlsplit(link).hostname or ""
    if host in {"localhost", "127.0.0.1", "::1"}:
        st.caption("Works on this computer only: no network was found.")
    elif host != urlsplit(st.context.url or "").hostname:
        st.caption("Works for anyone on this network.")
    if len(link.encode()) > _QR_BYTES:
        st.caption("The link is too long for a QR code.")
        return
    st.image(svg_code(link), width=_QR_PIXELS)


def svg_code(link: str) -> str:
    """The QR code of a link as SVG, black on white with the margin that scanners need."""
    code: str = _code_of(link).svg_inline(scale=4, **_LOOK)
    return code


def _code_of(link: str) -> segno.QRCode:
    import segno

    return segno.make_qr(link.encode(), error="M", encoding=None)
