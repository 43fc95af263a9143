"""What a session remembers of questions that were asked before."""

from __future__ import annotations

import pytest
import streamlit as st

from core.ui.cache import remembered


@pytest.fixture(autouse=True)
def session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(st, "session_state", {})


def test_a_question_is_answered_once_until_as_many_others_were_asked() -> None:
    asked: list[str] = []

    def answer(question: str) -> str:
        def find_out() -> str:
            asked.append(question)
            return question.upper()

        return remembered("key", question, find_out, 2)

    assert [answer(each) for each in "abab"] == ["A", "B", "A", "B"]
    assert asked == ["a", "b"]
    assert answer("c") == "C"
    assert answer("a") == "A"
    assert asked == ["a", "b", "c", "a"]


def test_what_failed_is_tried_again() -> None:
    def fail() -> str:
        raise ValueError("not now")

    with pytest.raises(ValueError, match="not now"):
        remembered("key", "question", fail)
    assert remembered("key", "question", lambda: "now") == "now"
