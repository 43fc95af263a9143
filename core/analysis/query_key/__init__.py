"""Queries and keys in one space: distances, normalization, the search for a and c, faithfulness."""
