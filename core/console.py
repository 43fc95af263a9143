"""What command lines tell while they work: lines on stderr, and one that moves."""

from __future__ import annotations

import sys
import time

_TELL_EVERY = 0.5  # seconds, in a terminal; elsewhere, such as in a log, ten times as long


class ProgressLine:
    """The line of progress: rewritten in a terminal, else a line at a time."""

    def __init__(self, total: int = 0, kept: int = 0) -> None:
        self.total = total
        self.done = kept
        self.kept = kept
        self.started = time.monotonic()
        self.told = self.started  # a speed of the first tokens would be none
        self.in_place = sys.stderr.isatty()

    def tokens(self, count: int) -> None:
        """So many more tokens are done."""
        self.done += count
        seconds = max(time.monotonic() - self.started, 1e-9)
        speed = (self.done - self.kept) / seconds
        left = (self.total - self.done) / speed
        self._tell(
            f"{self.done:,} of {self.total:,} tokens · {speed:,.0f} tokens/s"
            f" · {duration(left)} left",
            last=self.done >= self.total,
        )

    def heads(self, done: int, of: int) -> None:
        """So many heads are written."""
        self._tell(f"{done} of {of} heads written", last=done == of)

    def end(self) -> None:
        """The line is over."""
        if self.in_place:
            say("")

    def _tell(self, text: str, *, last: bool) -> None:
        now = time.monotonic()
        if now - self.told < (_TELL_EVERY if self.in_place else 10 * _TELL_EVERY) and not last:
            return
        self.told = now
        sys.stderr.write(f"\r{text}\033[K" if self.in_place else text + "\n")
        sys.stderr.flush()


def say(text: str) -> None:
    """A line on stderr."""
    sys.stderr.write(text + "\n")


def size(count: float) -> str:
    """Bytes as people read them."""
    return f"{count / 1e9:,.1f} GB" if count >= 1e9 else f"{max(1, count / 1e6):,.0f} MB"


def duration(seconds: float) -> str:
    """Seconds as people read them."""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:,.0f} min"


def counted(number: int, name: str) -> str:
    """A number with what it counts, such as "1 part" and "2 parts"."""
    return f"{number:,} {name}" + ("" if number == 1 else "s")
