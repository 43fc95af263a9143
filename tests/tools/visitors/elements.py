"""What is on the screen: the elements a script has sent, by their place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from streamlit.proto.Alert_pb2 import Alert

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streamlit.proto.Delta_pb2 import Delta

Place = tuple[int, ...]  # the root (main, sidebar, ...), then the index in each container


@dataclass(frozen=True)
class Element:
    """One element."""

    kind: str  # as the message's field is called: "markdown", "selectbox", "bidi_component", ...
    body: Any  # the message of that kind
    fragment: str  # that it was drawn in, "" outside of all
    run: str  # of the script that sent it

    @property
    def key(self) -> str:
        """The key that the script gave it; "" where it gave none."""
        # "$$ID-<hash>-<key>", with "None" for no key
        parts = getattr(self.body, "id", "").split("-", 2)
        return parts[2] if len(parts) == 3 and parts[2] != "None" else ""

    @property
    def error(self) -> str:
        """What it says when it is an exception or a red box, else ""."""
        if self.kind == "exception":
            return f"{self.body.type}: {self.body.message}"
        if self.kind == "alert" and self.body.format == Alert.ERROR:
            return str(self.body.body)
        return ""


@dataclass
class Screen:
    """The elements by place, in the order of the page."""

    _elements: dict[Place, Element] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Element]:
        return (self._elements[place] for place in sorted(self._elements))

    def take(self, place: Place, delta: Delta, run: str) -> str:
        """Put a new element in its place; a new container ends an element that was there.

        Gives the key of the element, "" where there is none.
        """
        kind = delta.WhichOneof("type")
        if kind == "new_element":
            self._forget_inside(place)
            element = delta.new_element
            which = element.WhichOneof("type") or "empty"
            body = getattr(element, which)
            self._elements[place] = taken = Element(which, body, delta.fragment_id, run)
            return taken.key
        if kind == "add_block":
            self._elements.pop(place, None)
        return ""

    def end_run(self, run: str, fragments: frozenset[str]) -> None:
        """Drop what this run has not sent again: of its fragments, or of the whole page."""
        self._elements = {
            place: element
            for place, element in self._elements.items()
            if element.run == run or (fragments and element.fragment not in fragments)
        }

    def find(self, key: str) -> Element:
        """The widget or component of that key. Raises KeyError where there is none."""
        for element in self:
            if element.key == key:
                return element
        here = sorted({element.key for element in self} - {""})
        raise KeyError(f"nothing on this page has the key {key!r}; there are: {', '.join(here)}")

    def _forget_inside(self, place: Place) -> None:
        inside = [other for other in self._elements if other[: len(place)] == place]
        for other in inside:
            del self._elements[other]
