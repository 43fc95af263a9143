"""One sentence wherever a head is named: what it follows, and where to see whether it matters."""

from __future__ import annotations

from core.analysis.head_patterns.measure import mean_scores, measure_matrix
from core.analysis.head_patterns.minimum_evidence import too_short
from core.analysis.head_patterns.naming import NONE, TOO_SHORT, assign_patterns
from core.analysis.head_patterns.table import add_induction
from core.analysis.pairs import permitted, uniform_attention
from core.model.trace import Trace
from core.ui.words.pages import find
from core.ui.words.pattern_words import pattern_names
from core.ui.words.prose import Prose
from core.vocabulary import head_name

_words = Prose(__file__)


def looks_and_need(trace: Trace, layer: int, head: int, *, with_pattern: bool = True) -> str:
    """What else is known of a head (from 0) that a page names (Markdown).

    Leave the pattern out where the page has just said it, perhaps of other texts.
    """
    return _words(
        "one_head",
        head=head_name(trace, layer, head),
        pattern=(pattern := _pattern(trace, layer, head) if with_pattern else ""),
        name=pattern_names(trace).get(pattern, ""),
        follows=pattern != NONE,
        short=pattern == TOO_SHORT,
        this=trace.input.this,
        page=find("effect").title,
    )


def _pattern(trace: Trace, layer: int, head: int) -> str:
    """The pattern that one head follows on this text or image alone."""
    if too_short(len(trace.tokens)):
        return TOO_SHORT
    uniform = uniform_attention(permitted(trace, layer, head))
    weights = trace.attention(layer, head)
    measured = measure_matrix(weights, uniform, trace.tokens, trace.source)
    scores = add_induction(mean_scores([measured]), None)
    assigned = assign_patterns(scores.means, scores.uniform, scores.query_tokens)
    return str(assigned.names[0, 0])
