"""The model, at the right end of the first row: its name opens the choice and the facts."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import streamlit as st

from core.model.memory import available_bytes
from core.model.opening.catalog import CATALOG, Group, bundled_problem, find_entry, fits, is_local
from core.ui import controls
from core.ui.cache import first_model
from core.ui.frame import switch
from core.ui.serve.access import access, box_help, first_offered
from core.ui.words.labels import rule_notes
from core.ui.words.messages import escape, explain_error, notice, quote
from core.ui.words.prose import Prose
from core.vocabulary import listed

if TYPE_CHECKING:
    from core.model import LoadedModel, Trace

# How models read, as the name of their group.
READS: dict[Group, str] = {
    "encoder": "↔",
    "decoder": "→",
    "multilingual": "↔",
    "encoder-decoder": "↔→",
    "vision": "▦",
}
_MAX_NAME = 24  # characters of a name in the row
_FACTS = "_model_facts"
_DEVICES = {"cuda": "GPU (CUDA)", "mps": "GPU (MPS)", "cpu": "CPU"}
_words = Prose(__file__)


def draw() -> None:
    """Draw the choice of a model, before the model is loaded."""
    granted, default = access(switch.modality()), first_offered(switch.modality())
    if granted.free_text:
        controls.text("model", default)
    else:
        controls.choice("model", granted.names, subject="This site offers", default=default)
    _notice_missing_default(granted.names)
    names, typed = granted.names, st.session_state["model"]
    end = typed.rstrip("/").rsplit("/", 1)[-1].strip() or "Model"
    short = escape(end if len(end) <= _MAX_NAME else f"{end[: _MAX_NAME - 1]}…")
    with st.container(key="model_chip", width="content"), st.popover(short, help="The model"):
        st.selectbox(
            "Model",
            names if not granted.free_text or typed in names else (*names, typed),
            key="model",
            format_func=_model_label,
            accept_new_options=granted.free_text,
            persist_state="session",
            help=box_help(granted),
        )
        st.session_state[_FACTS] = st.container(key="model_facts")


def _notice_missing_default(names: tuple[str, ...]) -> None:
    """Say why another model is the default; a visitor who picked this one sees its refusal."""
    error = bundled_problem(CATALOG[0])
    if error is not None and CATALOG[0].name in names and st.session_state["model"] != error.name:
        notice(" ".join(explain_error(error)))


def show_model_facts_later(trace: Trace, load: Callable[[], LoadedModel]) -> None:
    """Show a default model's facts once it is loaded; until then, what its trace says."""
    spec = find_entry(trace.model) or CATALOG[0]
    layers, heads, _, dim = trace.shape
    words = (
        f"**{spec.title}.** {spec.good_for}\n\n{layers} layers × {heads} heads × {dim} dims. What"
        " you see was computed before, with these very weights, and came with the app."
    )
    with st.session_state[_FACTS]:
        first_model.when_loaded(lambda: show_model_facts(load()), words)


def show_rules(trace: Trace) -> None:
    """Show what is special about the model's scores, behind its name."""
    if notes := rule_notes(trace):
        with st.session_state[_FACTS]:
            st.caption(notes)


def show_model_facts(model: LoadedModel) -> None:
    """Show what was loaded, behind its name."""
    spec = find_entry(model.name)
    for note in model.notes:
        notice(escape(note))
    with st.session_state[_FACTS]:
        if first_model.FAILED in st.session_state:
            st.caption(f"Shown instead: {quote(model.name)}")
        if spec is not None:
            st.caption(f"**{spec.title}.** {spec.good_for}")
        st.caption(
            f"{_describe_heads(model)} · {model.parameters / 1e6:,.1f} M parameters · on"
            f" {_DEVICES[model.device]}"
        )
        if model.depth is not None and model.depth > model.layers:
            labels = (
                f": {listed(model.layer_labels)}"
                if model.layer_labels
                else "; here they count from 1"
            )
            st.caption(f"Only {model.layers} of its {model.depth} layers attend{labels}.")
        coarse = "" if model.number_type == "float32" else f" in {model.number_type}"
        st.caption(
            f"**Numbers checked{coarse}** (error below {_next_power(model.probe_error)})",
            help=_describe_check(model),
        )


def _next_power(error: float) -> str:
    """The power of ten above an error, with all its zeros: 0.000001 for 7e-7."""
    exponent = math.floor(math.log10(error)) + 1 if error > 0 else -7
    return f"{10.0**exponent:.{max(0, -exponent)}f}"


def _describe_heads(model: LoadedModel) -> str:
    """The numbers of layers, heads and dimensions; for an encoder-decoder, those of both parts."""
    parts = []
    for attention_type in ("encoder", "decoder") if model.is_encoder_decoder else model.attention:
        own = model.attention[attention_type]
        shared = f" ({own.kv_heads} key heads)" if own.kv_heads != own.heads else ""
        name = "" if attention_type == "self" else f"{attention_type} "
        parts.append(f"{name}{own.layers} layers × {own.heads} heads{shared} × {own.dim} dims")
    return ", ".join(parts)


def _describe_check(model: LoadedModel) -> str:
    """What the number beside the model means, and what the check found."""
    return _words(
        "check",
        of_images=model.sees_images,
        tokens=model.checked_tokens,
        batches=model.batches,
        number_type=model.number_type,
        watched=model.way == "watched",
    )


@cache
def _model_label(name: str) -> str:
    """The label of a catalogue model: how it reads and, if not downloaded, what it would take.

    Cached from the first time: a browser answers with the label it was shown, and a label that has
    changed since would be taken for a typed name.
    """
    spec = find_entry(name)
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
