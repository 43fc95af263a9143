"""Home says what a model with a language-model head expects to read, and is silent without one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch

from core.model import load
from tests.model.language.checkpoints import build_with_head
from tests.opening import open_app
from tests.pages.conftest import said

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from streamlit.testing.v1 import AppTest

NOVELS = "bundled/gpt2-novels"


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("masked")
    build_with_head("bert", "BertForMaskedLM", folder, stir=0.3)
    return str(folder)


@pytest.fixture(scope="module")
def roberta(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("other mask")
    build_with_head("roberta", "RobertaForMaskedLM", folder, stir=0.3)
    return str(folder)


def _tables(app: AppTest) -> list[pd.DataFrame]:
    return [each.value for each in app.main.dataframe]


def _sections(app: AppTest) -> list[str]:
    return [each.value for each in app.main.header]


def test_a_decoder_has_a_table_of_its_guesses() -> None:
    """Against the network itself, on ids that begin with the text's own start token."""
    model = load(NOVELS)
    assert model.language_model is not None
    text = "It was a dark and stormy"
    ids = torch.tensor([model.tokenizer(text)["input_ids"]])
    with torch.no_grad():
        shares = model.language_model(input_ids=ids).logits[0, -1].softmax(-1)
    best = shares.topk(10)
    app = open_app("home", model=NOVELS, text=text)
    assert "What the model expects next" in _sections(app)
    (table,) = _tables(app)
    decoded = [model.tokenizer.decode([each]).strip() for each in best.indices]
    assert [each.removeprefix("…") for each in table["token"]] == decoded
    np.testing.assert_allclose(table["probability"], best.values, atol=1e-5)


def test_a_model_without_a_head_says_so_only_where_it_is_described() -> None:
    app = open_app("home", model="bundled/minilm")
    assert not any("expects" in each or "under" in each for each in _sections(app))
    app.session_state["structure"] = True
    app.run()
    assert "has no language-model head" in said(app)


@pytest.mark.parametrize(("name", "mask"), [("bert", "[MASK]"), ("roberta", "<mask>")])
def test_a_masked_model_fills_the_masks_that_are_typed(
    name: str, mask: str, request: pytest.FixtureRequest
) -> None:
    folder = request.getfixturevalue(name)
    app = open_app("home", model=folder, text="The cat sat on everything.")
    assert f"What stands under `{mask}`" in _sections(app)
    assert f"Type `{mask}` in place of a word" in said(app)
    assert not _tables(app)
    app = open_app("home", model=folder, text="The cat sat.", pair=f"{mask} it {mask}.")
    assert [len(table) for table in _tables(app)] == [5, 5]


@pytest.mark.parametrize("labels", [{0: "sad", 1: ":red[x]"}, {0: "stars"}])
def test_a_classifier_names_its_class(labels: dict[int, str], tmp_path: Path) -> None:
    kind = "BertForSequenceClassification"
    network = build_with_head("bert", kind, tmp_path, stir=0.3, id2label=labels)
    app = open_app("home", model=str(tmp_path), text="The cat sat.")
    assert not app.exception
    assert "Which class the model picks" in _sections(app)
    tokenizer = load(str(tmp_path)).tokenizer
    with torch.no_grad():
        logits = network(**tokenizer("The cat sat.", return_tensors="pt")).logits[0]
    best = int(logits.argmax())
    value = f"{float(logits[0]):.3g}".replace("-", "−")
    if len(labels) == 1:
        assert f"`stars`: **{value}**" in said(app)
    else:
        (table,) = _tables(app)
        assert table["class"][0] == labels[best]
        assert table["probability"][0] == pytest.approx(float(logits.softmax(-1)[best]), abs=1e-5)
    app = open_app("effect", model=str(tmp_path), text="The cat sat.")
    assert not app.exception
    assert app.selectbox(key="measure").value == "class"
    assert labels[best].strip(":") in said(app)
