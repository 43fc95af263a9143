"""Examples that set the patterns page's controls, and the mathematics behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.head_classes import CLASSES
from core.analysis.sample_corpus import Sentence, sample_corpus
from core.ui.patterns.wording import CLASS_NAMES, head_name, number
from core.ui.presets import Preset, show

if TYPE_CHECKING:
    from core.ui.patterns.found import Found

_LEAVES = {"text": "leaves fall in autumn", "pair": "autumn is marked by colorful foliage"}


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
            "The same heads on the sample corpus: which classes stay when there are enough tokens?",
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
            "Which heads look from a pronoun to its noun, and do they beat the nearest noun?",
            {"part": "pronouns", "source": "corpus"},
        ),
        Preset(
            "Twins",
            f"Which heads do the same as {found.name}? Near points attend alike.",
            {"part": "alike"},
        ),
    ]


def _marked() -> list[Sentence]:
    return [sentence for sentence in sample_corpus() if sentence.mentions]


def show_mathematics() -> None:
    """The definitions, and where they come from."""
    with st.expander("The mathematics"):
        st.markdown(
            rf"""
A pattern is a set $P$ of pairs of a query $i$ and a key $j$. Let $T$ be the tokens that have such a
pair which the model permits. The **score** of a head with attention $\alpha$, and the score of an
**even head**, which gives the same weight to each of the $n_i$ keys that token $i$ may see, are

$$
s = \frac{{1}}{{|T|}} \sum_{{i \in T}} \ \sum_{{j:\,(i,j) \in P}} \alpha_{{ij}},
\qquad
s_0 = \frac{{1}}{{|T|}} \sum_{{i \in T}} \frac{{|\{{j : (i,j) \in P\}}|}}{{n_i}} .
$$

On 13 tokens $s_0$ is 0.08 for the token before, and more for patterns of several tokens: chance is
not small, so it stands beside every score. In a model that reads left to right only $j \le i$
counts. **Delimiters** are special tokens, "." and "," (Clark et al. 2019, section 3, as their code
counts them). **Broad** heads have a high mean **entropy**
$\frac{{1}}{{|T|}}\sum_i H(\alpha_i) / \ln n_i$, relative so that texts of any length compare.
**Induction** (Olsson et al. 2022) is measured on random sequences of 50 tokens that stand twice,
whatever the text: the attention from each token of the second copy to the one after its first copy.

A head is named by the narrowest pattern whose **bar** $b = \max(\text{{threshold}}, s_0)$ it
exceeds, in this order: {", ".join(CLASS_NAMES[kind] for kind in CLASSES)}.
For "broad" the bar is the threshold alone, since an even head has the largest entropy there is. Its
**confidence** is $(s - b) / (1 - b)$: 0 at the bar, 1 when all attention follows. Thresholds of 0.5
(previous, next), 0.6 (delimiters) and 0.78 (broad) follow Clark et al. 2019; 0.5 for the others is
this project's choice.

On the **corpus** scores are means over the tokens of all sentences. Sentences are drawn anew, with
replacement, 1,000 times (Efron and Tibshirani 1993; seed fixed): the interval holds the middle
95 % of the scores, the **stability** is the share of draws in which the class is the same.

**Distance of two heads**, averaged over tokens, with $m = (\alpha + \beta)/2$ (Endres and
Schindelin 2003):

$$
d(\alpha, \beta) = \frac{{1}}{{n}} \sum_i \sqrt{{H_2(m_i) - \tfrac12 H_2(\alpha_i)
- \tfrac12 H_2(\beta_i)}} .
$$

The map is metric multidimensional scaling of these distances (SMACOF from the classical solution;
Clark et al. 2019, section 6, draw such a map). Its **stress** is
$\sqrt{{\sum (d - \hat d)^2 / \sum \hat d^2}}$, with $\hat d$ the distances drawn (Kruskal 1964).

**Coreference** (Clark et al. 2019, section 4.2): in {len(_marked())} sentences of the corpus
pronouns, and the nouns they could stand for, are marked. A head resolves a pronoun when of these
nouns the right one gets most of its attention (pieces of a noun added up, those of a pronoun
averaged; a model that reads left to right chooses among the nouns before). The intervals are
Wilson's (1927), of one head: the best of many is also the luckiest. Candidates often differ in
gender or number, so that agreement alone solves some; a tie between nouns counts as wrong.

**Rollout** (Abnar and Zuidema 2020): with $\bar\alpha_l$ the mean over the heads of layer $l$,

$$
R = \tilde\alpha_L \cdots \tilde\alpha_2\,\tilde\alpha_1,
\qquad \tilde\alpha_l = \tfrac12 \bar\alpha_l + \tfrac12 I .
$$

The identity stands for the residual connection. Rollout takes attention for the flow of
information, which it is only in part: values and the layers between are left out.
"""
        )
