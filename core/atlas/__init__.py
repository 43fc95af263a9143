"""Every head's queries and keys over a whole corpus: build, keep, open, search.

`build_atlas` makes an `Atlas` of texts or images; `write_atlas` and `read_atlas` keep it as one
file, `open_large` opens a folder of one that does not fit into memory, and `search_tokens` finds
tokens. ``.github/ATLAS.md`` has the formats and the command line.
"""

from typing import TYPE_CHECKING

from core import imported_late

if TYPE_CHECKING:
    from core.atlas.data import Atlas
    from core.atlas.engine import build_atlas
    from core.atlas.files import read_atlas, write_atlas
    from core.atlas.sources import open_large, search_tokens

__all__ = ["Atlas", "build_atlas", "open_large", "read_atlas", "search_tokens", "write_atlas"]

__getattr__ = imported_late(
    __name__,
    {
        "data": "Atlas",
        "engine": "build_atlas",
        "files": "read_atlas write_atlas",
        "sources": "open_large search_tokens",
    },
)
