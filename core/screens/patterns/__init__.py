"""What the head patterns page alone has."""
