"""No folder grows: what an addition costs is taken away in the same change."""

from tests import sizes


def test_no_folder_holds_more_than_is_recorded_and_recorded_numbers_are_those_of_today() -> None:
    now, recorded = sizes.measure(), sizes.recorded()
    grown = {
        folder: (size, recorded[kind].get(folder, 0))
        for kind in now
        for folder, size in now[kind].items()
        if size > recorded[kind].get(folder, 0)
    }
    over = {each for each in grown if grown[each][0] > sizes.BUDGETS.get(each, 0)}
    assert not over, f"(now, recorded): {grown}; take away what this change adds"
    assert recorded == now, "python -m tests.sizes writes the numbers"
