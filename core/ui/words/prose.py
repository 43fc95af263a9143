"""Texts of screens, written in Markdown beside them, with named fields for what is measured."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment, Template


class Prose:
    r"""The blocks of a Markdown file: ``Prose(__file__)`` reads the ``words.md`` beside a module.

    A block is what stands between ``{% block name %}`` and ``{% endblock %}``, a template of Jinja;
    it is read when a text is first asked for. What fills its fields is Markdown: tokens go through
    :func:`core.ui.words.messages.quote` first.
    """

    def __init__(self, module: str, name: str = "words.md") -> None:
        self.path = Path(module).with_name(name)

    def __call__(self, block: str, /, **fields: object) -> str:
        """A block with its fields filled; one paragraph is one line.

        Raises KeyError where the file has no such block, and jinja2.UndefinedError where a field
        has no value.
        """
        template = _read(self.path)
        text = "".join(template.blocks[block](template.new_context(fields))).strip()
        text = text if "\n\n" in text else " ".join(text.split("\n"))
        return re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", text)

    def __contains__(self, block: str) -> bool:
        return block in _read(self.path).blocks


@cache
def _read(path: Path) -> Template:
    return environment().from_string(path.read_text("utf-8"))


def fill_page(path: Path, /, **fields: object) -> str:
    """A page of HTML with its fields filled: what people typed is escaped.

    Raises jinja2.UndefinedError where a field has no value.
    """
    return environment(html=True).from_string(path.read_text("utf-8")).render(fields)


@cache
def environment(*, html: bool = False) -> Environment:
    """What texts are read with: a field without a value is an error; filters write numbers."""
    from jinja2 import Environment, StrictUndefined  # no first picture needs it

    from core.ui.words.numbers import number
    from core.vocabulary import percent

    made = Environment(undefined=StrictUndefined, autoescape=html)  # noqa: S701 - else no HTML
    made.filters |= {"number": number, "percent": percent}
    return made
