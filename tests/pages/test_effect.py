"""The effect page: what replacing heads changes, and how far that can be trusted."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from core.analysis.effect import effect_table, leading_table
from core.model import effects, load, trace_text
from core.model.interventions.direct import direct_effects, direct_parts, written_words
from core.model.interventions.lens import logit_lens
from core.screens.heads import effect
from core.screens.heads import effects as measuring
from core.ui import navigation
from core.ui.cache import TraceKey
from tests.model.planted import PLANTED
from tests.model.sweep.tiny import build
from tests.opening import open_app
from tests.pages.conftest import BOOK, alerts, said, sent
from tests.pages.vision import open_image

if TYPE_CHECKING:
    from pathlib import Path

    from streamlit.testing.v1 import AppTest

NOVELS = "bundled/gpt2-novels"
KING = "the king met a dog , and then the king"


def _answer(app: AppTest) -> str:
    """The bold sentence that begins the page."""
    return next(line for line in said(app).splitlines() if "on this text" in line)


def test_the_answer_the_map_and_the_card_say_what_is_measured() -> None:
    app = open_app("effect", model=NOVELS, text=KING, layer="1", head="2", replace="zero")
    model, trace = load(NOVELS), trace_text(load(NOVELS), KING)
    key = TraceKey(NOVELS, KING)
    leaders = leading_table(trace, measuring.measured_effects(key, "zero", "kl", "fresh"))
    passing = leaders[leaders["matters"]]
    first = (passing if len(passing) else leaders).iloc[0]
    beyond = f"{first['low']:.3g} to {first['high']:.3g}; 14 tokens: a hint."
    assert f"L{first['layer']} H{first['head']}" in _answer(app)
    assert beyond in _answer(app)
    table = effect_table(trace, measuring.measured_effects(key, "zero", "kl"))
    assert ("is beyond chance on this text" in _answer(app)) == (len(passing) == 0)
    assert f"({table['exceeds'].sum()} of 16 heads; 8 directions each" in said(app)
    found = effects(model, KING, "zero", heads=[(0, 1)], draws=19, seed=1)
    effect, control = found.values[0, 1], found.control[0, 1]
    shown = f"**{effect:.3g}**" if abs(effect) > control else f"{effect:.3g}"
    assert f"| zero | {shown} | ≤ {control:.3g} |" in said(app)
    assert "**L1 H2: first token.**" in said(app)


def test_the_values_are_drawn_before_what_chance_does_is_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each step is measured once; the largest head is named before the next step begins."""
    events: list[int | str] = []
    run = measuring._run

    def noted(*arguments: Any, **options: Any) -> Any:
        if "progress" in options:
            events.append(options["draws"])
        return run(*arguments, **options)

    def ask(text: str) -> None:
        events.append(text)
        navigation.ask(text)

    monkeypatch.setattr(measuring, "_run", noted)
    monkeypatch.setattr(effect, "ask", ask)
    app = open_app("effect", model=NOVELS, text="It rains in the north again.")
    values, largest, fresh, answer, every, _ = events
    assert [values, fresh, every] == [0, 99, 8]
    assert "not measured yet" in str(largest)
    assert "99 random directions" in str(answer)
    assert "not measured yet" not in said(app)


def test_ten_visitors_of_one_text_have_it_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """All ask before the first run is over; the others wait, and get what it found."""
    runs = []

    def run(*_: object, **__: object) -> object:
        runs.append(object())
        time.sleep(1)
        return runs[-1]

    monkeypatch.setattr(measuring, "_run", run)
    key = TraceKey(NOVELS, "Ten of us read this at once.")
    with ThreadPoolExecutor(10) as pool:
        asked = [
            pool.submit(measuring.measured_effects, key, "zero", "kl", "values") for _ in range(10)
        ]
        found = [each.result(60) for each in asked]
    assert len(runs) == 1
    assert all(each is runs[0] for each in found)


def test_a_planted_head_is_needed_and_an_idle_one_is_not() -> None:
    app = open_app("effect", model=PLANTED["induction"].folder, text=KING, layer="2", head="2")
    assert "is **needed here**" in said(app)
    assert "The model's likeliest word is `met`" in said(app)
    app.session_state["head"] = "1"
    app.run()
    assert "**L2 H1**" in said(app)
    assert "is **not shown to be needed here**" in said(app)


@pytest.mark.usefixtures("few_effects")
def test_beside_an_effect_stands_what_the_head_changes_alone() -> None:
    link = {"text": BOOK, "layer": "2", "head": "3", "measure": "logit_difference"}
    app = open_app("effect", model=NOVELS, **link)
    alone = direct_effects(load(NOVELS), BOOK, "mean", "logit_difference")[1, 2]
    (row,) = [line for line in said(app).splitlines() if line.startswith("| its mean")]
    assert row.endswith(f"| {alone:.3g} |".replace("-", "−"))


def test_all_that_is_written_adds_up_and_words_are_said_after_each_layer() -> None:
    app = open_app("effect", model=NOVELS, text=BOOK, part="writes", layer="2", head="3")
    parts = direct_parts(load(NOVELS), BOOK)
    first = np.unravel_index(np.argmax(parts.heads), parts.heads.shape)
    assert f"**L{first[0] + 1} H{first[1] + 1} writes most:**" in said(app)
    assert f"the {parts.value:.3g} logits by which `{parts.words[0]}` is ahead" in said(app)
    assert f"**L2 H3 writes** {parts.heads[1, 2]:.3g} logits;".replace("-", "−") in said(app)
    up, down, _ = written_words(load(NOVELS), BOOK, 1, 2) or ((), (), 0)
    assert f"Likelier: `{up[0].display}` +{up[0].logit:.2g}" in said(app)
    assert f"Less likely: `{down[0].display}` −{-down[0].logit:.2g}" in said(app)
    assert f"all heads {parts.heads.sum():.3g} logits" in said(app)
    lens = logit_lens(load(NOVELS), BOOK) or ()
    assert (
        f"| layer 2 | `{lens[2].guesses[0].display}` {lens[2].guesses[0].probability * 100:.0f} %"
        in said(app)
    )
    app = open_app("effect", text=BOOK, part="writes")
    assert "% of the length of the sentence vector" in said(app)
    assert "After each layer:" not in said(app)


@pytest.mark.usefixtures("few_effects")
def test_a_long_text_is_cut_and_that_is_said_in_every_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "MAX_TOKENS", 8)
    text = "it rains in the north and it pours in the south ."
    link = {"model": NOVELS, "text": text, "token": "2"}
    assert "Effects are of the first 8 of 19 tokens." in said(open_app("effect", **link))
    app = open_app("effect", part="away", take="edge", **link)
    assert "Effects are of the first 8 of 19 tokens." in said(app)
    assert len(app.selectbox(key="cut_key").options) == 8
    app = open_app("effect", part="paths", **link)
    assert "The first 8 of 19 tokens." in said(app)
    assert len(sent(app, "paths")["sides"]["queries"]["labels"]) == 8


@pytest.mark.usefixtures("few_effects")
def test_what_cannot_be_taken_apart_is_said(tmp_path: Path) -> None:
    build("squeezebert", tmp_path)  # its linear maps are convolutions
    app = open_app("effect", model=str(tmp_path), text="it rains", part="writes")
    assert "cannot be said here" in said(app)
    app = open_app("effect", model=str(tmp_path), text="it rains")
    assert "| – |" in said(app)
    assert alerts(app) == ""


@pytest.mark.usefixtures("few_effects")
def test_pages_with_one_head_lead_to_its_card_and_the_card_does_not_lead_to_itself() -> None:
    app = open_app("head_view", text=BOOK, layer="3", head="5", heads="5")
    app.button(key="open_head_effect").click().run()
    assert "**L3 H5**" in said(app)
    assert "open_head_effect" not in [button.key for button in app.button]
    assert "open_head_atlas" in [button.key for button in app.button]


@pytest.mark.usefixtures("few_effects")
def test_an_image_is_measured_by_its_class_or_its_cls_vector() -> None:
    app = open_image("effect")
    assert "Effect on the class, in 1 − cosine of the CLS vector" in said(app)
    assert "another image's" in said(app)


@pytest.mark.usefixtures("few_effects")
@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("heads", "directions each, false discovery rate"),
        ("away", "**Without L"),
        ("paths", "lines drawn account for"),
    ],
)
def test_only_the_encoder_of_an_encoder_decoder_is_measured(
    answering_bart: Path, part: str, words: str
) -> None:
    app = open_app("effect", model=str(answering_bart), attention="decoder", part=part)
    assert "read by the encoder alone" in said(app)
    assert "Effect on the" not in said(app)
    app.button(key="show_encoder").click().run()
    assert words in said(app)
    assert alerts(app) == ""


def test_a_link_to_what_is_gone_opens_all_heads_and_says_so() -> None:
    link = {"part": "trust", "take": "word", "other": "It pours.", "word": "dog", "also": "1"}
    app = open_app("effect", text=BOOK, measure="similarity", **link)
    for words in (
        "its own page of how far methods can be trusted (a table under all heads)",
        "a word that is hidden or replaced, the similarity to another sentence",
        "several heads together and words of your own, which this page no longer has",
    ):
        assert words in alerts(app)
    assert app.session_state["part"] == "heads"
