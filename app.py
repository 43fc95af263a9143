"""Headscope: see how a transformer pays attention, and how far to trust the picture."""

import streamlit as st

from core.ui import controls, navigation
from core.ui.frame import image_row, sidebar, switch, text_row, window
from core.ui.site import deployment, turns, uploads

deployment.stay_offline()
uploads.limit()
st.set_page_config(page_title="Headscope", page_icon=navigation.MARK, layout="wide")
st.logo(navigation.LOGO, size="large", icon_image=navigation.MARK)
with turns.short_answer():
    controls.open_link()
    page = navigation.register_pages()
    window.draw()
    switch.draw(navigation.asked_for(page))
    (image_row if switch.reads() == "image" else text_row).draw()
    sidebar.draw()
    navigation.run(page)
