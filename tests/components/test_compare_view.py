"""What the comparison's component is sent."""

from __future__ import annotations

import numpy as np

from core.components.compare import CompareView
from tests.components.received import received

A = np.array([[0.75, 0.25, 0], [0.5, 0.5, 0]], dtype=np.float32)
B = np.array([[0.25, 0.25, 0.5], [0.5, 0.5, 0]], dtype=np.float32)
VIEW = CompareView(
    names=("it", "rains"),
    titles=("A · L1 H2", "B · L1 H2"),
    words=(("it", "rains"), ("it", "never", "rains")),
    pairs=((0, 0), (1, 2)),
    corrected=False,
    a=A,
    b=B,
    change=B - A,
    layers=(1, 2),
    chosen=(0, 1),
    distance=np.array([[0.0, 0.75], [0.125, 0.25]]),
    over=np.array([[False, True], [False, True]]),
    about=("L1 H1: 0.00", "L1 H2: 0.75", "L2 H1: 0.12", "L2 H2: 0.25"),
    held=[],
    serial=1,
)


def test_numbers_arrive_exactly_row_by_row_and_words_with_their_partners() -> None:
    sent = received(VIEW.packed())
    assert sent["change"].tolist() == [-0.5, 0, 0.5, 0, 0, 0]
    assert sent["distance"].tolist() == [0, 0.75, 0.125, 0.25]
    assert (sent["over"].dtype, sent["over"].tolist()) == (np.uint8, [0, 1, 0, 1])
    assert (sent["layers"], sent["heads"], sent["chosen"]) == ([1, 2], 2, [0, 1])
    assert sent["words"][1][sent["pairs"][1][1]] == "rains"
