"""Every page can be read on a projector and a phone, in both themes, and axe finds nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import pytest
from playwright.sync_api import expect

from core.ui.words.pages import PAGES
from tests.browser.conftest import Visit, close, settle
from tests.looks.visit import (
    STREAMLITS_OWN,
    cut_labels,
    is_streamlits,
    picture_top,
    texts_of,
    unreadable,
    violations_of,
    wait_until_drawn,
    watch_canvases,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import BrowserContext, Page

    from tests.browser.conftest import Open

Scheme: TypeAlias = Literal["light", "dark"]
Look: TypeAlias = "tuple[Scheme, tuple[int, int, int]]"
PAPERS = {"light": "rgb(255, 255, 255)", "dark": "rgb(16, 19, 28)"}
# Width, height, and how many pixels from the top a picture has to begin.
PHONE, PROJECTOR, LAPTOP = (390, 844, 260), (1280, 720, 190), (1366, 768, 190)
# By day each page has one of two; nightly both themes at both sizes, and a laptop.
DAY: tuple[Look, Look] = ("light", PHONE), ("dark", PROJECTOR)
NIGHT: tuple[Look, ...] = (*DAY, ("dark", PHONE), ("light", PROJECTOR), ("light", LAPTOP))
PATHS = [page.name for page in PAGES if not page.quick]
PATHS += ["effect?model=bundled/gpt2-novels&text=It+rains."]
PATHS += [
    f"atlas?model=bundled/minilm&budget=1000{more}"
    for more in ("", "&part=one&layer=4&head=2&dossier=1")
]
LOOKS = [
    pytest.param(path, (look,), id=path)
    for look, half in zip(DAY, (PATHS[::2], PATHS[1::2]), strict=True)
    for path in half
] + [pytest.param(path, NIGHT, id=f"night-{path}", marks=pytest.mark.nightly) for path in PATHS]


@pytest.fixture(scope="module")
def visit(app: str, _profile: BrowserContext) -> Iterator[Visit]:
    """One page for all, which notes what is written on canvases."""
    visit = Visit(_profile.new_page())
    watch_canvases(visit.page)
    visit.open(f"{app}/home?layer=4&head=2")
    yield visit
    close(visit.page)


@pytest.mark.parametrize(("path", "looks"), LOOKS)
def test_texts_are_readable_no_label_is_cut_and_axe_finds_nothing(
    app: str, visit: Visit, path: str, looks: tuple[Look, ...]
) -> None:
    """A rule that Streamlit no longer breaks is excused no longer."""
    page = visit.page
    page.evaluate("writtenTexts.clear()")
    show(page, *looks[0])
    visit.follow(f"{app}/{path}")
    for scheme, (width, height, highest) in looks:
        show(page, scheme, (width, height, highest))
        settle(page)
        wait_until_drawn(page)
        texts = texts_of(page)
        for _ in range(20):  # charts take a theme later than all else
            if not unreadable(texts):
                break
            page.wait_for_timeout(200)
            texts = texts_of(page)
        assert len(texts) > 20, "the page is not there"
        found = violations_of(page)
        own = [each for each in found if is_streamlits(*each)]
        problems = [*unreadable(texts), *(each for each in found if each not in own)]
        where = f"{scheme}, {width} x {height}"
        assert not problems, f"{where}\n" + "\n".join(map(str, problems))
        assert path == "lessons" or picture_top(page) < highest, where  # the one without a picture
        assert page.evaluate("document.documentElement.scrollWidth") <= width, where
        assert cut_labels(page) == [], where
        assert {rule for rule, _ in own} == STREAMLITS_OWN.keys()


def show(page: Page, scheme: Scheme, screen: tuple[int, int, int]) -> None:
    """Take a theme, then a size."""
    page.emulate_media(color_scheme=scheme)
    expect(page.get_by_test_id("stApp")).to_have_css("background-color", PAPERS[scheme])
    settle(page)
    width, height, _ = screen
    page.set_viewport_size({"width": width, "height": height})


def test_a_faint_and_a_small_text_are_found(app: str, open_page: Open) -> None:
    """The measure itself: opacity of groups, shadow roots, drawings and canvases count."""
    page = open_page()
    watch_canvases(page)
    page.goto(f"{app}/_stcore/health")
    page.evaluate(MIXED)
    sizes = {text.text: (round(text.size, 1), round(text.contrast, 2)) for text in texts_of(page)}
    assert sizes == {
        "black": (16, 21),
        "half of half": (16, 1.82),  # a quarter of black over white, rounded by axe: rgb(192, …)
        "in a shadow": (16, 5.74),  # rgb(102, 102, 102)
        "drawn small": (8, 21),  # 16 px in a drawing at half its size
        "painted": (10, 3.95),  # rgb(128, 128, 128)
    }


MIXED = """() => {
  document.body.innerHTML = `
    <p>black</p>
    <div style="opacity: .5"><p style="opacity: .5">half of half</p></div>
    <p style="visibility: hidden">hidden</p>
    <svg viewBox="0 0 200 40" width="100"><text y="20" font-size="16">drawn small</text></svg>
    <div></div>`
  const root = document.querySelector("body > div:last-child").attachShadow({ mode: "open" })
  root.innerHTML = `<p style="color: rgb(102, 102, 102)">in a shadow</p>`
  const canvas = document.createElement("canvas")
  document.body.append(canvas)
  const pen = canvas.getContext("2d")
  Object.assign(pen, { font: "10px sans-serif", fillStyle: "rgb(128, 128, 128)" })
  pen.fillText("wiped", 5, 20)
  pen.fillRect(0, 0, canvas.width, canvas.height)
  pen.fillText("painted", 5, 20)
}"""
