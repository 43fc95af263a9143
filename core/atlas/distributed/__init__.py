"""An atlas built by many processes or machines, with Ray, which is an optional requirement.

Ray is imported inside of functions, and only when the command line is given ``--ray``. It restarts
a worker that died and gives it its part again; nothing here does.
"""

from core.atlas.distributed.reading import ClusterCorpus
from core.atlas.distributed.session import ClusterError, Workers, joined
from core.atlas.distributed.workers import Work, count_parts, draw_parts, trace_chunks

__all__ = [
    "ClusterCorpus",
    "ClusterError",
    "Work",
    "Workers",
    "count_parts",
    "draw_parts",
    "joined",
    "trace_chunks",
]
