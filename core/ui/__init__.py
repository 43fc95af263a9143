"""What pages share on screen. Besides components, the only layer that imports streamlit."""
