"""Effects over the sample corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.analysis.effect.corpus import corpus_table
from core.model import load, trace_text
from core.model.errors import ModelError
from core.model.interventions import heads
from core.screens.heads import effects_corpus as corpus
from tests.opening import open_app
from tests.pages.conftest import BOOK, alerts, charts, numbers, said
from tests.pages.vision import open_image

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd
    from streamlit.testing.v1 import AppTest

NOVELS = "bundled/gpt2-novels"


def _table() -> pd.DataFrame:
    key = NOVELS, "text", "mean", "kl"
    found, compared = (corpus._place(*key, draws).kept[0] for draws in (0, heads.SAMPLE_DRAWS))
    return corpus_table(trace_text(load(NOVELS), BOOK), found, compared)


@pytest.fixture
def few_samples(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Five sentences or images in place of all."""
    original = heads.samples_of
    for module in (heads, corpus):
        monkeypatch.setattr(module, "samples_of", lambda model: original(model)[:5])
    corpus._place.clear()
    yield
    corpus._place.clear()


@pytest.mark.usefixtures("few_samples")
def test_the_map_over_the_corpus_says_what_is_typical_and_which_heads_exceed_chance() -> None:
    app = open_app("effect", model=NOVELS, text=BOOK, over="corpus", layer="2", head="3")
    table = _table()
    passing = int(table["exceeds"].sum())
    assert passing >= 5
    assert f"**{passing} of 16 heads (dot) matter more than chance,**" in said(app)
    assert "10 random directions on 5 of the sentences" in said(app)
    first = table[table["exceeds"]].nlargest(1, "effect").iloc[0]
    assert f"**Over 5 sentences, L{first['layer']} H{first['head']} matters most:**" in said(app)
    assert f"95 % interval {first['low']:.3g} to {first['high']:.3g}" in said(app)
    assert f"{first['times']:.3g} times as much as in random directions" in said(app)
    row = table[(table["layer"] == 2) & (table["head"] == 3)].iloc[0]
    matters = "matters" if row["exceeds"] else "not shown to matter"
    assert f"**{matters}** more than chance" in said(app)
    effect, low, high = (f"{row[each]:.3g}" for each in ("effect", "low", "high"))
    assert f"by **{effect}** (nats; 95 % interval {low} to {high})" in said(app)
    np.testing.assert_allclose(_drawn_values(app), table["effect"], rtol=1e-4)


def _drawn_values(app: AppTest) -> list[float]:
    bars = [each for each in charts(app)[0]["data"] if each["type"] == "bar"]
    coloured = [each for each in bars if "cmin" in each["marker"]]
    return [value for each in coloured for value in numbers(each["customdata"])[:, 2]]


@pytest.mark.usefixtures("few_samples")
def test_images_are_measured_over_the_sample_images() -> None:
    app = open_image("effect", over="corpus")
    assert "Over 5 images, " in said(app)
    assert "on 5 of the images" in said(app)
    assert alerts(app) == ""


@pytest.mark.usefixtures("few_samples")
def test_values_are_drawn_before_they_are_compared_and_what_was_measured_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    measured: list[tuple[int, int]] = []
    headlines: list[str] = []
    original, headline = heads.sample_effects, corpus._headline

    def noted(model: object, place: int, *given: object, draws: int, **more: object) -> object:
        measured.append((draws, place))
        if len(measured) == 7:
            raise ModelError("Stopped here.")
        return original(model, place, *given, draws=draws, **more)  # type: ignore[arg-type]

    def shown(*given: object) -> str:
        headlines.append(headline(*given))  # type: ignore[arg-type]
        return headlines[-1]

    monkeypatch.setattr(corpus, "sample_effects", noted)
    monkeypatch.setattr(corpus, "_headline", shown)
    app = open_app("effect", model=NOVELS, text=BOOK, over="corpus", replace="zero")
    assert "Stopped here." in alerts(app)
    assert "changes most" in headlines[0]
    assert measured == [*((0, place) for place in range(5)), (10, 0), (10, 1)]
    app.run()
    assert measured[7:] == [(10, place) for place in range(5)]
    assert "matters most" in headlines[-1] or "no head" in headlines[-1]
    app.run()
    assert len(measured) == 12
