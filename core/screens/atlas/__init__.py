"""What the atlas page alone has."""
