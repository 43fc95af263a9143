"""What a model expects, on Home: as bars, at a temperature, and written into the text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core.model import load
from core.model.language import next_words
from tests.model.language.checkpoints import build_with_head
from tests.opening import open_app
from tests.pages.conftest import said

NOVELS = "bundled/gpt2-novels"
STORMY = "It was a dark and stormy"


def guesses(app: AppTest, place: int = 0) -> list[Any]:
    """The buttons for one spot, the likeliest first."""
    assert not app.exception
    return [each for each in app.button if str(each.key).startswith(f"home_guess_{place}_")]


@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_bars_are_what_a_decoder_expects_at_the_temperature_of_the_link(temperature: float) -> None:
    app = open_app("home", model=NOVELS, text=STORMY)
    app.slider(key="temperature").set_value(temperature).run()
    assert app.query_params.get("temperature", "1") == f"{temperature:g}"
    app = open_app("home", **{key: app.query_params[key] for key in app.query_params})
    every = next_words(load(NOVELS), STORMY, count=100_000)
    sharper = np.array([each.probability for each in every]) ** (1 / temperature)
    shown = [float(each.label.split()[-2]) / 100 for each in guesses(app)]
    np.testing.assert_allclose(shown, (sharper / sharper.sum())[:10], atol=6e-4)


@pytest.mark.parametrize(
    ("link", "written"),
    [
        ({"text": STORMY}, {"text": f"{STORMY} night"}),
        ({"text": "It was a dark and stor"}, {"text": "It was a dark and story"}),
        ({"text": "She came.", "pair": STORMY}, {"text": "She came.", "pair": f"{STORMY} night"}),
    ],
)
def test_a_guess_that_is_pressed_goes_behind_the_last_text_unless_that_was_cut(
    link: dict[str, str], written: dict[str, str]
) -> None:
    app = open_app("home", model=NOVELS, **link)
    guesses(app)[0].click().run()
    assert written.items() <= app.query_params.items()
    app.session_state["text"] = "dark " * 1100
    assert all(each.disabled for each in guesses(app.run()))


@pytest.mark.parametrize(
    ("name", "kind", "mask"),
    [("bert", "BertForMaskedLM", "[MASK]"), ("roberta", "RobertaForMaskedLM", "<mask>")],
)
def test_a_guess_takes_the_place_of_its_mask(
    name: str, kind: str, mask: str, tmp_path: Path
) -> None:
    build_with_head(name, kind, tmp_path, stir=0.3)
    app = open_app("home", model=str(tmp_path), text="The cat sat on everything.")
    assert f"Type `{mask}` in place of a word" in said(app)
    assert not guesses(app)
    app = open_app("home", model=str(tmp_path), text="The cat sat.", pair=f"{mask} it {mask}.")
    assert [len(guesses(app, place)) for place in range(3)] == [5, 5, 0]
    guess = next(each for each in guesses(app, 1) if not each.disabled)
    word = guess.label.split("`")[1]
    guess.click().run()
    assert app.query_params["text"] == "The cat sat."
    assert app.query_params["pair"] == f"{mask} it {word}.".replace(" …", "")
