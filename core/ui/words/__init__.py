"""What several pages say: names and definitions of head patterns, and the formulas of attention."""
