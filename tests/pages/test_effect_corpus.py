"""Effects over the sample corpus, and the riddle of a model and its untrained twin."""

from __future__ import annotations

import math
from base64 import b64decode
from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.analysis.effect import effect_table
from core.analysis.effect.corpus import corpus_table
from core.analysis.head_patterns import pattern_table
from core.model import effects, load, trace_text, untrained_twin
from core.model.errors import ModelError
from core.model.interventions import samples
from core.model.interventions.reference import reference_texts
from core.screens.effect import corpus
from core.screens.effect import input as reading
from tests.opening import open_app
from tests.pages.conftest import BOOK, alerts, charts, said
from tests.pages.vision import open_image

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd
    from streamlit.testing.v1 import AppTest

NOVELS = "bundled/gpt2-novels"


def _table() -> pd.DataFrame:
    """From the names that notebooks use."""
    gpt2, texts = load(NOVELS), reference_texts()
    found = [effects(gpt2, text, draws=0) for text in texts]
    compared = [effects(gpt2, text, draws=10) for text in texts[::3]]
    return corpus_table(trace_text(gpt2, BOOK), found, compared)


def test_the_map_over_the_corpus_says_what_is_typical_and_which_heads_exceed_chance() -> None:
    app = open_app("effect", model=NOVELS, text=BOOK, over="corpus", layer="2", head="3")
    table = _table()
    passing = int(table["exceeds"].sum())
    assert passing >= 8
    assert f"**{passing} of 16 heads (dot) matter more than chance,**" in said(app)
    assert "against 10 random directions on 16 of the sentences" in " ".join(said(app).split())
    first = table[table["exceeds"]].nlargest(1, "effect").iloc[0]
    assert f"**Over 48 sentences, L{first['layer']} H{first['head']} matters most:**" in said(app)
    assert f"95 % interval {first['low']:.3g} to {first['high']:.3g}" in said(app)
    assert f"{first['times']:.3g} times as much as in random directions" in said(app)
    row = table[(table["layer"] == 2) & (table["head"] == 3)].iloc[0]
    matters = "matters" if row["exceeds"] else "not shown to matter"
    assert f"**{matters}** more than chance" in said(app)
    digits = 2 - math.floor(math.log10(row["high"]))
    effect, low, high = (f"{row[each]:.{digits}f}" for each in ("effect", "low", "high"))
    assert f"by **{effect}** (nats; 95 % interval over 48 sentences: {low} to {high})" in said(app)
    assert f"larger than that of {row['others']:.0%}".replace("%", " %") in said(app)
    assert "The change is positive" not in said(app)
    np.testing.assert_allclose(_drawn_values(app), table["effect"], rtol=1e-4)


def _drawn_values(app: AppTest) -> list[float]:
    bars = [each for each in charts(app)[0]["data"] if each["type"] == "bar"]
    coloured = [each for each in bars if "cmin" in each["marker"]]
    return [value for each in coloured for value in _decoded(each["customdata"])[:, 2]]


@pytest.fixture
def few_samples(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Eight sentences or images in place of all, six of which are drawn first."""
    original = samples.samples_of
    for module in (samples, corpus):
        monkeypatch.setattr(module, "samples_of", lambda model: original(model)[:8])
    monkeypatch.setattr(corpus, "_FIRST", 4)
    corpus._measured.clear()
    yield
    corpus._measured.clear()


@pytest.mark.usefixtures("few_samples")
def test_images_are_measured_over_the_sample_images() -> None:
    app = open_image("effect", over="corpus")
    assert "Over 8 images, " in said(app)
    assert "on 8 of the images" in " ".join(said(app).split())
    assert "The change is positive on" in said(app)
    assert alerts(app) == ""


@pytest.mark.usefixtures("few_samples")
def test_the_first_few_are_drawn_at_once_and_what_was_measured_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    measured: list[tuple[int, int]] = []
    headlines: list[str] = []
    original, headline = samples.sample_effects, corpus._headline

    def counted(model: object, place: int, *given: object, draws: int, **more: object) -> object:
        measured.append((draws, place))
        if len(measured) == 6:
            raise ModelError("Stopped here.")
        return original(model, place, *given, draws=draws, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(corpus, "sample_effects", counted)

    def shown(*given: object) -> str:
        headlines.append(headline(*given))  # type: ignore[arg-type]
        return headlines[-1]

    monkeypatch.setattr(corpus, "_headline", shown)
    app = open_app("effect", model=NOVELS, text=BOOK, over="corpus", replace="zero")
    assert "Stopped here." in alerts(app)
    assert "Over 4 sentences, " in headlines[0]
    assert "changes most" in headlines[0]
    assert [place for _, place in measured] == [0, 2, 4, 6, 1, 3]
    app.run()
    rest = [(0, 3), (0, 5), (0, 7), *((10, place) for place in range(8))]
    assert measured[6:] == rest
    assert "Over 8 sentences, " in headlines[-1]
    assert "matters most" in headlines[-1] or "no head" in headlines[-1]
    app.run()
    assert len(measured) == 6 + len(rest)


def _heatmaps(app: AppTest) -> list[np.ndarray]:
    return [np.array(_decoded(each["data"][0]["z"])) for each in charts(app)]


def _decoded(values: object) -> np.ndarray:
    if not isinstance(values, dict):
        return np.array(values, dtype=float)
    flat = np.frombuffer(b64decode(values["bdata"]), values["dtype"])
    shape = str(values.get("shape", len(flat))).split(",")
    return flat.reshape([int(each) for each in shape])


def _drawn(riddle: int) -> list[int]:
    """Layer and head of a riddle, and the trained side, from 0."""
    generator = np.random.default_rng(riddle)
    return [int(generator.integers(count)) for count in (6, 12, 2)]


def _attention(layer: int, head: int) -> list[np.ndarray]:
    """Of the model and of its twin."""
    minilm = load("bundled/minilm")
    traces = (trace_text(each, BOOK) for each in (minilm, untrained_twin(minilm)))
    return [trace.attention(layer, head) for trace in traces]


def test_a_riddle_shows_both_unnamed_then_tells_and_counts_the_first_guess() -> None:
    app = open_app("effect", text=BOOK, part="fooled", riddle="7")
    layer, head, side = _drawn(7)
    assert f"One shows L{layer + 1} H{head + 1} of this model on this text" in said(app)
    expected = _attention(layer, head)
    for place, shown in enumerate(_heatmaps(app)):
        np.testing.assert_allclose(shown, expected[place != side], atol=1e-6)
    assert all(not each["data"][0]["showscale"] for each in charts(app))
    sides = ("left", "right")
    app.button(key=f"effect_guess_{sides[1 - side]}").click().run()
    assert f"**Fooled: the {sides[side]} one is trained.** 0 of 1 guess right" in said(app)
    labels = [app.button(key=f"effect_guess_{name}").label for name in sides]
    assert labels[side] == f"{sides[side].capitalize()}: trained"
    assert labels[1 - side].endswith(": untrained")
    assert all(each["data"][0].get("showscale", True) for each in charts(app))
    app.button(key="effect_another").click().run()
    assert app.session_state["riddle"] == 8
    assert "**Which of the two is trained?**" in said(app)
    app.button(key=f"effect_guess_{sides[_drawn(8)[2]]}").click().run()
    assert "**Right: the" in said(app)
    assert "1 of 2 guesses right" in said(app)


def test_heads_of_both_that_pass_each_threshold_are_counted() -> None:
    app = open_app("effect", text=BOOK, part="fooled")
    minilm = load("bundled/minilm")
    twin = untrained_twin(minilm)
    counts = [
        pattern_table(trace_text(each, BOOK))["class"].value_counts() for each in (minilm, twin)
    ]
    for name, title in (("first", "first token"), ("broad", "broad")):
        trained, untrained = (int(each.get(name, 0)) for each in counts)
        assert f"| {title} | {trained} of 72 | {untrained} of 72 |" in said(app)
    beyond = []
    for model in (minilm, twin):
        table = effect_table(trace_text(model, BOOK), effects(model, BOOK))
        beyond.append(table["exceeds"].sum())
    assert f"false discovery rate 10 %) | {beyond[0]} of 72 | {beyond[1]} of 72 |" in said(app)


def test_a_short_text_names_no_patterns_and_a_long_one_is_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = open_app("effect", model=NOVELS, text="It rains.", part="fooled")
    assert "It has fewer than 12 tokens, too few to name patterns." in said(app)
    assert "| broad |" not in said(app)
    monkeypatch.setattr(reading, "MAX_TOKENS", 8)
    app = open_app("effect", model=NOVELS, text=BOOK * 3, part="fooled")
    assert _heatmaps(app)[0].shape == (8, 8)
    assert "Both read the first 8 of 34 tokens." in said(app)


def test_images_have_riddles_too() -> None:
    app = open_image("effect", part="fooled")
    assert "of this model on this image" in said(app)
    assert len(_heatmaps(app)) == 2
    assert alerts(app) == ""
