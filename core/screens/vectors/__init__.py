"""What the vector grid page alone has."""
