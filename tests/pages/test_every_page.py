"""What holds for every page."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block

from core.ui import presets
from core.ui.controls import SHARED
from core.ui.words.glossary import REFERENCES
from core.ui.words.pages import PAGES, TEXT_PAGES, Page  # of images alone: their own tests
from tests.opening import ROOT, open_app, visits
from tests.pages.conftest import BOOK, alerts, said
from tests.pages.test_every_control import another
from tests.pages.vision import open_image

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_effects")]

LINKS = {"atlas": {"model": "bundled/gpt2-novels", "budget": "1000"}}  # one that is soon built
# A question that names the tokens on the screen, or its answer in its place.
NAMED = {
    "effect": (
        "**None of the largest effects is beyond chance on this text:** L6 H1 changes the"
        " sentence vector by 0.0482 (1 − cosine), 99 random directions 0.0431 to 0.0691;"
    ),
    "compare": "**The sentences differ most in L6 H10: `student` turns from `quick` to `never`",
    "anomalies": "**1 of 72 heads is unusual: L1 H8**, for its opposite weights.",
    "projection": "**Only in layer 6 do `it` and `book` attend to the same words**: cosine 0.73",
    "model_view": "**38 of 72 heads rest on special tokens, full stops and commas; L1 H3 gives"
    " over 99.9\xa0% to the token before.** 13 tokens: a hint.",
    "patterns": "**44 of 72 heads follow a pattern**: 1 previous token, 1 next token, 42 first",
    "query_key": "**L4 H2: near means attended for 92\xa0% of the queries** (raw, the best stage,"
    " in full space); by the uniform baseline for 7.7\xa0%. 13 tokens: a hint.",
    "atlas": "**Near means attended for 63\xa0% of the queries, the mean of all heads** (uniform",
    "vectors": "**`it` and `book` attend most alike in layer 6**: cosine 0.73 in full space",
    "images": "**In ",
}
NO_TEXT = {"atlas", "lessons"}  # the one is of a corpus, the other of none
OF_TEXTS = [page.name for page in TEXT_PAGES if page.name not in NO_TEXT]
QUOTED = re.compile(r"\b([A-Z][a-z]+)(?: et al\.| and [A-Z][a-z]+)?,? \(?((?:19|20)\d\d)\)?")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_opens_and_what_is_said_of_its_text_moves_nothing_below_it(page: Page) -> None:
    """Else the browser draws widgets anew, and sends the values they had before a pick."""
    app = open_app(page.name, **LINKS.get(page.name, {}))
    assert [title.value for title in app.title] == [page.title]
    question = NAMED.get(page.name, page.question)
    assert any(text.value.startswith(question) for text in app.markdown)
    assert alerts(app) == ""
    _check_sources(app, page)
    if page.name not in OF_TEXTS:
        return
    before = _index_of_what_follows(app)
    long = "It rains. <|endoftext|> It pours [in here]. <|endoftext|> " + "book " * 700
    app.session_state["model"] = "bundled/gpt2-novels"  # which is soon done
    app.text_area(key="text").set_value(long).run()
    assert "128 tokens are shown, **592 tokens were cut**" in alerts(app)
    assert "the tokenizer adds: `<|endoftext|>`." in alerts(app)
    assert _index_of_what_follows(app) == before
    app.text_area(key="text").set_value("  \n ").run()
    assert "Type a sentence" in alerts(app)


def _check_sources(app: AppTest, page: Page) -> None:
    """The page lists what it follows, and its code quotes nothing else."""
    blocks = [each for each in app.get("popover") if isinstance(each, Block)]
    (box,) = [each for each in blocks if each.proto.popover.label == "References"]
    listed = "\n".join(str(text.value) for text in box.markdown)
    for name in page.references:
        assert REFERENCES[name].where in listed
    folder = ROOT / "core" / "screens" / page.name
    code = "\n".join(path.read_text("utf-8") for path in folder.rglob("*.py"))
    for author, year in QUOTED.findall(code):
        assert re.search(rf"{author}.*\({year}\)", listed), (author, year)


def _index_of_what_follows(app: AppTest) -> int:
    """The place in Streamlit's tree of the first block with a key below title and notices."""
    title = next(
        place
        for place, node in app.main.children.items()
        if isinstance(node, Block) and node.proto and node.proto.id.endswith("-page_title")
    )
    return next(
        place
        for place, node in app.main.children.items()
        if place > title and isinstance(node, Block) and node.proto and node.proto.id
    )


@pytest.mark.parametrize("name", ["heatmap", "atlas"])
def test_a_huge_text_in_a_link_is_cut_and_said(name: str) -> None:
    app = open_app(name, text="x" * 400_000, **LINKS["atlas"])
    text = app.session_state["text"]  # which the atlas remembers and does not show
    assert "has 400,000 characters; the first 10,000 are used" in alerts(app)
    assert len(text) == 10_000


def test_an_address_of_a_megabyte_is_dropped_before_the_app_can_see_it() -> None:
    assert open_app("heatmap", text="x" * 1_000_000).session_state["text"] == BOOK


ODD = (
    "=cmd|' /C calc'!A0 <b>x</b> $x$ :red[x] 😀 مرحبا بالعالم"
    " it it it '''\"\"\"\n\n \u202eabc\u200b \ufeff\x00 a"
)
OF_A_TEXT = [
    (page, {key: value for key, value in link.items() if key not in {"text", "pair"}})
    for page, link in visits("text")
    if page not in NO_TEXT and "source" not in link
] + [
    ("vectors", {"show": "one layer", "draw": "queries"}),
    ("anomalies", {"anomaly": "moved", "latent": "1"}),
    ("anomalies", {"flag": "column sink"}),
]


@pytest.mark.parametrize(("name", "state"), OF_A_TEXT)
def test_every_part_of_every_page_takes_every_text(name: str, state: dict[str, str]) -> None:
    first, long = "x", ODD + "a" * 3000 + " book" * 90
    app = open_app(name, text=first, **state)
    for text in (first, long):
        if text == long:
            app.text_area(key="text").set_value(text).run()
        assert not re.search(r"\bnan\b", said(app)), text
        assert not re.search(r"\d%", said(app)), "a share is written another way"
        assert app.query_params["text"] == text
        assert not app.error
        assert "own special token" not in alerts(app)


@pytest.mark.usefixtures("small_corpora")
def test_the_chosen_head_travels_to_every_part_of_every_page() -> None:
    """On pages that choose one head; that of the head view, of which several may be on, too."""
    app = open_app("heatmap", layer="3", head="4", **LINKS["atlas"])
    state, compared = app.session_state, 0
    for page in TEXT_PAGES:
        for part in page.parts_of("text") or {"": ""}:
            if part:
                state[page.part_key] = part
            app.switch_page(f"pages/{page.name}.py").run()
            assert not app.exception
            if page.name == "head_view":
                assert (state["layer"], state["heads"]) == ("3", [4])
            elif {"layer", "head"} <= set(app.query_params) and page.name != "vectors":
                assert (state["layer"], state["head"]) == ("3", "4"), (page.name, part)
                compared += 1
    assert compared > 12


def test_the_head_that_the_head_view_shows_alone_is_that_of_other_pages() -> None:
    app = open_app("head_view", layer="3", heads="8")
    app.switch_page("pages/heatmap.py").run()
    assert (app.session_state["layer"], app.session_state["head"]) == ("3", "8")
    app.session_state["layer"], app.session_state["head"] = "1", "12"
    app.switch_page("pages/head_view.py").run()
    assert (app.session_state["layer"], app.session_state["heads"]) == ("1", [12])


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[presets.Preset]:
    """The examples that the page offers."""
    made: list[presets.Preset] = []
    show = presets.show

    def noted(make: Callable[[], Sequence[presets.Preset]], **_: object) -> None:
        made[:] = make()
        show(lambda: made)

    monkeypatch.setattr(presets, "show", noted)
    return made


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (page.name, shown)
        for page in PAGES
        for shown in page.modalities
        if page.name not in {"home", "lessons"}
        and (page.name, shown) not in {("atlas", "image"), ("effect", "image")}
    ],
)
@pytest.mark.usefixtures("small_corpora")
def test_every_example_sets_what_is_shown(
    made: list[presets.Preset], name: str, shown: str
) -> None:
    app = open_image(name) if shown == "image" else open_app(name, **LINKS.get(name, {}))
    assert made
    for index in range(len(made)):
        state = {key: value for key, value in made[index].state.items() if value != ""}
        app.button(key=f"{name}_preset_{index}").click().run()
        assert alerts(app) == ""
        assert {key: app.session_state[key] for key in state} == state


RESETTING = [page for page in PAGES if page.reset_except is not None]


@pytest.mark.parametrize("page", RESETTING, ids=lambda page: page.name)
def test_an_example_resets_all_controls_but_those_named(
    made: list[presets.Preset], page: Page
) -> None:
    app = open_app(page.name)
    controls = {
        key: control
        for key, control in app.session_state["_controls"].items()
        if key not in SHARED | {page.part_key}
    }
    for key, control in controls.items():
        app.session_state[key] = another(control, app.session_state[key])
    app.run()
    changed = {key: app.session_state[key] for key in controls}
    named = made[0].state
    app.button(key=f"{page.name}_preset_0").click().run()
    assert alerts(app) == ""
    for key, control in app.session_state["_controls"].items():
        if key in changed and key not in named:
            kept = key in (page.reset_except or ())
            assert app.session_state[key] == (changed[key] if kept else control.default), key
