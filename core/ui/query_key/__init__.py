"""The parts of the query-key page."""
