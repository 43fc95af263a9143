"""What the effect page alone has."""
