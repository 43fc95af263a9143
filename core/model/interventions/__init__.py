"""Take something away from a model's attention, and measure what changes.

An intervention uses the same attention function as recording: it belongs to the call, and the model
itself stays unchanged.
"""
