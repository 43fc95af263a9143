"""What the session of one visitor keeps of what was slow to find out for it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

import streamlit as st

Answer = TypeVar("Answer")


def remembered(
    key: str, question: Hashable, find_out: Callable[[], Answer], most: int = 1
) -> Answer:
    """What `find_out` gave for a question; under a `key`, `most` answers are kept.

    What it raises is raised here, and the next call tries again. Of an atlas a question holds a
    weak reference, so that no session keeps one in memory.
    """
    answers: dict[Hashable, Answer] = st.session_state.setdefault(key, {})
    if question not in answers:
        answers[question] = find_out()
        for oldest in list(answers)[:-most]:
            answers.pop(oldest, None)
    return answers[question]
