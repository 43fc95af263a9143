"""An atlas built by many processes or machines, with Ray, which is an optional requirement.

Ray is imported inside of functions, and only when the command line is given ``--ray``. It restarts
a worker that died and gives it its part again; nothing here does.
"""

from core.atlas.distributed.cluster import Cluster, ClusterCorpus, cluster_at
from core.atlas.distributed.session import ClusterError
from core.atlas.distributed.workers import Work

__all__ = ["Cluster", "ClusterCorpus", "ClusterError", "Work", "cluster_at"]
