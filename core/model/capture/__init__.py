"""Record the queries, keys and values of every attention call of a forward pass."""
