"""Hover-speed views: Streamlit components (v2), each a typed wrapper beside its .js and .css."""
