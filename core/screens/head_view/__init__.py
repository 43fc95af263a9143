"""What the head view page alone has."""
