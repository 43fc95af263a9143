"""No folder grows: what an addition costs is taken away in the same change."""

import pytest

from tests import sizes


@pytest.mark.parametrize("kind", ["lines", "words"])
def test_no_folder_holds_more_than_is_recorded(kind: str) -> None:
    now, allowed = sizes.measure()[kind], sizes.recorded()[kind]
    grown = {
        folder: (size, allowed.get(folder, 0))
        for folder, size in now.items()
        if size > allowed.get(folder, 0)
    }
    assert not grown, f"(now, recorded): {grown}; take away what this change adds"


def test_recorded_numbers_are_those_of_today() -> None:
    assert sizes.recorded() == sizes.measure(), "python -m tests.sizes lowers the numbers"
