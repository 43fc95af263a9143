"""Examples run and show what they say; links and lists of the documents are of this version."""

from __future__ import annotations

import doctest
import importlib
import re
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from core.analysis.images import selectivity
from core.corpus import sample
from core.model import effects
from tests.model.bundled import loaded
from tests.model.sweep.sizes import all_kinds
from tests.model.test_types_used_most import DECODERS, ENCODERS, WITH_IMAGES
from tests.tools.families_table import FAMILIES

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / ".github").glob("*.md"))]
TEXTS = {page.name: page.read_text("utf-8") for page in PAGES}
EXAMPLES = TEXTS["README.md"] + TEXTS["NOTEBOOKS.md"]
MAX_LINES = 150  # of the README: it is read in one sitting


SHOWN = {
    "trace.queries.shape": (6, 12, 13, 32),
    'trace.attention(layer=3, head=1)[names.index("it"), names.index("book")]': pytest.approx(
        0.932, abs=5e-4
    ),
    "seen.patches.colours.shape": (144, 3),
    "cls_rollout(seen)[seen.patches.tokens].shape": (144,),
    "attention_distance(seen).pixels.shape": (6, 6),
}


@pytest.mark.slow
def test_the_examples_show_what_their_comments_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the first sentences of the corpus, and with few random directions and moved images."""
    few, names = sample.sample_sentences()[:12], dict[str, Any]()
    monkeypatch.setattr(sample, "sample_sentences", lambda: few)
    monkeypatch.setattr("core.model.load", loaded)
    few_draws = lambda *given, **options: effects(*given, **options | {"draws": 2})
    monkeypatch.setattr("core.model.effects", few_draws)
    few_moves = partial(selectivity.selectivity, permutations=9)
    monkeypatch.setattr(selectivity, "selectivity", few_moves)
    for block in re.findall(r"```python\n(.*?)```", EXAMPLES, re.DOTALL):
        exec(block, names)  # noqa: S102 - our own page
    assert all(line in EXAMPLES for line in SHOWN)
    assert {line: eval(line, names) for line in SHOWN} == SHOWN  # noqa: S307 - our own page
    atlas = names["atlas"]  # queries first, then keys
    assert atlas.points["raw"].shape == (6, 12, 2 * len(atlas.tokens), 3)
    assert 0 <= atlas.faithfulness["raw"].top1[3, 1] <= 1


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_and_section_that_a_page_links_to_is_there(page: Path) -> None:
    for link in re.findall(r"\]\(([^):]+)\)", TEXTS[page.name]):
        name, _, section = link.partition("#")
        target = page.parent / name if name else page
        assert target.exists(), link
        if section:
            titles = re.findall(r"(?m)^#+ (.*)$", target.read_text("utf-8"))
            assert section in [title.lower().replace(" ", "-") for title in titles], link


def test_the_readme_is_short_and_names_every_page() -> None:
    readme = TEXTS["README.md"]
    assert len(readme.splitlines()) <= MAX_LINES
    named = re.findall(r"`/(\w+)`", readme)
    assert sorted(named) == sorted(path.stem for path in (ROOT / "pages").glob("*.py"))


WITH_EXAMPLES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in sorted(ROOT.glob("core/**/*.py"))
    if ">>> " in path.read_text("utf-8")
]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_examples_of_a_module_are_true(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted > 0
    assert found.failed == 0


def test_the_list_names_each_type_of_this_version_once_and_those_used_most_as_open() -> None:
    text = FAMILIES.read_text("utf-8")
    assert f"transformers {version('transformers')}:" in " ".join(text.split())
    opens, refused = (re.findall(r"`([\w.-]+)`[,.]", part) for part in text.split("## Refused"))
    names = opens + refused
    assert len(set(names)) == len(names)
    assert set(names) <= set(all_kinds())
    assert {*ENCODERS, *DECODERS, *WITH_IMAGES} <= set(opens)
    assert f"## Open: {len(opens)} of {len(names)}" in text
