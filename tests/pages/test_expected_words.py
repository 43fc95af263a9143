"""Home says what a model with a language-model head expects to read, and is silent without one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.model import load
from core.model.language import next_words, text_classes
from tests.model.language.checkpoints import build_with_head
from tests.opening import open_app
from tests.pages.conftest import said

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from streamlit.testing.v1 import AppTest

NOVELS = "bundled/gpt2-novels"


def _tables(app: AppTest) -> list[pd.DataFrame]:
    return [each.value for each in app.main.dataframe]


def _sections(app: AppTest) -> list[str]:
    return [each.value for each in app.main.header]


def test_a_decoder_has_a_table_of_its_guesses() -> None:
    text = "It was a dark and stormy"
    guesses = next_words(load(NOVELS), text)
    app = open_app("home", model=NOVELS, text=text)
    assert "What the model expects next" in _sections(app)
    (table,) = _tables(app)
    words = [each.removeprefix("…") for each in table["token"]]
    assert words == [guess.display for guess in guesses]
    expected = [guess.probability for guess in guesses]
    np.testing.assert_allclose(table["probability"], expected, atol=1e-5)


def test_a_model_without_a_head_says_so_only_where_it_is_described() -> None:
    app = open_app("home", model="bundled/minilm")
    assert not any("expects" in each or "under" in each for each in _sections(app))
    app.session_state["structure"] = True
    app.run()
    assert "has no language-model head" in said(app)


@pytest.mark.parametrize(
    ("name", "kind", "mask"),
    [("bert", "BertForMaskedLM", "[MASK]"), ("roberta", "RobertaForMaskedLM", "<mask>")],
)
def test_a_masked_model_fills_the_masks_that_are_typed(
    name: str, kind: str, mask: str, tmp_path: Path
) -> None:
    folder = str(tmp_path)
    build_with_head(name, kind, tmp_path, stir=0.3)
    app = open_app("home", model=folder, text="The cat sat on everything.")
    assert f"What stands under `{mask}`" in _sections(app)
    assert f"Type `{mask}` in place of a word" in said(app)
    assert not _tables(app)
    app = open_app("home", model=folder, text="The cat sat.", pair=f"{mask} it {mask}.")
    assert [len(table) for table in _tables(app)] == [5, 5]


@pytest.mark.parametrize("labels", [{0: "sad", 1: ":red[x]"}, {0: "stars"}])
def test_a_classifier_names_its_class(labels: dict[int, str], tmp_path: Path) -> None:
    kind = "BertForSequenceClassification"
    build_with_head("bert", kind, tmp_path, stir=0.3, id2label=labels)
    (label, value), *_ = text_classes(load(str(tmp_path)), "The cat sat.")
    app = open_app("home", model=str(tmp_path), text="The cat sat.")
    assert not app.exception
    assert "Which class the model picks" in _sections(app)
    if len(labels) == 1:
        assert f"`stars`: **{value:.3g}**".replace("-", "−") in said(app)
    else:
        (table,) = _tables(app)
        assert table["class"][0] == label
        assert table["probability"][0] == pytest.approx(value, abs=1e-5)
    app = open_app("effect", model=str(tmp_path), text="The cat sat.")
    assert not app.exception
    assert app.selectbox(key="measure").value == "class"
    assert label.strip(":") in said(app)
