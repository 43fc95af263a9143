"""How much a text must hold before anything is said about a head.

The share of heads named by a pattern other than "broad", of 20 networks with random weights in the
shape of bundled/minilm and 20 in that of bundled/gpt2-novels (standard deviations of 0.02 to 0.3),
6 texts of each length:

    tokens      6     8    10    12    16    24    48   128
    as minilm  7.4   5.1   3.8   3.4   2.3   1.9   1.4   0.7  %
    as gpt2   29.7  15.4   6.3   3.3   1.7   0.8   0.1   0.0  %

The larger the weights, the more: with 0.02 and 0.05, as training begins, none on 8, 12 or 48
tokens; with 0.3, as minilm 12.8, 10.0 and 4.3 %, as gpt2 28.1, 7.6 and 0.0 %.
"""

from __future__ import annotations

# Below, more than about one head in twenty is named by accident; the shortest demonstration of this
# project, "Oh, this book? I've enjoyed it.", has 13 tokens, or 12 without special tokens.
MIN_TOKENS = 12


def too_short(tokens: float) -> bool:
    """Whether a text of so many tokens, special ones counted, is too short to say."""
    return tokens < MIN_TOKENS
