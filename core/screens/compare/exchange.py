"""Which heads carry the difference: what each writes on A is put into the run of B."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from core.analysis.compare.alignment import align
from core.analysis.effect.table import carriers, leading_carriers
from core.model.interventions.exchange import Exchange, exchange
from core.screens.compare.measured import MAX_TOKENS, Comparison, trace_of
from core.ui import cache, controls
from core.ui.cache import TraceKey
from core.ui.corpus_walk import measure_once, reads_corpora
from core.ui.downloads import contents, offer_csv
from core.ui.heads import names_of
from core.ui.serve.long_work import ProgressBar, Shared
from core.ui.words.numbers import in_a_row
from core.ui.words.prose import Prose

if TYPE_CHECKING:
    import pandas as pd

VARIANTS = 8  # of A, with the text itself: an interval needs five, each takes a second or more
_MAX_KEPT = 32  # tables of all heads: 5 kB each
_SHOWN = 10  # rows
_words = Prose(__file__)
