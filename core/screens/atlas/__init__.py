"""Code that only the atlas page needs."""
