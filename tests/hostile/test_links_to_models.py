"""A link that names a model takes neither the memory nor the disk of the server."""

from __future__ import annotations

import pytest

from tests.hostile.child import run_limited


@pytest.mark.parametrize(
    "attack",
    ["repository_of_very_many_files", "file_without_an_end", "model_larger_than_any_disk"],
)
def test_a_link_to_a_model_takes_little(attack: str) -> None:
    run_limited(f"tests.hostile.attacks_on_links_to_models:{attack}")
