"""The head report of a head as one HTML file that opens offline."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.components.contexts import ContextGroup, contexts_page
from core.figures.query_key.head_cloud_svg import MAX_TOKENS, head_cloud_svg
from core.model.trace import Array

_PAGE = """\
<style>
table {{ border-collapse: collapse; margin: 6px 0 18px; font-size: 14px; }}
th, td {{ border: 1px solid var(--st-border-color); padding: 3px 10px; text-align: left; }}
th {{ background: var(--st-secondary-background-color); white-space: nowrap; vertical-align: top; }}
h2 {{ font-size: 1.05rem; margin: 18px 0 4px; }}
</style>
<table>{facts}</table>
<h2>Queries (green discs) and keys (pink diamonds), two principal components</h2>
<p>{drawn}</p>
{cloud}
<h2>Contexts of every decile of its strength</h2>
<p>{note}</p>"""
_MARKUP = re.compile(r"\\(.)|\*+")  # of Markdown: an escaped character, or stars around words


@dataclass(frozen=True, eq=False)
class HeadReport:
    """What is known of a head.

    Attributes
    ----------
    facts : names and Markdown, in which tokens are escaped.
    groups : contexts by decile.
    note : how contexts were drawn.
    """

    facts: Sequence[tuple[str, str]]
    groups: Sequence[ContextGroup]
    note: str


def report_file(
    name: str,
    model: str,
    report: HeadReport,
    points: Array,
    facts: Mapping[str, Any],
) -> str:
    """The whole file; `points` (2 token, 2) are the head's."""
    count = len(points) // 2
    some = f"{MAX_TOKENS:,} of {count:,}" if count > MAX_TOKENS else f"all {count:,}"
    body = _PAGE.format(
        facts=_rows([(each, _plain(words)) for each, words in report.facts]),
        drawn=f"The points of {some} tokens.",
        cloud=head_cloud_svg(points, f"Queries and keys of {html.escape(name)}"),
        note=html.escape(_plain(report.note)),
    )
    title = f"Head report of {name} · {model}"
    return contexts_page(report.groups, title, "", body, facts)


def _rows(rows: Sequence[tuple[str, str]]) -> str:
    return "".join(
        f'<tr><th>{html.escape(name)}</th><td dir="auto">{html.escape(words)}</td></tr>'
        for name, words in rows
    )


def _plain(markdown: str) -> str:
    """The words without stars and backslashes."""
    return _MARKUP.sub(lambda match: match[1] or "", markdown)
