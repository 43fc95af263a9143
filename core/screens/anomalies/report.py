"""The page's report: flagged heads, maps, all measures and definitions, in one HTML file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.analysis.anomalies import FLAGS, as_map, flagged
from core.analysis.layers import rows_of
from core.components.export import made_by, theme_variables
from core.model import Trace
from core.screens.anomalies.wording import SEVERITY, UNUSUAL, row_name, threshold, values_note
from core.ui.attention_types import NAMES
from core.ui.cache import TraceKey
from core.ui.head_maps import gaps_note
from core.ui.words.numbers import number

if TYPE_CHECKING:
    import pandas as pd


_MAPS = {
    "unusual": "Unusual among this model's heads",
    "norm_log_ratio": "log2 of median |q| over median |k|",
    "first_attention": "Attention to the first token",
    "first_contribution": "The first token's share of what the head moves",
    "null_attention": "Null attention: attention to short values",
    "entropy": "Relative entropy",
}
_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="headscope" content="{meta}">
<title>{title}</title>
<style>
{variables}
body {{ margin: 0 auto; padding: 20px 24px; max-width: 1100px; font-family: var(--st-font);
  background: var(--st-background-color); color: var(--st-text-color); line-height: 1.45; }}
h1 {{ font-size: 1.35rem; margin: 0 0 4px; overflow-wrap: anywhere; }}
h2 {{ font-size: 1.08rem; margin: 26px 0 6px; }}
h3 {{ font-size: 0.95rem; margin: 10px 0 4px; }}
.text {{ overflow-wrap: anywhere; opacity: 0.85; }}
.wide {{ overflow-x: auto; }}
.maps {{ display: flex; flex-wrap: wrap; gap: 8px 28px; }}
table {{ border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }}
th, td {{ border: 1px solid var(--st-border-color); padding: 3px 7px; text-align: right;
  vertical-align: top; }}
th {{ background: var(--st-secondary-background-color); font-weight: 600; }}
td {{ white-space: nowrap; }}
th.words, td.words {{ text-align: left; white-space: normal; min-width: 110px; }}
td.words:last-child {{ min-width: 280px; }}
.map td {{ min-width: 30px; padding: 3px 4px; border-color: var(--st-background-color);
  background: color-mix(in srgb, var(--shade) var(--share), var(--st-background-color)); }}
.silent th {{ font-size: 12px; font-weight: 400; padding: 0 4px; }}
dt {{ font-weight: 600; margin-top: 8px; }}
dd {{ margin: 0; }}
</style>
</head>
<body>
{body}
</body>
</html>
"""


def make_report(trace: Trace, key: TraceKey, table: pd.DataFrame, facts: Mapping[str, Any]) -> str:
    """The whole file. What people typed is escaped; nothing is fetched, nothing runs."""
    title = escape(f"What is odd about the heads of {trace.model}")
    typed = table.attrs["where"] == f"this {key.modality}"
    text = _texts(trace, key) if typed else f"Measured on {table.attrs['where']}"
    if typed and key.image is not None:
        text = f"Image: {facts.get('image', '')}"
    at_least = "at least " if trace.cut_characters else ""
    cut = f", {at_least}{trace.dropped} more were cut" if trace.dropped else ""
    layers, heads, tokens, _ = trace.shape
    size = f"{layers} layers × {heads} heads" + (f", {tokens} tokens{cut}" if typed else "")
    if trace.source is not None:
        size += f" attend to {len(trace.key_tokens)} tokens of the text"
    odd = flagged(table)
    note = escape(values_note(exact=table.attrs["values"] == "|f(v)|"))
    parts = [
        f'<h1 dir="auto">{title}</h1>',
        f'<p class="text" dir="auto">{escape(text)}</p>',
        f"<p>{size}. {note}</p>",
        "<h2>Layers down, heads across</h2>",
        '<div class="maps">',
        *(_map(as_map(table, name), caption, trace) for name, caption in _MAPS.items()),
        "</div>",
        f"<p>{gaps_note(trace)}</p>",
        f"<h2>Heads with a flag ({len(odd)} of {len(table)}), those that stand out first</h2>",
        _flagged(odd),
        f"<p>Unusual: {escape(UNUSUAL)}.</p>",
        f"<p>Severity: {escape(SEVERITY)}.</p>",
        "<h2>Definitions, sources and thresholds</h2>",
        "<dl>",
        *(
            f"<dt>{escape(name)}</dt><dd>{escape(flag.definition)}<br>"
            f"Source: {escape(flag.source)}. Flagged {escape(threshold(name, trace))}.</dd>"
            for name, flag in FLAGS.items()
        ),
        "</dl>",
        "<h2>Every measure of every head</h2>",
        _measures(table),
        f"<p>{escape(made_by(facts))}</p>",
    ]
    meta, body = escape(json.dumps(facts)), "\n".join(parts)
    return _PAGE.format(title=title, variables=theme_variables(), meta=meta, body=body)


def _texts(trace: Trace, key: TraceKey) -> str:
    """What was typed; of an encoder-decoder, which attention this is and what its decoder read."""
    texts = [key.text, key.pair]
    if trace.attention_type in {"decoder", "cross"}:
        read = " ".join(token.display for token in trace.tokens)
        texts.append(f"The decoder reads: {read}")
    if key.attention_type is not None:
        texts.append(f"Attention: {NAMES[key.attention_type]}")
    return " | ".join(filter(None, texts))


def _flagged(odd: pd.DataFrame) -> str:
    if odd.empty:
        return "<p>No head of this model is odd here, by any of the rules below.</p>"
    rows = [
        (
            row_name(row),
            f"{row['unusual']:.2f}",
            f"{row['severity']:.2f}",
            row["stands_out"],
            row["flags"],
            row["reasons"],
        )
        for row in odd.to_dict("records")
    ]
    return _table(
        ("head", "unusual", "severity", "stands out by", "flags", "reasons"), rows, words={3, 4, 5}
    )


def _map(values: NDArray[np.float64], caption: str, trace: Trace) -> str:
    top = max(1.0, float(np.nanmax(np.abs(values), initial=0)))
    heads = "".join(f"<th>{head + 1}</th>" for head in range(values.shape[1]))
    layers = rows_of(trace)
    placed = {
        place: f"<tr><th>{layer}</th>{''.join(_cell(value, top) for value in row)}</tr>"
        for place, layer, row in zip(
            layers.places, layers.layer_labels, values.tolist(), strict=True
        )
    }
    for gap in layers.gaps:
        placed[gap.place] = f'<tr class="silent"><th>{gap.name}</th></tr>'
    rows = "".join(placed[place] for place in sorted(placed))
    return (
        f'<div class="wide"><h3>{escape(caption)}</h3>'
        f'<table class="map"><tr><th></th>{heads}</tr>{rows}</table></div>'
    )


def _cell(value: float, top: float) -> str:
    if not np.isfinite(value):
        return "<td>–</td>"
    shade = "--st-primary-color" if value >= 0 else "--st-red-color"
    share = round(60 * abs(value) / top)
    return f'<td style="--shade: var({shade}); --share: {share}%">{number(value)}</td>'


def _measures(table: pd.DataFrame) -> str:
    shown = table.drop(columns=["flags", "reasons", "stands_out"])
    rows = [
        [
            number(cell, ".3f", "–") if isinstance(cell, float) else str(cell)
            for cell in row.values()
        ]
        for row in shown.to_dict("records")
    ]
    names = [name.replace("_", " ") for name in shown.columns]
    return _table(names, rows, words={names.index("sink token")})


def _table(names: Sequence[str], rows: Sequence[Sequence[str]], words: set[int]) -> str:
    """A table with one row of headings; `words` are the columns of text."""

    def row(cells: Sequence[str], tag: str) -> str:
        kinds = [' class="words" dir="auto"' if i in words else "" for i in range(len(cells))]
        parts = zip(kinds, cells, strict=True)
        return "".join(f"<{tag}{kind}>{escape(cell)}</{tag}>" for kind, cell in parts)

    body = "".join(f"<tr>{row(cells, 'td')}</tr>" for cells in rows)
    return f'<div class="wide"><table><tr>{row(names, "th")}</tr>{body}</table></div>'
