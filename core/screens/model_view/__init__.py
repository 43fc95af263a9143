"""What the model view page alone has."""
