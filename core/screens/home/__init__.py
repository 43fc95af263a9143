"""What the home page alone has."""
