"""Hover-speed views: Streamlit components (v2), each a typed wrapper beside its .js and .css.

``shared/`` holds scripts that several views import, ``points/`` those for clouds of points.
"""
