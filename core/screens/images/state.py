"""The state of the view of patches: in the link, in the session, and in the picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.analysis.images.patch_scores import cls_position
from core.components.patches import link_name
from core.components.reported_state import changes
from core.ui import controls

if TYPE_CHECKING:
    from core.model import Trace

ROLLOUTS = ("rollout", "rollout-by-norms")  # choices of head: both are of CLS
KEY = "patches"  # of the component
FREE = "none"  # no token is held
_TEXTS = ("layer", "head", "patch", "direction")


def head_summaries(trace: Trace) -> tuple[str, ...]:
    """What can be shown beside single heads; a rollout begins at CLS."""
    return ("mean", "max", *(ROLLOUTS if cls_position(trace) is not None else ()))


def restore_view(trace: Trace) -> dict[str, Any]:
    """The state, from the link where it has one, checked against what this image allows.

    Layer and head have been picked before.
    """
    names = [link_name(token) for token in trace.tokens]
    return {
        "layer": st.session_state["layer"],
        "head": st.session_state["head"],
        "patch": controls.choice(
            "patch", [FREE, *names], subject="The patches of this image are", optional=True
        ),
        "direction": controls.choice(
            "direction", ("from", "to"), subject="The directions are", optional=True
        ),
        "only_patches": controls.flag("only_patches", optional=True),
    }


def held_token(trace: Trace, view: Mapping[str, Any], start: int) -> int:
    """The place of the token that is held, else of the one that is shown at first."""
    held = (each.position for each in trace.tokens if link_name(each) == view["patch"])
    return next(held, start)


def take_report(view: Mapping[str, Any]) -> None:
    """Put what the component reports into the session; ignore anything that is not a state."""
    report: dict[str, Any] = {key: view[key] for key in _TEXTS if isinstance(view.get(key), str)}
    if isinstance(view.get("only_patches"), bool):
        report["only_patches"] = view["only_patches"]
    controls.pick(**changes(KEY, report))
