"""Texts of screens, in Markdown files beside them, with named fields for measured values."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment, Template


class Prose:
    r"""The blocks of a Markdown file: ``Prose(__file__)`` reads the ``words.md`` beside a module.

    A block is what is between ``{% block name %}`` and ``{% endblock %}``, a Jinja template; the
    file is read when a text is first needed. Fields are filled with Markdown: pass tokens through
    :func:`core.ui.words.messages.quote` first.
    """

    def __init__(self, module: str, name: str = "words.md") -> None:
        self.path = Path(module).with_name(name)

    def __call__(self, block: str, /, **fields: object) -> str:
        """A block with its fields filled; each paragraph becomes one line.

        Raises KeyError if the file has no such block, and jinja2.UndefinedError if a field has no
        value.
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
    """An HTML page with its fields filled; what people typed is escaped.

    Raises jinja2.UndefinedError if a field has no value.
    """
    return environment(html=True).from_string(path.read_text("utf-8")).render(fields)


@cache
def environment(*, html: bool = False) -> Environment:
    """The template environment: a missing field is an error; filters format numbers."""
    from jinja2 import Environment, StrictUndefined  # slow, and no first picture needs it

    from core.ui.words.numbers import number
    from core.vocabulary import percent

    templates = Environment(undefined=StrictUndefined, autoescape=html)  # noqa: S701 - else no HTML
    templates.filters |= {"number": number, "percent": percent}
    return templates
