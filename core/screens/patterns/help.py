"""Examples that set the patterns page's controls, and the mathematics behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.analysis.coreference.grouped import RESAMPLES
from core.analysis.corpus.sample import marked_sets
from core.analysis.head_patterns.minimum_evidence import MIN_QUERY_TOKENS, MIN_TOKENS
from core.analysis.head_patterns.naming import NAMING
from core.analysis.layers import head_name
from core.ui.corpus_walk import reads_corpora
from core.ui.presets import Preset
from core.ui.words.numbers import number
from core.ui.words.pattern_words import has_meaning, pattern_names, words_for

if TYPE_CHECKING:
    from core.model import Trace
    from core.screens.patterns.view import View

_LEAVES = {"text": "leaves fall in autumn", "pair": "autumn is marked by colorful foliage"}


def examples(view: View) -> list[Preset]:
    """Settings worth seeing with this kind of attention."""
    if view.trace.patches is not None:
        return _of_patches(view)
    if view.trace.source is not None:
        return _of_keys(view)
    every = _of_one_text(view)
    return every if reads_corpora(view.trace) else [each for each in every if not _reads(each)]


def _reads(preset: Preset) -> bool:
    """Whether a preset is about a corpus, or two sentences: none of that is for a decoder."""
    state = preset.state
    return state.get("source") == "corpus" or "marked" in state or "two" in state


def _of_keys(view: View) -> list[Preset]:
    """Of cross attention."""
    presets = [
        _strongest(
            view,
            "first",
            "Resting on the first token",
            "gives {} to the first token of your text: see the first column.",
        )
    ]
    if view.table["sep"].notna().any():
        ends = "gives {} to the special tokens that close your text: see their columns."
        presets.append(_strongest(view, "sep", "Resting on the end", ends))
    return [
        *presets,
        Preset(
            "All heads at once",
            "The mean over all heads of all layers: which of your words does the decoder look at?",
            {"part": "one", "whole": "mean", "beside": "broad"},
        ),
        _twins(view),
    ]


def _of_patches(view: View) -> list[Preset]:
    """Of an image."""
    first = words_for(view.trace)["first"].where
    return [
        _strongest(
            view,
            "previous",
            "Looking to the left",
            "gives {} to the patch to the left: see the line below the diagonal.",
        ),
        _strongest(view, "first", "Resting", f"gives {{}} to {first}: see the first column."),
        _strongest(view, "broad", "The whole image", "spreads to {} of the maximum entropy."),
        Preset(
            "Everything at once",
            "Rollout of all layers: what is left when half of every layer is the residual?",
            {"part": "one", "source": "text", "whole": "rollout", "beside": "self"},
        ),
        _twins(view),
    ]


def _twins(view: View) -> Preset:
    return Preset(
        "Twins",
        f"Which heads do the same as {view.name}? Near points attend similarly.",
        {"part": "alike"},
    )


def _of_one_text(view: View) -> list[Preset]:
    return [
        _strongest(
            view,
            "previous",
            "Looking back by one",
            "gives {} to the token before: see the line below the diagonal.",
        ),
        _strongest(
            view,
            "first",
            "Resting on the first token",
            "gives {} to the first token: see the first column.",
        ),
        Preset(
            "One text is little",
            "The same heads on the sample corpus: which patterns hold up with enough tokens?",
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
            "What “it” refers to",
            "Which heads look from a pronoun to its noun, and does any of them heed the meaning?",
            {"part": "pronouns", "marked": "pairs"},
        ),
        _twins(view),
    ]


def _strongest(view: View, pattern: str, title: str, sentence: str) -> Preset:
    """The head with the highest score, beside the pattern."""
    score = NAMING[pattern].score
    number_of_head = int(view.table[score].fillna(-1).to_numpy().argmax())
    layer, head = divmod(number_of_head, view.trace.shape[1])
    share = number(float(view.table[score].iloc[number_of_head]))
    return Preset(
        title,
        f"{head_name(view.trace, layer, head)} {sentence.format(share)}",
        {
            "part": "one",
            "whole": "head",
            "beside": pattern,
            "layer": str(view.trace.numbers[layer]),
            "head": str(head + 1),
        },
    )


def mathematics(trace: Trace) -> str:
    """The definitions, and where they come from, of what this kind of attention has."""
    if trace.source is not None:
        return _CROSS + _patterns(trace) + _ON_TEXTS + _DISTANCES
    if trace.patches is not None:
        return _patterns(trace) + _ON_IMAGES + _DISTANCES + _ROLLOUT
    return _patterns(trace) + _ON_TEXTS + _DISTANCES + _coreference() + _ROLLOUT


_CROSS = r"""
**In cross attention** $i$ is a token that the decoder reads, $j$ one of the text that the encoder
reads, and every $j$ is permitted: $n_i$ is the number of tokens of your text. Of the patterns below
those remain whose pairs depend on $j$ alone, and the entropy.
"""


def _patterns(trace: Trace) -> str:
    names = pattern_names(trace)
    every = trace.patches is None  # also in cross attention: it is the same list
    named = [names[name] for name, each in NAMING.items() if every or has_meaning(trace, each)]
    return rf"""
A pattern is a set $P$ of pairs of a query token $i$ and a key token $j$. Let $T$ be the query
tokens that have such a pair which the model permits, and $n_i$ the number of keys that token $i$
may see. The **score** of a head with attention $\alpha$, and its **uniform baseline**, are

$$
s = \frac{{1}}{{|T|}} \sum_{{i \in T}} \ \sum_{{j:\,(i,j) \in P}} \alpha_{{ij}},
\qquad
s_0 = \frac{{1}}{{|T|}} \sum_{{i \in T}} \frac{{|\{{j : (i,j) \in P\}}|}}{{n_i}} .
$$

On $n$ tokens $s_0$ is $1/n$ for the token before (0.08 on 13), and more for patterns of several
tokens, so every score stands beside it. In a model that reads left to right only $j \le i$ counts.

A head is named by the most specific pattern that it clearly follows: the first of these whose
score exceeds $b = \max(\text{{threshold}}, s_0)$ over at least {MIN_QUERY_TOKENS} query tokens:
{", ".join(named)}. For "broad" $b$ is the threshold alone, as
uniform attention has the maximum entropy. How far a score is **above the threshold** is
$(s - b) / (1 - b)$: 0 at the threshold, 1 for all attention.
"""


_ON_IMAGES = rf"""
**On images** a left or right neighbour is a patch of the same row of the image; tokens that are no
patches are neighbours of none. Thresholds are those of texts: 0.5 for a neighbour and 0.6 for
registers, which Clark et al. 2019 use for the previous and the next token and for [SEP], and 0.78
of the maximum entropy. Patterns of words, marks, sentences and repeated sequences have no meaning
for patches, and distance along the rows is no distance in the image: what heads follow there, and
how far they look, is measured on pages of their own. Under {MIN_TOKENS} tokens no pattern is named.
"""


_ON_TEXTS = rf"""
**What follows Clark et al. 2019, and what is ours.** They look at heads with more than half of
their attention on the previous or the next token; test [CLS], [SEP], and full stops and commas each
against 0.6 (their code); and call heads broad with an entropy above 3.8 nats on 128 tokens, which
is 0.78 of $\ln 128$. The thresholds here do the same. Ours are: broad as 0.78 of the maximum for a
text of any length, by the mean **relative entropy**
$\frac{{1}}{{|T|}}\sum_i H(\alpha_i) / \ln n_i$; [CLS] as the first token, at 0.5, as in models
without [CLS]; the sum of the three delimiters, which is shown but names no head; the other patterns
and their 0.5; and the minimum of {MIN_QUERY_TOKENS} query tokens.
**Induction** (Olsson et al. 2022) is measured on random sequences of 50 tokens repeated twice,
whatever the text: the attention from each token of the second copy to the one after its first copy.

**Too short to say.** Networks with random weights follow nothing, yet some of their heads pass a
threshold by accident. In 20 of the shape of the bundled MiniLM and 20 of that of the bundled GPT-2
a pattern other than "broad" named 5 % and 15 % of the heads on 8 tokens, 3 % of both on 12, and
1 % and none on 48 or more. So under {MIN_TOKENS} tokens no pattern is named.

On the **corpus** scores are means over the tokens of all sentences. The sentences are resampled
with replacement, 1,000 times (Efron and Tibshirani 1993; fixed seed): the interval holds the middle
95 % of the scores; **stability** is the share of resamples with the same pattern.
"""


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


def _coreference() -> str:
    pairs, sample = (len(sentences) for sentences in marked_sets().values())
    return rf"""
**Coreference** (Clark et al. 2019, section 4.3): of the nouns marked for a pronoun, a head picks
the one that gets most of its attention (pieces of a noun summed, those of a pronoun averaged; a tie
is wrong; a model that reads left to right chooses among the nouns before). One person wrote and
marked two sets of sentences for this project. In the **minimal pairs** ({pairs} sentences) two
nouns agree with the pronoun in gender, number and animacy, and one changed word makes the other
noun the right one: "The nail would not go into the plank, for it was too *blunt*" and "*hard*". Any
rule that goes by position, by the nouns or by grammar is right for half of them. A model that reads
left to right gets only the pairs whose word precedes the pronoun. In the {sample} marked sentences
of the **sample corpus** nouns differ as they do in stories, in gender and number too.

Intervals come from {RESAMPLES:,} resamples of the sentences, pairs kept together. The best of many
heads is also the luckiest, so the best one is chosen on every other sentence (or pair) and judged
on the rest, and vice versa. A head **beats** the rules if its differences from them exceed $q$
standard errors, where $q$ is what the largest studentized difference of all heads from both rules
stays below in 95 % of the resamples (Romano and Wolf 2005).
"""


_ROLLOUT = r"""
**Rollout** (Abnar and Zuidema 2020): with $\bar\alpha_l$ the mean over the heads of layer $l$,

$$
R = \tilde\alpha_L \cdots \tilde\alpha_2\,\tilde\alpha_1,
\qquad \tilde\alpha_l = \tfrac12 \bar\alpha_l + \tfrac12 I .
$$

The identity stands for the residual connection. Rollout treats attention as the flow of
information, which is only part of it: values and the layers between are left out.
"""
