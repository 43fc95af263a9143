"""Arrays in, plotly figures out."""
