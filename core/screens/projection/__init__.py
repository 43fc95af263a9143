"""What the projection page alone has."""
