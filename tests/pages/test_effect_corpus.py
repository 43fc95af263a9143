"""Effects over the sample corpus beside the untrained twin, and the riddle of the two."""

from __future__ import annotations

import math
from base64 import b64decode
from functools import cache
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


@cache
def _tables() -> list[pd.DataFrame]:
    """Of the model and of its twin, from the names that notebooks use."""
    gpt2 = load(NOVELS)
    texts = reference_texts()[::3][:16]
    return [
        corpus_table(
            trace_text(gpt2, BOOK),
            [
                effects(model, text, draws=samples.DRAWS, seed=place)
                for place, text in enumerate(texts)
            ],
        )
        for model in (gpt2, untrained_twin(gpt2))
    ]


def test_the_map_over_the_corpus_says_how_many_heads_pass_and_how_many_of_the_twin() -> None:
    app = open_app("effect", model=NOVELS, text=BOOK, over="corpus", layer="2", head="3")
    table, twin = _tables()
    passing, untrained = (int(each["exceeds"].sum()) for each in (table, twin))
    assert passing > untrained
    assert f"**{passing} of 16 heads pass, and {untrained} of 16 of its untrained twin:**" in said(
        app
    )
    first = table[table["exceeds"]].nlargest(1, "effect").iloc[0]
    assert f"**Over 16 sentences, L{first['layer']} H{first['head']} matters most:**" in said(app)
    assert f"95 % interval {first['low']:.3g} to {first['high']:.3g}" in said(app)
    row = table[(table["layer"] == 2) & (table["head"] == 3)].iloc[0]
    needed = "needed" if row["exceeds"] else "not shown to be needed"
    assert f"**L2 H3** is **{needed}** over 16 sentences" in said(app)
    assert f"on {round(row['often'] * 16)} of 16 sentences" in said(app)
    assert f"than {100 * row['others']:.0f} % of the other heads of its layer" in said(app)
    digits = 2 - math.floor(math.log10(row["high"]))
    low, high = (f"{row[each]:.{digits}f}" for each in ("low", "high"))
    assert f"| effect | {row['effect']:.{digits}f} | {low} to {high} |" in said(app)
    bars = [each for each in charts(app)[0]["data"] if each["type"] == "bar"]
    coloured = [len(_decoded(each["x"])) for each in bars if "cmin" in each["marker"]]
    assert coloured == [passing]


@pytest.fixture
def two_samples(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two sentences or images in place of sixteen."""
    original = samples.samples_of
    for module in (samples, corpus):
        monkeypatch.setattr(module, "samples_of", lambda model: original(model)[:2])
    corpus._place.clear()
    yield
    corpus._place.clear()


@pytest.mark.usefixtures("two_samples")
def test_images_are_measured_over_the_sample_images() -> None:
    app = open_image("effect", over="corpus")
    assert "Over 2 images, " in said(app)
    assert "of its untrained twin:**" in said(app)
    assert alerts(app) == ""


@pytest.mark.usefixtures("two_samples")
def test_what_was_measured_is_not_measured_again_and_what_was_left_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    measured: list[tuple[str, int]] = []
    original = samples.sample_effects

    def counted(model: object, place: int, *options: object, **more: object) -> object:
        measured.append((model.name, place))  # type: ignore[attr-defined]
        if len(measured) == 2:
            raise ModelError("Stopped here.")
        return original(model, place, *options, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(corpus, "sample_effects", counted)
    app = open_app("effect", model=NOVELS, text=BOOK, over="corpus", replace="zero")
    assert "Stopped here." in alerts(app)
    app.run()
    assert "of its untrained twin:**" in said(app)
    twin = f"{NOVELS} (untrained twin)"
    assert measured == [(NOVELS, 0), (NOVELS, 1), (NOVELS, 1), (twin, 0), (twin, 1)]
    app.run()
    assert len(measured) == 5


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
