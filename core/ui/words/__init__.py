"""Words that several pages share: names and definitions of head patterns, and formulas."""
