"""Hover-speed views: Streamlit components (v2), each a typed wrapper beside all its .js and .css.

``shared/`` has the scripts that three views or more import, ``points/`` those of clouds of points.
"""
