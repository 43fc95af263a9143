"""Headscope: see how a transformer pays attention, and how far to trust the picture."""

import streamlit as st

from core.ui import controls, navigation
from core.ui.frame import model_chip, switch, window
from core.ui.serve import deployment, sessions, turns, uploads

deployment.share_processors()
uploads.limit()
sessions.guard()
navigation.configure()
st.logo(navigation.LOGO, size="large", icon_image=navigation.MARK)
with turns.page_run():
    controls.open_link()
    page = navigation.register_pages()
    window.draw()
    switch.decide(navigation.asked_for(page), led_on=navigation.is_led_on())
    with switch.draw_row():
        model_chip.draw()
    navigation.run(page)
