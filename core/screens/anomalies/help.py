"""Settings worth seeing on this text, and the mathematics behind the anomaly page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.analysis.anomalies import hollow_head, max_row
from core.screens.anomalies.wording import first_token, longer_side, row_name
from core.ui.presets import Preset

if TYPE_CHECKING:
    import pandas as pd

    from core.analysis.anomalies import Row
    from core.model import Trace


def examples(trace: Trace, table: pd.DataFrame) -> list[Preset]:
    """Views worth seeing of what was measured; cross attention has no hidden states."""
    resting, hollow = max_row(table, "first_attention"), hollow_head(table)
    first = first_token(trace)
    presets = [
        Preset(
            "Attention, and what it moves",
            f"{row_name(hollow)} puts {hollow['first_attention']:.2f} on {first}, which"
            f" accounts for {hollow['first_contribution']:.2f} of what the head moves.",
            _open(hollow, "moved", latent=False),
        ),
        Preset(
            "What lies beneath the sink",
            f"{row_name(resting)} rests most on {first}. Hide it: where does the rest of"
            " its attention go?",
            _open(resting, "moved", latent=True),
        ),
        Preset(
            "Layer by layer",
            f"In which layers do heads rest on {first}, and in which do they not?",
            {"anomaly": "first", "counted": "attention"},
        ),
        Preset(
            "Massive activations",
            "Does one token's hidden state dwarf the others, and from which layer on?",
            {"anomaly": "states", "size": "relative"},
        ),
    ]
    if trace.patches is not None:
        odd = "Is the state of some patch much longer than the others', and who attends to it?"
        presets.insert(0, Preset("Odd patches", odd, {"anomaly": "odd"}))
    if table["norm_log_ratio"].notna().any():
        unequal = max_row(table, "norm_log_ratio")
        sentence = f"{row_name(unequal)}: {longer_side(unequal)}. At every position?"
        presets.insert(-1, Preset("The most unequal lengths", sentence, _open(unequal, "norms")))
    return [each for each in presets if trace.source is None or each.state["anomaly"] != "states"]


def _open(row: Row, part: str, **more: bool) -> dict[str, str | bool]:
    return {"anomaly": part, "layer": str(row["layer"]), "head": str(row["head"]), **more}


def mathematics(trace: Trace) -> str:
    """The definitions, and where they come from, of this kind of attention."""
    if trace.patches is not None:
        return _MATHEMATICS + _ODD
    return _MATHEMATICS if trace.source is None else _CROSS + _MATHEMATICS


_CROSS = r"""
**In cross attention** queries $q_i$ belong to the $n$ tokens that the decoder reads, keys $k_j$ and
values to the $m$ tokens of your text, all of which are permitted. The first token, sinks and null
attention are of your text, and the uniform baseline of one of its tokens is $1/m$. As no query
shares its token with a key, separability leaves out only the vector that is judged, and the shares
of queries and keys count alike. No token is previous or next: narrow heads have low entropy
wherever they look. There are no hidden states between queries and keys to measure.
"""


_MATHEMATICS = r"""
**Norm disparity** of a head is $\overline{|q|} - \overline{|k|}$ (AttentionViz, Yeh et al. 2023,
section 5.1.1), and $\log_2 (\operatorname{med}|q| / \operatorname{med}|k|)$, which does not depend
on the model's units.

**Attention determines** its own weights, their entropy, and the values they carry. It does not
determine the lengths and clouds of queries and keys: $\langle c\,q_i, k_j / c\rangle = \langle q_i,
k_j\rangle$ for every $c \neq 0$, so the log ratio can be moved to any number.

**Key translation** adds $a = \bar q - \bar k$ to every key, which changes no attention weight and
makes the centroids coincide. Spread and shape still tell the clouds apart: **separability** is the
share of the $2n$ vectors $x$ for which

$$
\frac{1}{n-1}\sum_{y} |x - y| - \tfrac12\,\overline{|y - y'|}
$$

is smaller for their own cloud than for the other, the token of $x$ left out of both clouds and of
$a$ (energy distance, Székely and Rizzo 2013).

**What a head moves.** It gives token $i$ the vector $\sum_j a_{ij} f(v_j)$, $f(v) = v W_O$, of
which $|a_{ij} f(v_j)|$ comes from $j$ (Kobayashi et al. 2020). So token $j$ accounts for

$$
\frac{\sum_i |a_{ij} f(v_j)|}{\sum_{i,j'} |a_{ij'} f(v_{j'})|}
$$

of what the head moves. The matrix is scaled to the same sum as attention, $n$.

**Null attention** is $\sum_j \bar a_j \max\bigl(0, 1 - |f(v_j)| / \operatorname{med}_{j'}
|f(v_{j'})|\bigr)$ with $\bar a_j$ the mean attention to $j$: our measure of what Vig and Belinkov
(2019) and Kobayashi et al. (2020) describe. As $\sum_j \bar a_j = 1$, it is 1 less the mean length
of the attended values, each counted up to the median and in units of it.

**The uniform baseline** of the first of $n$ tokens is $1/n$; in a causal model token $i$ (from 0)
sees $i + 1$ tokens, so it is the mean of $1/(i+1)$.

**Entropy collapse**: the mean over $i$ of $H(a_i) / \ln n_i$, $n_i$ the keys that $i$ may see
(Zhai et al. 2023, of training; here it is a measure of one text). **Rank** is the stable rank
$\lVert A\rVert_F^2 / \lVert A\rVert_2^2$, the effective rank of $A^\top A$ (Vershynin 2018): 1
where all tokens attend the same way, $n$ where each looks at a token of its own.

**Massive activations** (Sun et al. 2024): numbers of a hidden state beyond 100 that are about 1,000
times the median magnitude of their layer.

**Robust z** is $0.6745\,(x - \operatorname{med}) / \operatorname{MAD}$ over all heads of the model
(Iglewicz and Hoaglin 1993); where the MAD is 0, $(x - \operatorname{med})$ over 1.2533 times the
mean absolute deviation.
"""
_ODD = r"""
**Odd patches**: with $|x_p|$ the length of the state of patch $p$ after the last layer, a patch is
odd when its robust z over the patches of the image is above 3.5, on the long side alone. The share
of attention that goes to a set $O$ of tokens is $\frac{1}{n}\sum_i \sum_{j \in O} a_{ij}$, over all
$n$ tokens $i$; uniform attention gives it $|O| / n$. Darcet et al. 2024 find such patches in large
models, where there is little to see in the image, and that registers take their part.
"""
