"""Take something away from a model's attention, and measure what changes.

An intervention rides on the one attention function, as recording does: it belongs to the call, and
the model stays as it is.
"""
