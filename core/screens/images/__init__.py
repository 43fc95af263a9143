"""What the page of patches alone has."""
