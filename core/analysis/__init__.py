"""What the numbers of a trace say. NumPy, SciPy and scikit-learn only."""
