"""The page that compares two texts or two models: its answer, its floor, its link, its refusals."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core.model import LoadedModel, Trace, trace_text
from core.model.errors import OutOfMemoryError
from core.screens.compare import exchange, measured
from core.ui import cache
from tests.opening import open_app
from tests.pages.conftest import alerts, press_example, said, sent, table_of

pytestmark = pytest.mark.slow

STUDENT = "The quick student finished the difficult work."
NEVER = "The quick student never finished the difficult work."
LINES = "\n".join(f"The {word} student finished the difficult work." for word in ("fast", "rapid"))
NEGATION = {"text": STUDENT, "text_b": NEVER, "lines": LINES}
NOVELS = "bundled/gpt2-novels"


def headline(app: AppTest) -> str:
    return next(str(text.value) for text in app.markdown if str(text.value).startswith("**"))


def test_the_answer_names_the_head_that_differs_most_and_the_picture_shows_it() -> None:
    app = open_app("compare", **NEGATION)
    view = sent(app, "compare")
    distance = view["distance"].reshape(6, 12)
    layer, head = np.unravel_index(distance.argmax(), distance.shape)
    assert view["chosen"] == [layer, head] == [5, 9]
    turn = r"`student` turns from `quick` to `never` \((\S+) to (\S+)\)\*\*, distance (\S+);"
    said_of = re.search(f"L6 H10: {turn} paraphrases differ by (\\S+) at most", headline(app))
    assert said_of is not None
    row, columns = view["names"].index("student"), len(view["names"]) + 1
    quick = row * columns + view["names"].index("quick")
    numbers = [float(each) for each in said_of.groups()]
    shown = [view["a"][quick], view["b"][quick], distance.max()]
    assert numbers[:3] == pytest.approx(shown, abs=0.006)
    assert numbers[3] < numbers[2]
    for side in "ab":
        np.testing.assert_allclose(view[side].reshape(-1, columns).sum(axis=1), 1, atol=1e-5)
    assert "in B: `never`" in said(app)
    assert f"do (few, so more by chance): {view['over'].sum()} of 72." in said(app)


def test_a_visitor_s_head_and_pinned_pair_are_kept_when_compare_is_pressed() -> None:
    app = open_app("heatmap", text=STUDENT, layer="4", head="2", cell="4,3")
    app.button(key="open_compare").click().run()
    assert "Type another sentence as B" in alerts(app)
    app.session_state["text_b"] = NEVER
    app.switch_page("pages/compare.py").run()
    view = sent(app, "compare")
    assert view["chosen"] == [3, 1]
    assert view["held"] == [3, 2]  # student and quick, which have partners
    assert app.query_params["cell"] == "4,3"


def test_equal_sides_differ_by_exactly_nothing() -> None:
    app = open_app("compare", text="It rains.", text_b="it rains.", lines="It pours.")
    assert "every head differs by exactly 0" in headline(app)
    assert not sent(app, "compare")["change"].any()
    assert "by more than 1 paraphrase does" in said(app)
    app = open_app("compare", text="It rains.", text_b="it rains.")
    assert "The map colours heads that differ at all: 0 of 72. No word of A" in said(app)


def test_a_pair_of_the_visitor_s_own_wins_and_can_be_undone() -> None:
    app = open_app("compare", match="zzz,99-1,0-0", **NEGATION)
    assert [3, 3] in sent(app, "compare")["pairs"]
    assert "This link asks for match `zzz,99-1,0-0`" in alerts(app)
    assert not sent(app, "compare")["corrected"]
    app = open_app("compare", match="4-5", **NEGATION)  # student and never
    assert not app.warning
    view = sent(app, "compare")
    assert [3, 4] in view["pairs"]
    assert [3, 3] not in view["pairs"]
    assert view["corrected"]
    assert "student / never" in view["names"]
    app.text_input(key="text_b").set_value("The student rests.").run()  # of other words
    assert app.query_params["match"] == ""
    assert "in A: `quick`, `finished`, `the`, `difficult` and `work`; in B: `rests`" in said(app)


def test_two_models_are_matched_over_the_corpus_with_an_interval(
    files: dict[str, Callable[[], str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measured, "_SAMPLES", 12)
    app = open_app("compare", text=STUDENT, model_b=NOVELS)
    assert headline(app).startswith("**The models differ most in L")
    assert "over the corpus: mean distance 0." in said(app)
    view, table = sent(app, "compare"), table_of(files)
    assert view["titles"][1].startswith("B · L")
    taken = table["matched"].dropna()
    assert len(set(taken)) == len(taken) == 16  # each head of B once
    assert (table["nearest_low"] <= table["nearest_distance"] + 1e-6).all()
    assert (table["nearest_distance"] <= table["nearest_high"] + 1e-6).all()
    layer, head = view["chosen"]
    assert view["titles"][1] == f"B · {table['nearest'][12 * layer + head]}"


def test_the_untrained_twin_has_heads_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured, "_SAMPLES", 12)
    app = open_app("compare", text="the dog saw the cat.", model=NOVELS)
    press_example(app, "compare", "Trained and untrained")
    assert headline(app).startswith("**The models differ most in")
    assert "to `the₂` (" in headline(app)  # as the picture names it
    assert sent(app, "compare")["distance"].max() > 0.3


def test_a_model_that_may_not_be_used_or_does_not_fit_is_told_before_it_is_loaded(
    connect: Callable[..., None], monkeypatch: pytest.MonkeyPatch, loaded: list[str]
) -> None:
    connect("203.0.113.9")
    app = open_app("compare", model_b="owner/secret")
    assert app.text_input(key="text_b").value == ""  # not that of the pair that the page opens with
    assert "does not offer" in "\n".join(str(box.value) for box in app.error)
    assert "owner/secret" not in loaded

    def refuse(*_: object) -> None:
        raise OutOfMemoryError("{name} needs more memory.", "Close something.", NOVELS)

    monkeypatch.setattr(measured, "untrained_twin", refuse)
    app = open_app("compare", text="It snows.", model_b="twin")
    assert "needs more memory" in "\n".join(str(box.value) for box in app.error)


def test_side_b_is_run_once_and_long_texts_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[str] = []

    def noted(model: LoadedModel, text: str, *given: Any, **options: Any) -> Trace:
        runs.append(text)
        return trace_text(model, text, *given, **options)

    monkeypatch.setattr("core.model.trace_text", noted)
    cache.traces.clear()
    open_app("compare", text="A dog barks.", text_b="A dog slept.", lines="A hound barks.")
    assert runs == ["A dog barks.", "A dog slept."]
    long = "rain and snow " * 60
    app = open_app("compare", text=long, text_b=f"{long} fog", lines="rain and snow")
    assert "Compared are the first 128 of 182 tokens" in said(app)
    assert len(sent(app, "compare")["words"][1]) == 128


def test_heads_that_carry_the_difference_are_ranked(
    files: dict[str, Callable[[], str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "VARIANTS", 1)
    app = open_app("compare", carry="1", **NEGATION)
    assert "**L6 H10" in said(app)
    assert "shares under 5 % never count" in said(app)
    assert "moves its answer 61 % of the way to A's, random directions" in said(app)
    (make,) = (make for name, make in files.items() if name == "compare-minilm-carriers.csv")
    first = make().splitlines()[2].split(",")
    assert first[:2] == ["6", "10"]
    assert float(first[2]) == pytest.approx(0.61, abs=0.01)
