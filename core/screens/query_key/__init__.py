"""Code that only the query-key page needs."""
