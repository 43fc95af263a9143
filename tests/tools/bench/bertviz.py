"""Head and model view beside BertViz: bytes to the browser, time until they are painted.

Both sides show a bert-base-shaped model (12 layers x 12 heads) in the same Chromium. Ours is timed
from the press on the page's link in the menu to the frame that shows the picture, server and all;
BertViz from opening its finished page. Its pages load require.js, d3 and jQuery from a network:
here they come from npm once, into a temporary folder, and are handed to the browser.
"""

from __future__ import annotations

import shutil
import subprocess
import tarfile
import tempfile
import time
from functools import cache
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import torch

from core.model.catalog import bundled_folder
from core.model.loading import _quiet
from tests.tools.bench.app import (
    PATIENCE_MS,
    count_bytes,
    follow,
    shared_app,
    visit,
    visit_home,
    wait_for_picture,
    wait_until_idle,
)
from tests.tools.bench.measuring import MB, LeftOutError, few, sentence_of

if TYPE_CHECKING:
    from playwright.sync_api import Route

VISITS = few(3, 1)
LAYERS = HEADS = 12
SIZES = {"hidden_size": few(768, 96), "intermediate_size": 64}  # what BertViz does not draw
# As drawn, the scores would be so small that no line were strong enough to be drawn: longer
# queries make attention about as sharp as BERT's. The least has shorter vectors.
SHARPER = few(10.0, 80.0)
# Title, and what is in the document once the picture is painted.
VIEWS = {
    "model_view": ("Model view", ".st-key-model_view [role=grid] canvas.sheet"),
    "head_view": ("Head view", ".st-key-head_view canvas.sheet[data-drawn='12']"),
}
# View, tokens, seconds until ours should be painted.
SHOWN = (("head_view", few(128, 16), 1.0), ("model_view", 64, 1.2), ("model_view", 128, 2.0))
# Package, version, the file wanted, and the end of the address it is asked for by. The jQuery that
# BertViz names (2.0.0) is not published on npm; the next one is.
SCRIPTS = (
    ("requirejs", "2.3.6", "require.js", "require.min.js"),
    ("d3", "5.7.0", "dist/d3.min.js", "d3.min.js"),
    ("jquery", "2.1.0", "dist/jquery.min.js", "jquery.min.js"),
)


class Painted(NamedTuple):
    """Seconds until a view was painted, and megabytes sent for it."""

    seconds: list[float]
    megabytes: list[float]


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp())


@cache
def _model() -> Path:
    """A random BERT with the bundled model's tokenizer."""
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    network, folder = BertModel(BertConfig(**SIZES)), _folder() / "bert-base-shaped"
    with torch.no_grad():
        for layer in network.encoder.layer:
            layer.attention.self.query.weight *= SHARPER
    with _quiet():
        network.save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt", "special_tokens_map.json"):
        shutil.copy(bundled_folder() / name, folder)
    return folder


@cache
def ours(view: str, tokens: int) -> Painted:
    """Several visits, each by a new visitor."""
    title, drawn = VIEWS[view]
    every_head = ",".join(map(str, range(1, HEADS + 1)))  # as BertViz opens
    state = {"layer": str(LAYERS), "heads": every_head, "text": sentence_of(tokens)}
    painted = Painted([], [])
    for _ in range(VISITS):
        with visit_home(shared_app(), model=str(_model()), **state) as page:
            received = count_bytes(page)
            painted.seconds.append(follow(page, title, drawn))
            wait_until_idle(page)
            painted.megabytes.append(received() / MB)
    return painted


@cache
def theirs(view: str, tokens: int) -> Painted:
    """BertViz's page of the same."""
    scripts, path, html = _scripts(), _folder() / f"{view}_{tokens}.html", _html(view, tokens)
    path.write_text(f"<!doctype html><meta charset='utf-8'><body>{html}", "utf-8")
    lines = tokens**2 * HEADS * (LAYERS if view == "model_view" else 1)

    def answer(route: Route) -> None:
        file = scripts[route.request.url.rsplit("/", 1)[-1]]
        route.fulfill(path=file, content_type="text/javascript")

    with visit() as page:
        page.set_default_timeout(5 * PATIENCE_MS)
        for name in scripts:
            page.route(f"**/{name}", answer)
        start = time.perf_counter()
        page.goto(path.as_uri())
        page.wait_for_function(
            "(count) => document.querySelectorAll('line').length >= count", arg=lines
        )
        wait_for_picture(page, "body")
        return Painted([time.perf_counter() - start], [path.stat().st_size / MB])


def seconds_ratio(view: str, tokens: int) -> list[float]:
    """Their time until painted in ours."""
    return [theirs(view, tokens).seconds[0] / median(ours(view, tokens).seconds)]


@cache
def _scripts() -> dict[str, Path]:
    """The scripts by the end of their address."""
    command = ["npm", "pack", "--silent"]
    command += [f"{package}@{version}" for package, version, *_ in SCRIPTS]
    try:
        subprocess.run(command, cwd=_folder(), check=True, capture_output=True, timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        raise LeftOutError("npm is not here, or reaches nothing") from error
    for package, version, *_ in SCRIPTS:
        with tarfile.open(_folder() / f"{package}-{version}.tgz") as archive:
            archive.extractall(_folder() / package, filter="data")
    return {name: _folder() / package / "package" / path for package, _, path, name in SCRIPTS}


def _html(view: str, tokens: int) -> str:
    import bertviz

    draws = torch.Generator().manual_seed(0)
    shape = (1, HEADS, tokens, tokens)
    attention = [torch.softmax(3 * torch.randn(shape, generator=draws), -1) for _ in range(LAYERS)]
    words = [f"t{i}" for i in range(tokens)]
    return str(getattr(bertviz, view)(attention, words, html_action="return").data)
