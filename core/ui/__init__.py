"""What pages share on screen. Besides components, the only floor that imports streamlit."""
