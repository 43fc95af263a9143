"""Clusters of one head's picture: dense groups of points, named by their frequent words."""

from core.atlas.clusters.finding import Cluster, Clusters, find_clusters
from core.atlas.clusters.repeats import first_occurrences
from core.atlas.clusters.words import Word

__all__ = ["Cluster", "Clusters", "Word", "find_clusters", "first_occurrences"]
