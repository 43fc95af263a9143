"""Code that only the page of patches needs."""
