"""One builder of atlases: texts to parts, parts to sums, sums to constants, parts to points.

The same functions run in memory, on disk and on many machines, over different stores of parts.
"""
