"""Ten visitors of one link: one run; a cancelled one strands nobody."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from core.ui.serve.once import MAX_TWINS, Shared, room_for_twin

VISITORS = 10


class Left(BaseException):
    """As Streamlit ends a run whose visitor has left."""


@pytest.mark.parametrize("error", [Left, ValueError])
def test_one_of_the_waiting_takes_over(error: type[BaseException]) -> None:
    """The first leaves or fails while nine wait: one of them runs, for all."""
    shared, runs, some_wait = Shared[list[int]]([]), [], threading.Event()
    first_runs, found = threading.Event(), []

    def leave() -> None:
        with suppress(error), shared.turn(lambda: None):
            first_runs.set()
            assert some_wait.wait(10)
            raise error

    def visit() -> None:
        assert first_runs.wait(10)
        with shared.turn(some_wait.set):
            if not shared.kept:
                runs.append(1)
                shared.kept.append(7)
        found.append(shared.kept[0])

    threads = [threading.Thread(target=each) for each in [leave, *[visit] * (VISITORS - 1)]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert found == [7] * (VISITORS - 1)
    assert len(runs) == 1


def test_who_waits_may_leave() -> None:
    """Its error passes, and the one who runs keeps the turn."""
    shared = Shared[list[int]]([])

    def gone() -> None:
        raise Left

    def wait() -> None:
        with pytest.raises(Left), shared.turn(gone):
            pass

    with shared.turn(gone), ThreadPoolExecutor(1) as pool:
        pool.submit(wait).result(10)
    with shared.turn(gone):
        shared.kept.append(1)


def test_two_twins_are_alive_at_most() -> None:
    """However many ask."""
    alive, most, lock = 0, 0, threading.Lock()
    together = threading.Barrier(MAX_TWINS)

    def visit() -> None:
        nonlocal alive, most
        with room_for_twin:
            with lock:
                alive += 1
                most = max(most, alive)
            together.wait(10)
            with lock:
                alive -= 1

    with ThreadPoolExecutor(VISITORS) as pool:
        for each in [pool.submit(visit) for _ in range(VISITORS)]:
            each.result(20)
    assert most == MAX_TWINS
