"""Examples that set the patterns page's controls, and the mathematics behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.coreference.grouped import RESAMPLES
from core.analysis.corpus.sample import marked_sets
from core.analysis.head_patterns.minimum_evidence import MIN_QUERY_TOKENS, MIN_TOKENS
from core.analysis.head_patterns.naming import NAMING
from core.screens.patterns.wording import head_name, number
from core.ui.presets import Preset, show
from core.ui.words.pattern_words import PATTERN_NAMES

if TYPE_CHECKING:
    from core.screens.patterns.found import Found

_LEAVES = {"text": "leaves fall in autumn", "pair": "autumn is marked by colorful foliage"}

_DISTANCES = r"""
**Distance of two heads**, averaged over tokens, with $m = (\alpha + \beta)/2$ (Endres and
Schindelin 2003):

$$
d(\alpha, \beta) = \frac{1}{n} \sum_i \sqrt{H_2(m_i) - \tfrac12 H_2(\alpha_i)
- \tfrac12 H_2(\beta_i)} .
$$

The map is metric multidimensional scaling of these distances (SMACOF from the classical solution;
Clark et al. 2019, section 6, draw such a map). Its **stress** is
$\sqrt{\sum (d - \hat d)^2 / \sum \hat d^2}$, with $\hat d$ the distances drawn (Kruskal 1964).
"""
_ROLLOUT = r"""
**Rollout** (Abnar and Zuidema 2020): with $\bar\alpha_l$ the mean over the heads of layer $l$,

$$
R = \tilde\alpha_L \cdots \tilde\alpha_2\,\tilde\alpha_1,
\qquad \tilde\alpha_l = \tfrac12 \bar\alpha_l + \tfrac12 I .
$$

The identity stands for the residual connection. Rollout takes attention for the flow of
information, which it is only in part: values and the layers between are left out.
"""


def show_presets(found: Found) -> None:
    """Settings worth seeing."""
    show("patterns", lambda: _presets(found))


def _presets(found: Found) -> list[Preset]:
    presets = []
    table = found.table
    for score, title, sentence in (
        ("previous", "Looking back by one", "gives {} to the token before: the line below the"),
        ("first", "Resting on the first token", "gives {} to the first token: see the"),
    ):
        best = int(table[score].fillna(-1).to_numpy().argmax())
        layer, head = divmod(best, found.trace.shape[1])
        ending = " diagonal." if score == "previous" else " first column."
        presets.append(
            Preset(
                title,
                f"{head_name(layer, head)} "
                + sentence.format(number(float(table[score].iloc[best])))
                + ending,
                {
                    "part": "one",
                    "whole": "head",
                    "beside": score,
                    "layer": str(layer + 1),
                    "head": str(head + 1),
                },
            )
        )
    return [
        *presets,
        Preset(
            "One text is little",
            "The same heads on the sample corpus: which patterns stay with enough tokens?",
            {"part": "heads", "source": "corpus", "score": "class"},
        ),
        Preset(
            "Across two sentences",
            "Two sentences with a word in common: which heads look from one to the other?",
            {"part": "heads", "source": "text", "score": "other_sentence", "two": True, **_LEAVES},
        ),
        Preset(
            "Everything at once",
            "Rollout of all layers: what is left when half of every layer is the residual?",
            {"part": "one", "source": "text", "whole": "rollout", "beside": "self"},
        ),
        Preset(
            "What “it” stands for",
            "Which heads look from a pronoun to its noun, and does any of them heed the meaning?",
            {"part": "pronouns", "marked": "pairs"},
        ),
        Preset(
            "Twins",
            f"Which heads do the same as {found.name}? Near points attend alike.",
            {"part": "alike"},
        ),
    ]


def show_mathematics() -> None:
    """The definitions, and where they come from."""
    with st.expander("The mathematics"):
        st.markdown(_patterns_in_formulas() + _DISTANCES + _coreference_in_words() + _ROLLOUT)


def _patterns_in_formulas() -> str:
    return rf"""
A pattern is a set $P$ of pairs of a query token $i$ and a key token $j$. Let $T$ be the query
tokens that have such a pair which the model permits. The **score** of a head with attention
$\alpha$, and the **uniform baseline**, the score of a head that gives the same weight to each of
the $n_i$ keys that token $i$ may see, are

$$
s = \frac{{1}}{{|T|}} \sum_{{i \in T}} \ \sum_{{j:\,(i,j) \in P}} \alpha_{{ij}},
\qquad
s_0 = \frac{{1}}{{|T|}} \sum_{{i \in T}} \frac{{|\{{j : (i,j) \in P\}}|}}{{n_i}} .
$$

On 13 tokens $s_0$ is 0.08 for the token before, and more for patterns of several tokens: it is not
small, so it stands beside every score. In a model that reads left to right only $j \le i$ counts.

A head is named by the most specific pattern that it clearly follows: the first of these whose
score exceeds $b = \max(\text{{threshold}}, s_0)$ over at least {MIN_QUERY_TOKENS} query tokens:
{", ".join(PATTERN_NAMES[kind] for kind in NAMING)}. For "broad" $b$ is the threshold alone, since
uniform attention has the largest entropy there is. How far a score is **above the threshold** is
$(s - b) / (1 - b)$: 0 at it, 1 when all attention follows.

**What follows Clark et al. 2019, and what is ours.** They look at heads with more than half of
their attention on the previous or the next token; with [CLS], [SEP], and full stops and commas each
tested against 0.6 (their code); and at broad heads, with an entropy above 3.8 nats on 128 tokens,
which is 0.78 of $\ln 128$. So do the thresholds here. Ours are: that broad is 0.78 of the most that
a text of any length allows, by the mean **relative entropy**
$\frac{{1}}{{|T|}}\sum_i H(\alpha_i) / \ln n_i$; that [CLS] counts as the first token, at 0.5, as in
models without [CLS]; the sum of the three delimiters, which is shown but names no head; the other
patterns and their 0.5; and the minimum of {MIN_QUERY_TOKENS} query tokens.
**Induction** (Olsson et al. 2022) is measured on random sequences of 50 tokens that stand twice,
whatever the text: the attention from each token of the second copy to the one after its first copy.

**Too short to say.** Networks with random weights follow nothing, yet some of their heads pass a
threshold by accident. In 20 of the shape of the bundled MiniLM and 20 of that of the bundled GPT-2
a pattern other than "broad" named 5 % and 15 % of the heads on 8 tokens, 3 % of both on 12, and
1 % and none on 48 or more. So under {MIN_TOKENS} tokens no pattern is named.

On the **corpus** scores are means over the tokens of all sentences. Sentences are drawn anew, with
replacement, 1,000 times (Efron and Tibshirani 1993; seed fixed): the interval holds the middle
95 % of the scores, the **stability** is the share of draws in which the pattern is the same.
"""


def _coreference_in_words() -> str:
    pairs, sample = (len(sentences) for sentences in marked_sets().values())
    return rf"""
**Coreference** (Clark et al. 2019, section 4.3): a head picks, of the nouns that are marked for a
pronoun, the one that gets most of its attention (pieces of a noun added up, those of a pronoun
averaged; a tie is wrong; a model that reads left to right chooses among the nouns before). Two sets
of sentences were written and marked by one hand for this project. In the **minimal pairs**
({pairs} sentences) two nouns agree with the pronoun in gender, number and animacy, and one changed
word makes the other noun the right one: "The nail would not go into the plank, for it was too
*blunt*" and "*hard*". Any rule that goes by position, by the nouns or by grammar is right for half
of them. A model that reads left to right gets only the pairs whose word stands before the pronoun.
In the {sample} marked sentences of the **sample corpus** nouns differ as they do in stories, also
in gender and number.

Intervals are of {RESAMPLES:,} resamples of the sentences, pairs kept together. The best of many
heads is also the luckiest, so the best one is chosen on every other sentence (or pair) and judged
on the rest, and the other way round. A head **beats** the rules if its differences to them are
above $q$ standard errors, where $q$ is what the largest studentized difference of all heads to both
rules stays below in 95 % of the resamples (Romano and Wolf 2005).
"""
