"""Code that only the vector grid page needs."""
