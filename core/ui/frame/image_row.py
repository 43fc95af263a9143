"""The first row of every page that shows an image: a sample, or the visitor's own file."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.analysis.images.patch_scores import patches_of
from core.model import Trace
from core.model.bundled.first import PICTURE
from core.model.errors import ModelError
from core.model.sample_images import SAMPLE_IMAGES
from core.model.trace import Patches
from core.ui import address, controls
from core.ui.serve import images
from core.ui.words.messages import escape, notice, show_model_error
from core.ui.words.prose import Prose

MAX_MB = 20  # per file
_OWN, _FILE = "own", "image_file"  # the option for one's own image, and its uploader
_KEPT, _SLOT, _OPENED = "_own_image", "_image_facts", "_image_opened"
_words = Prose(__file__)


def draw() -> DeltaGenerator:
    """Draw and return the row; a file that was just uploaded is shown at once."""
    row = st.container(key="typed_row", horizontal=True, vertical_alignment="center", gap="small")
    with row:
        with st.popover("Your image", help=f"PNG, JPEG or WebP, up to {MAX_MB} MB"):
            _take_file()
        declare("Image")
        st.session_state[_SLOT] = st.container(
            key="image_facts", horizontal=True, vertical_alignment="center", width="stretch"
        )
    return row


def declare(label: str = "") -> None:
    """Declare the choice of an image; without a label it is not drawn."""
    if address.asks_for("image") == _OWN and _KEPT not in st.session_state:
        address.take("image")
        st.session_state["image"] = PICTURE
        notice(_words("image_is_gone", other=escape(SAMPLE_IMAGES[PICTURE].title)))
    controls.choice(
        "image",
        [*SAMPLE_IMAGES, *([_OWN] if _KEPT in st.session_state else [])],
        label,
        subject="The images are",
        default=PICTURE,
        names=lambda name: "Your image" if name == _OWN else SAMPLE_IMAGES[name].title,
        menu=True,
        width=225,
        label_visibility="collapsed",
    )


def image_name() -> str:
    """The name of the image on screen, as :mod:`core.ui.serve.images` knows it."""
    chosen: str = st.session_state["image"]
    if chosen != _OWN:
        return chosen
    name, image = st.session_state[_KEPT]
    images.kept(name, image)
    return str(name)


def show_facts(trace: Trace) -> None:
    """Say how the image was prepared for the model, and what to look for in it."""
    facts = _way_to_the_model(patches_of(trace))
    if images.is_brought(image_name()):
        facts += st.session_state.get(_OPENED, ("", ()))[1]
    elif (entry := SAMPLE_IMAGES.get(image_name())) is not None:
        facts.append(entry.look_for)
        if entry.group == "photograph":
            facts.append(f"Photograph: {entry.author}, {entry.licence}.")
    with st.session_state[_SLOT]:
        st.caption(" ".join(facts))
    if images.is_brought(image_name()):
        st.caption(_words("own_image"))


def _way_to_the_model(patches: Patches) -> list[str]:
    """The image's size and the model's; which part the model does not see, and why."""
    height, width = patches.given
    visible = patches.seen or patches.given
    sizes = f"{width} × {height}"
    if visible != patches.given:
        sizes += f", of which the middle {visible[1]} × {visible[0]}"
    sizes += f" → {patches.pixels.shape[1]} × {patches.pixels.shape[0]} px"
    facts = [f"{sizes}, {patches.rows} × {patches.columns} patches of {patches.size} px."]
    if patches.would_squash:
        facts.append(
            "The edges are cropped here; this model's own processor would squash the image."
        )
    elif visible != patches.given:
        facts.append("The edges are cropped, as this model's own processor does.")
    return facts


def _take_file() -> None:
    """The uploader; a file that cannot be shown is refused with a message under it."""
    file = st.file_uploader(
        f"PNG, JPEG or WebP, up to {MAX_MB} MB",
        type=["png", "jpg", "jpeg", "webp"],
        max_upload_size=MAX_MB,
        key=_FILE,
    )
    st.caption(_words("own_image"))
    opened, _ = st.session_state.get(_OPENED, ("", ()))
    if file is None or file.file_id == opened:
        return
    from core.model import open_image

    try:
        image = open_image(file.getvalue())
    except ModelError as error:
        show_model_error(error)
        return
    st.session_state[_KEPT] = images.bring(image.image)
    st.session_state[_OPENED] = (file.file_id, image.notes)
    st.session_state["image"] = _OWN
