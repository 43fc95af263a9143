"""What pages share on the screen. Besides components, the only floor that imports streamlit."""
