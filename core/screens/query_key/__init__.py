"""What the query-key page alone has."""
