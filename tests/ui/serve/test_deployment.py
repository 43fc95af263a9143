"""Settings of a deployment."""

from __future__ import annotations

import pytest

from core.model import catalog
from core.ui.serve.access import read_offer

CATALOGUE = tuple(spec.name for spec in catalog.reading("text"))


@pytest.mark.parametrize(
    ("setting", "names", "any_hub_id"),
    [
        ("", (), False),
        (" , ", (), False),
        (" gpt2, bundled/minilm ,gpt2", ("gpt2", "bundled/minilm"), False),
        (" Catalogue ", CATALOGUE, False),
        ("ANY", CATALOGUE, True),
        ("my/model, catalogue", ("my/model", *CATALOGUE), False),
        ("my/model,any", ("my/model", *CATALOGUE), True),
        ("anything", ("anything",), False),
        ("bundled/planted-twins", ("bundled/planted-twins",), False),  # not offered unless named
    ],
)
def test_an_operator_lists_models(setting: str, names: tuple[str, ...], any_hub_id: bool) -> None:
    assert read_offer(setting) == (names, any_hub_id)
