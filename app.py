"""Headscope: see how a transformer pays attention, and how far to trust the picture."""

import streamlit as st

from core.ui import controls, navigation
from core.ui.frame import first_row, layout, model_chip, switch
from core.ui.lessons import running
from core.ui.serve import deployment
from core.ui.serve.long_work import page_run

deployment.prepare_process()
navigation.configure()
st.logo(navigation.LOGO, size="large", icon_image=navigation.MARK)
with page_run():
    controls.begin_run()
    page = navigation.register_pages(running.begin)
    layout.draw_window()
    asked = navigation.requested_page(page)
    switch.decide(asked, by_button=navigation.opened_by_button())
    with first_row.draw(searches=asked.searches):
        model_chip.draw()
    running.place_strip()
    navigation.run_page(page)
