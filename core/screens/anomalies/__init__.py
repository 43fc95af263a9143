"""What the anomaly views page alone has."""
