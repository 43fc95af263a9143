"""Each page as the first one that a server opens: its imports stand alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
# A fork per page, of one process that has imported the libraries and nothing of this project.
PROGRAM = """
import ast, os, sys, traceback
import pandas, plotly.graph_objects, scipy.stats, sklearn.decomposition, streamlit
from pathlib import Path

for page in sorted(Path("pages").glob("*.py")):
    nodes = ast.walk(ast.parse(page.read_text("utf-8")))
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    assert imports
    if not (child := os.fork()):
        status = 1
        try:
            exec("\\n".join(map(ast.unparse, imports)))
            status = 0
        except BaseException:
            traceback.print_exc()
        os._exit(status)
    if os.waitpid(child, 0)[1]:
        sys.exit(f"{page.name} fails")
"""


def test_every_pages_imports_stand_alone() -> None:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
