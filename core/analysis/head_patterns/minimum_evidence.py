"""How much a text must hold before anything is said about a head.

The share of heads named by a pattern other than "broad", of 20 networks with random weights in the
shape of bundled/minilm and 20 in that of bundled/gpt2-novels (standard deviations of 0.02 to 0.3),
6 texts of each length:

    tokens      6     8    10    12    16    24    48   128
    as minilm  7.4   5.1   3.8   3.4   2.3   1.9   1.4   0.7  %
    as gpt2   29.7  15.4   6.3   3.3   1.7   0.8   0.1   0.0  %
"""

from __future__ import annotations

# Below, more than about one head in twenty is named by accident; the shortest demonstration of this
# project, "Oh, this book? I've enjoyed it.", has 13 tokens, or 12 without special tokens.
MIN_TOKENS = 12
# Of one pattern: "same token" says nothing where one word occurs twice, which makes 2 query tokens.
# Of the random heads 3.3 % passed for "same token" on 3 query tokens and 1.4 % on 5, 0.5 % on 6;
# for "previous token" 9.2 %, 3.0 % and 1.5 %.
MIN_QUERY_TOKENS = 6


def too_short(tokens: float) -> bool:
    """Whether a text of so many tokens, special ones counted, is too short to say."""
    return tokens < MIN_TOKENS
