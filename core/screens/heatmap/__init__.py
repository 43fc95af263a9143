"""What the heatmap page alone has."""
