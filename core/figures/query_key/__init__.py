"""Pictures of queries and keys: clouds in space, the search, distance against dot product."""
