"""BertViz as people use it: its pages, with its scripts served from this machine.

Its pages load require.js, d3 and jQuery from a network; here they come from npm once, into a
temporary folder, and are handed to the browser when it asks for them.
"""

from __future__ import annotations

import subprocess
import tarfile
from typing import TYPE_CHECKING

import torch

from tests.tools.bench.extent import few

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page, Route

# Package, version, the file wanted, and the end of the address it is asked for by. The jQuery that
# BertViz names (2.0.0) is not published on npm; the next one is.
SCRIPTS = (
    ("requirejs", "2.3.6", "require.js", "require.min.js"),
    ("d3", "5.7.0", "dist/d3.min.js", "d3.min.js"),
    ("jquery", "2.1.0", "dist/jquery.min.js", "jquery.min.js"),
)
LAYERS = HEADS = 12
SIZES = {"hidden_size": few(768, 96), "intermediate_size": 64}  # what BertViz does not draw


def fetch_scripts(folder: Path) -> dict[str, Path] | None:
    """The scripts by the end of their address; None where npm is not here or reaches nothing."""
    command = ["npm", "pack", "--silent"]
    command += [f"{package}@{version}" for package, version, *_ in SCRIPTS]
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return None
    found = {}
    for package, version, path, name in SCRIPTS:
        with tarfile.open(folder / f"{package}-{version}.tgz") as archive:
            archive.extractall(folder / package, filter="data")
        found[name] = folder / package / "package" / path
    return found


def serve_scripts(page: Page, scripts: dict[str, Path]) -> None:
    """Answer the page's requests for these scripts from the folder."""

    def answer(route: Route) -> None:
        name = route.request.url.rsplit("/", 1)[-1]
        route.fulfill(path=scripts[name], content_type="text/javascript")

    for name in scripts:
        page.route(f"**/{name}", answer)


def random_attention(tokens: int) -> list[torch.Tensor]:
    """Attention of a bert-base-shaped model, (1, head, token, token) for each layer."""
    generator = torch.Generator().manual_seed(0)
    shape = (1, HEADS, tokens, tokens)
    return [torch.softmax(3 * torch.randn(shape, generator=generator), -1) for _ in range(LAYERS)]


def write_page(view: str, tokens: int, folder: Path) -> Path:
    """The page of BertViz's "head_view" or "model_view" for that many tokens."""
    import bertviz

    words = [f"t{i}" for i in range(tokens)]
    html = getattr(bertviz, view)(random_attention(tokens), words, html_action="return").data
    path = folder / f"{view}_{tokens}.html"
    path.write_text(f"<!doctype html><meta charset='utf-8'><body>{html}", "utf-8")
    return path


def write_neuron_page(tokens: int, folder: Path) -> Path:
    """The page of BertViz's neuron view, with its own BERT at random and that many tokens."""
    from bertviz.neuron_view import show
    from bertviz.transformers_neuron_view import BertConfig, BertModel
    from transformers import BertTokenizerFast

    from core.model.catalog import bundled_folder
    from tests.tools.bench.texts import sentence_of

    tokenizer = BertTokenizerFast.from_pretrained(bundled_folder())
    model = BertModel(BertConfig(tokenizer.vocab_size, **SIZES)).eval()
    html = show(model, "bert", tokenizer, sentence_of(tokens), html_action="return").data
    path = folder / f"neuron_view_{tokens}.html"
    path.write_text(f"<!doctype html><meta charset='utf-8'><body>{html}", "utf-8")
    return path
