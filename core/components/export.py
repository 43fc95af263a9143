"""A component as one HTML file that opens without internet and stays interactive.

It holds the script, the style, the data as base64, and the theme's colours as Streamlit's CSS
variables. Its security policy allows no requests. Text that people typed is only in the data and
in the escaped title and note.
"""

from __future__ import annotations

import base64
import html
import json
import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from core.components.scripts import read_script, read_style

_CONFIG = Path(__file__).parents[2] / ".streamlit" / "config.toml"
_FONT = '"Source Sans 3", "Source Sans Pro", system-ui, sans-serif'
_COLOURS = (
    *(f"{name}-color" for name in ("primary", "background", "secondary-background", "text")),
    *(f"{name}-color" for name in ("link", "border", "dataframe-border", "red")),
    *(f"chart-{name}-colors" for name in ("categorical", "sequential", "diverging")),
)
_SHELL = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline';\
 style-src 'unsafe-inline'; img-src data: blob:">
<meta name="headscope" content="{facts}">
<title>{title}</title>
<style>
{variables}
.made {{ margin-top: 20px; font-size: 0.8rem; }}
body {{ margin: 0; padding: 20px 24px; background: var(--st-background-color);
  color: var(--st-text-color); font-family: var(--st-font); }}
h1 {{ font-size: 1.25rem; margin: 0 0 4px; overflow-wrap: anywhere; }}
p {{ margin: 0 0 16px; opacity: 0.8; overflow-wrap: anywhere; }}
</style>
</head>
<body>
<h1 dir="auto">{title}</h1>
<p dir="auto">{note}</p>
{body}
<div id="view"></div>
<p class="made" dir="auto">{made}</p>
<script type="module">
{script}
const style = {style}
const bytes = Uint8Array.from(atob("{data}"), (letter) => letter.charCodeAt(0))
const host = document.getElementById("view").attachShadow({{ mode: "open" }})
const sheet = document.createElement("style")
sheet.textContent = style
const root = document.createElement("div")
host.append(sheet, root)
const ignore = () => {{}}
drawView({{ data: bytes, parentElement: root, setStateValue: ignore, setTriggerValue: ignore,
  key: "view", standalone: true }})
</script>
</body>
</html>
"""


def standalone_page(
    name: str,
    data: bytes,
    title: str,
    note: str,
    body: str = "",
    facts: Mapping[str, Any] | None = None,
) -> str:
    """One HTML file with the component and its data.

    Parameters
    ----------
    name : the component's folder. In the file the component gets ``standalone: true``, and its
        calls to the server do nothing.
    data : what the component receives, from :func:`core.components.packing.pack`.
    title, note : plain text above the view.
    body : HTML between the note and the view; the caller escapes what people typed.
    facts : a description of the file, for programs (JSON in ``<meta name="headscope">``) and,
        shortened, for people.
    """
    script = read_script(name).replace("export default function", "const drawView = function", 1)
    return _SHELL.format(
        title=html.escape(title),
        note=html.escape(note),
        facts=html.escape(json.dumps(facts or {})),
        made=html.escape(made_by(facts or {})),
        body=body,
        variables=theme_variables(),
        script=script,
        style=json.dumps(read_style(name)).replace("<", "\\u003c"),  # cannot end the script
        data=base64.b64encode(data).decode(),
    )


def made_by(facts: Mapping[str, Any]) -> str:
    """Program, version, model and options in one line.

    >>> made_by({"headscope": "1.0.0", "model": "m", "layer": "4", "options": {"values": "scores"}})
    'Headscope 1.0.0 · m · layer: 4 · values: scores'
    """
    settings = {name: facts[name] for name in ("layer", "head") if name in facts}
    settings |= facts.get("options", {})
    parts = [f"Headscope {facts.get('headscope', '')}".strip(), facts.get("model", "")]
    return " · ".join(filter(None, [*parts, *(f"{key}: {each}" for key, each in settings.items())]))


@cache
def theme_variables() -> str:
    """CSS that sets Streamlit's variables from the project's theme, for both colour schemes."""
    theme = tomllib.loads(_CONFIG.read_text("utf-8"))["theme"]
    light, dark = (_variables(theme[scheme], theme) for scheme in ("light", "dark"))
    return (
        f":root {{ color-scheme: light dark; {light} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}"
    )


def _variables(colours: dict[str, Any], theme: dict[str, Any]) -> str:
    variables = {"font": _FONT, "base-radius": theme["baseRadius"]}
    for name in _COLOURS:
        colour = colours[re.sub("-(.)", lambda letter: letter[1].upper(), name)]
        variables[name] = colour if isinstance(colour, str) else ",".join(colour)
    return " ".join(f"--st-{name}: {value};" for name, value in variables.items())
