"""Home says what a model with a language-model head expects to read, and is silent without one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import torch

from core.model import load
from core.model.language import MAX_MASKS
from tests.model.language.checkpoints import build_with_head
from tests.opening import open_app
from tests.pages.conftest import alerts, said

if TYPE_CHECKING:
    from pathlib import Path

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


def _sections(app: AppTest) -> list[str]:
    return [each.value for each in app.main.header]


def test_a_decoder_names_its_first_guess_and_the_word_before_it() -> None:
    """Against the network itself, on ids that begin with the text's own start token."""
    model = load(NOVELS)
    assert model.language_model is not None
    text = "It was a dark and stormy"
    ids = torch.tensor([model.tokenizer(text)["input_ids"]])
    with torch.no_grad():
        shares = model.language_model(input_ids=ids).logits[0, -1].softmax(-1)
    best = shares.topk(10)
    word = model.tokenizer.decode(best.indices[:1]).strip()
    app = open_app("home", model=NOVELS, text=text)
    assert "What the model expects next" in _sections(app)
    page = said(app)
    first, together = 100 * float(best.values[0]), 100 * float(best.values.sum())
    assert (
        f"After `stormy` the first guess is `{word}`, with a probability of **{first:.1f} %**"
        in page
    )
    assert f"The 10 likeliest next tokens have {together:.0f} % together" in page


def test_a_text_that_is_cut_is_continued_where_it_was_cut() -> None:
    app = open_app("home", model=NOVELS, text="one and two " * 200)
    assert "128 tokens are shown" in alerts(app)
    assert ", where your text was cut, the first guess is" in said(app)


def test_a_model_without_a_head_says_so_only_where_it_is_described() -> None:
    app = open_app("home", model="bundled/minilm")
    assert not any("expects" in each or "under" in each for each in _sections(app))
    app.session_state["structure"] = True
    app.run()
    assert "has no language-model head" in said(app)


@pytest.mark.parametrize(("name", "mask"), [("bert", "[MASK]"), ("roberta", "<mask>")])
def test_a_masked_model_offers_to_hide_the_longest_word(
    name: str, mask: str, request: pytest.FixtureRequest
) -> None:
    folder = request.getfixturevalue(name)
    app = open_app("home", model=folder, text="The cat sat on everything.")
    assert f"What stands under `{mask}`" in _sections(app)
    assert f"Type `{mask}` in place of a word" in said(app)
    (button,) = [each for each in app.main.button if each.label.startswith("Hide")]
    assert button.label == "Hide `everything`"
    button.click().run()
    assert app.text_area(key="text").value == f"The cat sat on {mask}."
    assert app.query_params["text"] == f"The cat sat on {mask}."
    assert "`cat sat on` **?** `.`" in said(app)
    assert not [each for each in app.main.button if each.label.startswith("Hide")]


def test_masks_beyond_the_first_are_counted(bert: str) -> None:
    app = open_app("home", model=bert, text="[MASK] it " * (MAX_MASKS + 2))
    assert f"Only the first {MAX_MASKS} of {MAX_MASKS + 2} masks are shown." in said(app)
    assert "Each mask is filled by itself" in said(app)


def test_a_mask_of_the_second_text_stands_among_its_words(bert: str) -> None:
    app = open_app("home", model=bert, text="Where is it?", pair="It is [MASK].")
    assert "`It is` **?** `.`" in said(app)


def test_hostile_words_stay_words(bert: str) -> None:
    """What was typed stands in inline code, where Markdown and HTML mean nothing."""
    for model, text in ((NOVELS, "a :red[x]<b>`y"), (bert, ":red[x]<b> [MASK] $x$ `y")):
        app = open_app("home", model=model, text=text)
        page = said(app)
        assert "`y" in page
        outside = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", page)
        assert not any(mark in outside for mark in (":red[", "<b>", "$x$", "`y"))


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
    share = f"{100 * float(logits.softmax(-1)[best]):.0f}"
    written = f"the number **{value}**" if len(labels) == 1 else f"for `{labels[best]}`"
    assert written in said(app)
    assert len(labels) == 1 or f"a probability of **{share}" in said(app)
    app = open_app("effect", model=str(tmp_path), text="The cat sat.")
    assert not app.exception
    assert app.selectbox(key="measure").value == "class"
    assert labels[best].strip(":") in said(app)
