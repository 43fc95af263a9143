"""The pictures that views save: how large, what they show, what they say about themselves."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from core import VERSION
from core.analysis.model_map import model_map
from core.analysis.neuron import read_head
from core.analysis.vectors import layer_planes
from core.model import load, trace_text
from core.vocabulary import labels_of
from tests.browser.conftest import TEXT, Open
from tests.browser.scripts import running

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</script><img src=x onerror=alert(1)> $x$ مرحبا it"
MODEL = "bundled/minilm"
LAYER, HEAD = 3, 1  # L4 H2
KINDS = ("png", "svg")


class Saved(NamedTuple):
    """A picture: its name without the ending, what it says of itself, its image and shapes."""

    name: str
    facts: dict[str, Any]
    image: Image.Image
    root: ET.Element

    def texts(self) -> list[str]:
        return [each.text or "" for each in self.root.iter(f"{SVG}text")]

    def group(self, name: str) -> ET.Element:
        (group,) = (each for each in self.root.iter(f"{SVG}g") if each.get("class") == name)
        return group


def save_picture(page: Page, folder: Path, view: str = "") -> Saved:
    """Press both buttons; both files say the same."""
    area = page.locator(view) if view else page
    paths: dict[str, Path] = {}
    for kind in KINDS:
        with page.expect_download() as download:
            area.get_by_role("button", name=f"Save picture as {kind.upper()}").click()
        paths[kind] = folder / download.value.suggested_filename
        download.value.save_as(paths[kind])
        expect(area.get_by_role("status")).to_have_text(f"Saved {paths[kind].name}")
    assert paths["png"].stem == paths["svg"].stem
    image = Image.open(paths["png"])
    image.load()  # checks every chunk's sum
    root = ET.fromstring(paths["svg"].read_text("utf-8"))  # noqa: S314 - written here
    inside = json.loads(str(image.info["headscope"])), json.loads(metadata(root))
    sizes = [facts.pop("picture") for facts in inside]
    assert inside[0] == inside[1]
    assert sizes[1] == {"kind": "svg", "width": sizes[0]["width"], "height": sizes[0]["height"]}
    assert (sizes[0]["scale"], image.width) == (2, 2 * sizes[0]["width"])
    assert root.get("width") == str(sizes[0]["width"])
    allowed = {"svg", "title", "metadata", "g", "rect", "path", "text", "image", "clipPath"}
    assert {each.tag.removeprefix(SVG) for each in root.iter()} <= allowed
    assert not any(name.startswith("on") for each in root.iter() for name in each.attrib)
    colours = image.convert("RGB").getcolors(image.width * image.height)
    assert colours is not None
    assert len(colours) > 50
    return Saved(paths["png"].stem, inside[0], image, root)


def metadata(root: ET.Element) -> str:
    return root.findtext(f"{SVG}metadata") or ""


@pytest.fixture(scope="module")
def trace() -> Any:
    return trace_text(load(MODEL), TEXT)


def test_the_first_picture_is_saved_with_its_arcs_all_words_and_the_cards(
    goto: Open, tmp_path: Path
) -> None:
    text = f"{HOSTILE} {'the cat sat on a mat ' * 24}"
    page = goto(f"/home?layer=4&head=2&cell=3,2&text={quote(text)}")
    reel = page.locator(".reel")
    reel.evaluate("(node) => { node.scrollTop = 100 }")
    saved = save_picture(page, tmp_path)
    trace = trace_text(load(MODEL), text)
    assert saved.name == "home-minilm-L4H2"
    facts = [saved.facts[name] for name in ("model", "layer", "head", "query", "key")]
    assert facts == [MODEL, "4", "2", 3, 2]
    assert set(labels_of(trace.tokens)) <= set(saved.texts())
    arcs = saved.group("sheet").findall(f"{SVG}path")
    shares = trace.attention(LAYER, HEAD)[2]
    assert len(arcs) == sum(share >= 0.01 or key == 1 for key, share in enumerate(shares))
    assert {"query · key", "divided by √32"} <= set(saved.texts())
    assert reel.evaluate("(node) => node.scrollTop") == 100


def test_the_table_is_saved_whole_with_what_it_shows(goto: Open, tmp_path: Path) -> None:
    text = f"{HOSTILE} {'the cat sat on a mat ' * 12}"
    page = goto(f"/heatmap?layer=4&head=2&text={quote(text)}")
    grid = page.get_by_role("grid")
    grid.evaluate("(node) => { node.scrollTop = 300 }")
    saved = save_picture(page, tmp_path)
    trace = trace_text(load(MODEL), text)
    assert saved.name == "heatmap-minilm-L4H2"
    assert saved.facts["headscope"] == VERSION
    assert saved.facts["text"] == text
    assert [saved.facts[name] for name in ("model", "layer", "head")] == [MODEL, "4", "2"]
    assert saved.facts["options"]["values"] == "attention"
    count = len(trace.tokens)
    cells = saved.group("cells")
    assert len(cells.findall(f"{SVG}rect")) == count**2
    numbers = [each.text for each in cells.findall(f"{SVG}text")]
    weights = trace.attention(LAYER, HEAD).ravel()
    rounded = [f"{weight:.2f}" for weight in weights]
    assert numbers == [each for each in rounded if each != "0.00"]
    assert {"<", "script", "cat", *labels_of(trace.tokens)} <= set(saved.texts())
    assert f"L4 H2 · {MODEL}" in "".join(saved.texts())
    assert saved.image.info["Title"] == f"Attention · L4 H2 · {MODEL}"
    assert saved.image.height > 2 * 24 * count
    # The page is as it was: part of the table, where it was scrolled to.
    assert grid.evaluate("(node) => node.scrollTop") == 300
    assert page.locator(".cell").count() < count**2
    page.get_by_role("button", name="Save picture as SVG").focus()
    with page.expect_download():
        page.keyboard.press("Enter")


def test_the_head_view_is_saved_with_every_line_and_token(
    goto: Open, tmp_path: Path, trace: Any
) -> None:
    page = goto(f"/head_view?layer=4&heads=2&text={quote(TEXT)}")
    expect(page.locator("canvas.sheet")).to_have_attribute("data-drawn", "4")
    saved = save_picture(page, tmp_path)
    assert saved.name == "head-view-minilm-L4H2"
    assert (saved.facts["layer"], saved.facts["heads"]) == ("4", "2")
    weights = trace.attention(LAYER, HEAD)
    strong = int((np.rint(255 * weights / weights.max()) >= round(255 * 0.02)).sum())
    lines = saved.group("sheet").findall(f"{SVG}path")
    assert len(lines) == pytest.approx(strong, abs=2)  # of weights beside the threshold
    opacities = [float(line.get("stroke-opacity", "1")) for line in lines]
    assert opacities == sorted(opacities)  # the strongest lie on top
    shown = [token.display for token in trace.tokens]
    texts = saved.texts()
    assert all(texts.count(word) >= 2 * shown.count(word) for word in shown)
    assert not {"All", "More"} & set(texts)  # buttons, which nobody can press there


def test_the_model_view_is_saved_line_by_line_also_from_its_file(
    goto: Open, open_saved: Open, tmp_path: Path, trace: Any
) -> None:
    page = goto(f"/model_view?text={quote(TEXT)}")
    saved = save_picture(page, tmp_path)
    assert saved.name == "model-view-minilm"
    shown = model_map(trace)
    assert shown is not None
    lines = saved.group("sheet").findall(f"{SVG}path")
    assert len(lines) == int(np.count_nonzero(shown.tiles))
    assert {"L1", "L6", "H1", "H12"} <= set(saved.texts())
    assert not any("enlarge" in text for text in saved.texts())  # a hint of the page
    file = open_saved(page)
    assert json.loads(
        file.locator('meta[name="headscope"]').get_attribute("content") or ""
    ) == json.loads(json.dumps(saved.facts))
    expect(file.locator(".made")).to_contain_text(f"Headscope {VERSION} · {MODEL}")
    again = save_picture(file, tmp_path)
    assert (again.name, again.facts) == (saved.name, saved.facts)
    assert len(again.group("sheet").findall(f"{SVG}path")) == len(lines)


def test_the_neuron_view_is_saved_with_all_rows(goto: Open, tmp_path: Path) -> None:
    text = "it saw a book and read it twice " * 8
    page = goto(f"/neuron_view?layer=4&head=2&query=2&text={quote(text)}")
    rows = page.locator(".row").count()
    saved = save_picture(page, tmp_path)
    trace = trace_text(load(MODEL), text)
    assert saved.name == "neuron-view-minilm-L4H2-query-2"
    assert rows < len(trace.tokens)
    weights = trace.attention(LAYER, HEAD)[1]
    texts = saved.texts()
    assert all(f"{weight:.3f}" in texts for weight in weights)
    head = read_head(trace, LAYER, HEAD)
    cells = [each for each in saved.root.iter(f"{SVG}rect") if each.get("height") == "18"]
    assert len(cells) == 2 * head.queries.size  # each key's vector, and its product with the query
    assert page.locator(".row").count() == rows


def test_planes_are_saved_arrow_by_arrow(goto: Open, tmp_path: Path, trace: Any) -> None:
    page = goto(f"/vectors?text={quote(TEXT)}")
    saved = save_picture(page, tmp_path)
    assert saved.name.startswith("vectors-minilm")
    planes = layer_planes(trace, "attention", "mean")
    arrows = planes.coordinates.shape[0] * planes.coordinates.shape[1]
    heads = [
        each
        for each in saved.root.iter(f"{SVG}path")
        if each.get("stroke") is None and re.fullmatch(r"M[^M]*L[^L]*L[^L]*Z", each.get("d", ""))
    ]
    assert len(heads) == arrows
    assert {f"Layer {number}" for number in range(1, 7)} <= set(saved.texts())


def test_clouds_are_saved_point_by_point(goto: Open, tmp_path: Path, trace: Any) -> None:
    page = goto(f"/query_key?layer=4&head=2&text={quote(TEXT)}")
    saved = save_picture(page, tmp_path, ".st-key-query_key_clouds")
    assert saved.name == "queries-and-keys-minilm-L4H2"
    assert saved.facts["options"]["distance"] == "euclidean"
    panels = page.locator("figure").count()
    canvases = [each for each in saved.root.iter(f"{SVG}g") if each.get("class") == "canvas"]
    assert len(canvases) == panels
    for canvas in canvases:
        filled = [each for each in canvas.findall(f"{SVG}path") if each.get("fill") != "none"]
        assert len(filled) == 2 * len(trace.tokens)
    assert "queries" in saved.texts()


def test_the_atlas_is_saved_with_its_points_as_an_image(goto: Open, tmp_path: Path) -> None:
    page = goto("/atlas?budget=1000")
    expect(page.locator(".st-key-atlas_matrix .root")).to_have_attribute(
        "data-painted", re.compile("[1-9]")
    )
    saved = save_picture(page, tmp_path, ".st-key-atlas_matrix")
    assert re.fullmatch(r"atlas-minilm-all-heads-\d+-tokens", saved.name)
    assert "text" not in saved.facts
    assert saved.facts["corpus"]["tokens"] > 900
    assert "image" in saved.facts["points"]
    assert len(list(saved.root.iter(f"{SVG}image"))) == 1
    assert {"L1", "H12"} <= set(saved.texts())
    page = goto("/atlas?budget=1000&part=one&layer=4&head=2")
    saved = save_picture(page, tmp_path, ".st-key-atlas_cloud")
    assert re.fullmatch(r"atlas-minilm-L4H2-\d+-tokens", saved.name)
    shapes = [each for each in saved.group("points") if each.get("fill") != "none"]
    assert len(shapes) == pytest.approx(2 * saved.facts["corpus"]["tokens"], abs=20)


def test_a_pen_for_svg_writes_texts_as_texts_and_nothing_that_xml_cannot_hold(
    browser: Browser,
) -> None:
    body = """
      const pen = new SvgPen(100, 50)
      pen.fillStyle = "rgba(255, 0, 0, 0.5)"
      pen.font = "italic 600 12px Arial"
      pen.save()
      pen.translate(10, 20)
      for (const text of texts) pen.fillText(text, 1, 2)
      pen.restore()
      pen.fillRect(0, 0, 1, 1)
      return pen.write("<b>&", '{"a": "]]>"}')
    """
    texts = ["</text><script>alert(1)</script>", "\x00\x0b￾", "a\nb", "&amp; \"'"]
    with running(browser, "shared/svg_pen") as run:
        root = ET.fromstring(run(body, texts=[*texts, "😀"]))  # noqa: S314 - written here
    words = [each.text for each in root.iter(f"{SVG}text")]
    assert words == [texts[0], "\ufffd\ufffd\ufffd", *texts[2:], "😀"]
    first = next(root.iter(f"{SVG}text"))
    assert (first.get("x"), first.get("y")) == ("11", "22")
    assert (first.get("fill"), first.get("fill-opacity")) == ("#ff0000", "0.5")
    assert (first.get("font-weight"), first.get("font-style")) == ("600", "italic")
    assert root.find(f"{SVG}rect") is not None
    assert root.find(f"{SVG}rect").get("x") == "0"  # type: ignore[union-attr]
    assert root.findtext(f"{SVG}title") == "<b>&"
    assert json.loads(metadata(root)) == {"a": "]]>"}
