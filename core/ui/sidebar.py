"""The sidebar: text, second sentence, examples, model, link, and facts about the model."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.layers import listed
from core.components.copy_link import show_copy_link
from core.model import CATALOG
from core.model.catalog import bundled_problem, find, fits, is_local
from core.model.memory import available_bytes
from core.ui import address, controls
from core.ui.messages import escape, notice, quote
from core.ui.site.access import access, box_help, default_model

if TYPE_CHECKING:
    from core.model import LoadedModel
    from core.model.catalog import Group

EXAMPLES: tuple[tuple[str, str | None], ...] = (
    ("Oh, this book? I've enjoyed it.", None),
    ("My friend told me about this class and I love it so far! She was right.", None),
    ("The brown capybara is sleeping now.", None),
    ("leaves fall in autumn", "autumn is marked by colorful foliage"),
    ("astronomers discovered a new planet", None),
)
# Which way a model reads, for its group.
READS: dict[Group, str] = {
    "encoder": "↔",
    "decoder": "→",
    "multilingual": "↔",
    "encoder-decoder": "↔→",
}
_FACTS, _STANDS_IN = "_model_facts", "_model_stands_in"
_DEVICES = {"cuda": "graphics card (CUDA)", "mps": "graphics processor (MPS)", "cpu": "processor"}


def draw() -> None:
    """Draw the controls that all pages share, before the model is loaded."""
    granted = access()
    if granted.free_text:
        controls.text("model", default_model())
    else:
        controls.choice("model", granted.names, subject="This site offers", default=default_model())
    st.session_state.setdefault("two", False)
    _notice_missing_default(granted.names)
    with st.sidebar:
        controls.text("text", EXAMPLES[0][0], "Text", height=88)
        if st.toggle("Second sentence", key="two", persist_state="session"):
            controls.text(
                "pair",
                "",
                "Second sentence",
                height=68,
                label_visibility="collapsed",
                placeholder="The sentence to pair with the first",
            )
        st.menu_button(
            "Examples",
            range(len(EXAMPLES)),
            format_func=lambda index: " / ".join(filter(None, EXAMPLES[index])),
            key="example",
            on_click=_use_example,
            width="stretch",
        )
        names, typed = granted.names, st.session_state["model"]
        st.selectbox(
            "Model",
            names if not granted.free_text or typed in names else (*names, typed),
            key="model",
            format_func=_model_label,
            accept_new_options=granted.free_text,
            persist_state="session",
            help=box_help(granted),
        )
        st.session_state[_FACTS] = st.container()
        show_copy_link(key="copy_link", offered=address.links_are_on())


def note_stand_in(stands_in: bool) -> None:
    """Remember whether the model on screen stands in for the one that was picked."""
    st.session_state[_STANDS_IN] = stands_in


def _notice_missing_default(names: tuple[str, ...]) -> None:
    """Say why another model is shown first; a visitor who picked it sees its refusal instead."""
    error = bundled_problem(CATALOG[0])
    if error is not None and CATALOG[0].name in names and st.session_state["model"] != error.name:
        problem = quote(error.name).join(map(escape, error.problem.split("{name}")))
        notice(f"{problem} {escape(error.advice)}")


def show_model_facts(model: LoadedModel) -> None:
    """Show what was loaded, in its place in the sidebar."""
    spec = find(model.name)
    with st.session_state[_FACTS]:
        if st.session_state.get(_STANDS_IN, False):
            st.caption(f"Shown instead: {quote(model.name)}")
        if spec is not None:
            st.caption(f"**{spec.title}.** {spec.good_for}")
        st.caption(
            f"{_describe_heads(model)} · {model.parameters / 1e6:,.1f} M parameters · on the"
            f" {_DEVICES[model.device]}"
        )
        if model.depth is not None and model.depth > model.layers:
            which = f": {listed(model.numbers)}" if model.numbers else "; here they count from 1"
            st.caption(f"Only {model.layers} of its {model.depth} layers attend{which}.")
        coarse = "" if model.number_type == "float32" else f" in {model.number_type}"
        st.caption(
            f"**Checked{coarse}:** attention reproduced to {model.probe_error:.0e}",
            help=_describe_check(model),
        )


def _describe_heads(model: LoadedModel) -> str:
    """How many layers, heads and dims; an encoder-decoder has them in both its parts."""
    parts = []
    for kind in ("encoder", "decoder") if model.is_encoder_decoder else model.kinds:
        own = model.attention[kind]
        shared = f" ({own.kv_heads} key heads)" if own.kv_heads != own.heads else ""
        name = "" if kind == "self" else f"{kind} "
        parts.append(f"{name}{own.layers} layers × {own.heads} heads{shared} × {own.dim} dims")
    return ", ".join(parts)


def _describe_check(model: LoadedModel) -> str:
    """What the number in the sidebar is, and what was found on the way."""
    pair = ", a pair" if model.pairs else ""
    check = (
        f"When this model was loaded, a short text, one of {model.checked_tokens} tokens{pair}"
        " and a padded batch were run, and attention was recomputed from the queries and keys"
        " recorded. This is the largest difference in any weight from the model's own. A model is"
        " refused when it differs by more than {model.number_type} rounds off."
    )
    sentences = [check]
    if model.way == "watched":
        sentences.append("It attends in code of its own, which is watched while it runs.")
    if not model.batches:
        sentences.append("Padding changes what it computes, so texts run one by one.")
    return " ".join(sentences)


@cache
def _model_label(name: str) -> str:
    """A model of the catalogue by how it reads and, if it is not here, what it would take.

    As it was when somebody first looked: a browser answers with the label that it was shown, and
    one that has changed meanwhile would be taken for a name that was typed.
    """
    spec = find(name)
    if spec is None:
        return name
    facts = [f"{READS[spec.group]} {name}"]
    if not fits(spec, available_bytes()):
        facts.append("too large here")
    elif not spec.bundled:
        facts.append("here" if is_local(spec) else _size(spec.size_mb))
        if spec.gated:
            facts.append("licence")
    return " · ".join(facts)


def _size(megabytes: int) -> str:
    return f"{megabytes} MB" if megabytes < 1000 else f"{megabytes / 1000:.1f} GB"


def _use_example() -> None:
    text, pair = EXAMPLES[st.session_state["example"]]
    st.session_state.update(text=text, pair=pair or "", two=pair is not None)
