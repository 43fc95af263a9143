"""Every head's queries and keys over a whole corpus: build, keep, open, search.

`build_atlas` makes an `Atlas` of texts or images, `search_tokens` finds tokens, and `open_large`
opens the folder of one that does not fit into memory. ``.github/ATLAS.md`` has the format and the
command line.
"""

from typing import TYPE_CHECKING

from core import imported_late

if TYPE_CHECKING:
    from core.atlas.data import Atlas
    from core.atlas.engine.build import build_atlas
    from core.atlas.saved import open_large
    from core.atlas.source import search_tokens

__all__ = ["Atlas", "build_atlas", "open_large", "search_tokens"]

__getattr__ = imported_late(
    __name__,
    {
        "data": "Atlas",
        "engine.build": "build_atlas",
        "saved": "open_large",
        "source": "search_tokens",
    },
)
