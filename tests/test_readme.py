"""The README's examples run, and show what it says they show."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from core.analysis.corpus import sample

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")


@pytest.fixture(scope="module")
def names() -> Iterator[dict[str, Any]]:
    """Every name that the examples define, on the first sentences of the corpus."""
    whole = sample.sample_sentences()
    variables: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sample, "sample_sentences", lambda: list(islice(whole, 20)))
        for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL):
            exec(block, variables)  # noqa: S102 - our own README
        yield variables


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("trace.queries.shape", (6, 12, 13, 32)),
        (
            'trace.attention(layer=3, head=1)[names.index("it"), names.index("book")]',
            pytest.approx(0.932, abs=5e-4),
        ),
        ("seen.patches.colours.shape", (144, 3)),
        ("cls_map(seen, layer=5, head=0).values.shape", (12, 12)),
        ("attention_distance(seen).pixels.shape", (6, 6)),
    ],
)
def test_an_example_shows_what_its_comment_says(
    names: dict[str, Any], line: str, shown: object
) -> None:
    assert line in README
    assert eval(line, names) == shown  # noqa: S307 - our own README


def test_an_atlas_of_the_examples_has_queries_first_then_keys(names: dict[str, Any]) -> None:
    atlas = names["atlas"]
    assert atlas.points["raw"].shape == (6, 12, 2 * len(atlas.tokens), 3)
    assert 0 <= atlas.faithfulness["raw"].top1[3, 1] <= 1


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([^)#:]+)\)", README))))
def test_every_file_that_the_readme_links_to_is_there(link: str) -> None:
    assert (ROOT / link).exists()
