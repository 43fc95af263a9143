"""One head of an atlas: its points as a table, and its report."""
