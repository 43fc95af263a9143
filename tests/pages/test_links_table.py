"""The page that lists what links can hold is made from the controls that pages declare."""

from __future__ import annotations

from tests.links_table import LINKS, gather, written
from tests.pages.test_every_control import SCREENS


def test_the_list_of_link_parameters_is_what_pages_declare() -> None:
    assert LINKS.read_text("utf-8") == written(gather(SCREENS)), "run python -m tests.links_table"
