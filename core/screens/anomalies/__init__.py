"""What the unusual heads page alone has."""
