"""What pages say of what they show: a link, and sentences that are true of it."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlencode

import pytest

from tests.opening import open_app
from tests.pages.conftest import BOOK, PAIR, alerts, said
from tests.tools.bench.models import sentence_of

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("small_corpora")]

BOOKS = "the book and "
TWO = urlencode(PAIR)
NOVELS = urlencode({"model": "bundled/gpt2-novels", "text": BOOK})
CAPYBARA = "text=The brown capybara is sleeping now.&layer=1"
TURNED = f"query_key?{CAPYBARA}&from=3&to=4,5,6"  # brown; cap ##y ##bara
WHERE = "the strongest key of a chosen source is a chosen target: here"
EDGE = f"effect?part=away&take=edge&layer=4&head=2&{NOVELS}"  # that a causal model forbids
MOVED = "anomalies?anomaly=moved&layer=3&head=8"

NO_WORDS = "This text has no two content words that stand apart."
NOT_KNOWN = "Not in this model's vocabulary: "

SAID: dict[str, tuple[str, ...]] = {
    "home?text=1 2 3 4 5 6 7 8 9 10": (NO_WORDS,),
    f"home?text={'word ' * 700}": (NO_WORDS,),
    "home?text=a 🙂 is not a 🍕 at all": (f"{NOT_KNOWN}`🙂` and `🍕`; the model sees `[UNK]`",),
    "vectors?text=I like 🙂 and you like 🙂 too": (f"{NOT_KNOWN}`🙂`; the model sees `[UNK]`",),
    "home?model=bundled/gpt2-novels&text=I like 🙂": (),
    "heatmap": ("Rows add up to 1; a column",),
    "heatmap?layer=999&head=13": (
        "bundled/minilm has 6 layers: `mean`, `1`, `2`, `3`, `4`, `5`, `6`",
        "bundled/minilm has 12 heads a layer",
    ),
    "heatmap?head=max": ("Rows add up to 1.",),
    "heatmap?hide=1": ("Special tokens hidden: 2.",),
    "heatmap?values=scores&head=3": ("softmax turns a row of one head, special",),
    "head_view?weigh=value": ("attention times the length of the value; the widest",),
    "head_view?weigh=transformed": ("the value after the output projection",),
    f"head_view?text={sentence_of(80)}": ("Lines with an end out of view are fainter",),
    "model_view": ("6 × 12 heads of 13 × 13 tokens.", "Lines go from the token that attends"),
    "model_view?style=tiles": ("Rows attend, columns are attended to",),
    f"model_view?text={BOOKS * 20}": ("Drawn: the strongest 500 of 3,844 in a tile, 2,000 when",),
    f"model_view?text={BOOKS * 80}": ("is the largest of 2 × 2 weights",),
    "model_view?hide=1": ("Special tokens hidden: 2.",),
    f"model_view?{TWO}&filter=ab": ("heads of 6 × 7 tokens",),
    f"model_view?{TWO}&filter=ba&hide=1": ("heads of 6 × 4 tokens",),
    "model_view?pattern=previous": ("Previous token: 1 of 72 heads** with", "0.08): L1 H3 1.00."),
    f"model_view?{TWO}&pattern=next": ("Next token: no head**", "The closest is L2 H9 0.47."),
    "model_view?pattern=sentence": ("The other sentence** cannot be measured here",),
    "neuron_view?text=" + "book " * 200: ("Lines with both ends out of view",),
    f"neuron_view?{TWO}&query=2&filter=bb": (
        "This link asks for query `2`. The tokens of these pairs are",
    ),
    "vectors": ("Arrows are attention rows (mean over heads)", "of two layers do not compare."),
    "vectors?text=book": ("type at least two words",),
    "vectors?text=" + "one two three four five six seven eight " * 4: ("Only the longest arrows",),
    "vectors?pick=5": ("**In layer 3, `book` attends most like `oh`**: cosine 0.88",),
    "vectors?pick=2,3,12": ("**In layer 6, `oh` and `.` attend most alike**: cosine 0.97",),
    "vectors?show=one layer&layer=4": ("**`it` and `book` in layer 4**: cosine −0.29",),
    "vectors?draw=keys&pick=5": ("`book` has keys most like those of `", "(all heads together)"),
    "vectors?head=median": ("Arrows are attention rows (median over heads)",),
    "vectors?norm=0": ("pairs within 18° in a plane, **",),
    "vectors?draw=values&head=3&show=one layer": ("Arrows are values (head 3)",),
    "vectors?draw=hidden states": ("hidden states (as the layer receives them)",),
    "projection?part=to": (
        "**L4 H2 gives 0.93 of `it`'s attention to `book`**, the most of any",
        "gives `book` 0.08 of `it`'s",
    ),
    "projection": ("plane keeps ", "of the variance", "% on average"),
    "projection?text=x": ("type a sentence with two different words",),
    "projection?a=book&b=book": ("**In every layer `book` and `book` attend to the same words",),
    "query_key?part=heads&distance=cosine": ("c by: Pearson, all pairs.", "in 0 fewer than"),
    "query_key?part=heads&criterion=weighted": ("c by: weighted (AttentionViz).", "in 72 fewer"),
    "query_key?part=heads": (
        "Euclidean distance, normalized, with the row-centred scores",
        "helped **10 of 72** heads by correlation, **7** by",
    ),
    f"query_key?part=search&{CAPYBARA}": ("Best: a = −0.5, c = −2", "flat along c", "near $-1$"),
    "query_key?part=search&criterion=weighted": ("carry weight (fewer than 30): c stays 1",),
    "query_key?part=search&distance=cosine": ("c changes nothing",),
    "query_key?hide=1&head=2&layer=1": ("lines lead to hidden tokens",),
    f"{TURNED}&head=4": (f"{WHERE} `brown` → `##bara` 0.264. Other chosen pairs are dashed.",),
    f"{TURNED}&head=1": (f"{WHERE} none.",),
    "images?head=2": ("pinker",),
    "images?head=max&direction=to&only_patches=1": ("greener",),
    "patterns": ("Letters are the most specific pattern", "13 tokens: a hint."),
    "patterns?score=previous": ("The uniform baseline is 0.08.",),
    "patterns?score=entropy": ("The uniform baseline is 1.00.",),
    "patterns?score=distance": ("The uniform baseline is 4.31 tokens.",),  # (n² − 1) / 3n
    "patterns?score=same_token": ("Not defined here. No token occurs twice in this text.",),
    "patterns?part=one&whole=rollout": ("**0.65** to the first token: the mean over 13 of 13",),
    "patterns?part=one&whole=mean": ("Mean of everything",),
    "anomalies?flag=norm disparity": ("**None of 72 heads has norm disparity** on this text",),
    "anomalies?flag=first-token sink": ("**42 of 72 heads have first-token sink** on this text",),
    "anomalies?flag=column sink&source=corpus": ("(5 sentences, ", ": it cannot be measured here"),
    f"anomalies?{NOVELS}": ("is unusual on this text: L1 H3**, for its null attention (with",),
    "anomalies?anomaly=states": ("**No massive activation on this text**",),
    MOVED: ("puts **0.85** on the first token, `[CLS]`, which accounts for **0.08**",),
    "effect?part=writes": ("% of the length of the sentence vector",),
    f"{EDGE}&cell=2,4": ("The edge had a weight of 0;", "changes by 0 (nats), no more than by"),
    f"{EDGE}&cell=1,1": ("A query would be left without any key to attend to.",),
    f"{MOVED}&latent=1": ("The first token is hidden, and with it 0.85 of all attention",),
}
# Said of what is shown then, and of nothing else.
ONLY = {
    "home": NOT_KNOWN,
    "model_view": "Drawn: the strongest",
    "vectors": "Only the longest arrows",
    "effect": "After each layer:",
}


@pytest.mark.parametrize("address", SAID)
def test_what_is_said_under_a_picture_is_true_for_what_is_shown(address: str) -> None:
    page, _, link = address.partition("?")
    app = open_app(page, **dict(parse_qsl(link)))
    text = f"{said(app)}\n{alerts(app)}"
    for sentence in SAID[address]:
        assert sentence in text
    assert not re.search(r"\bnan\b", text)
    if page in ONLY:
        expected = BOOKS in link or any(ONLY[page] in sentence for sentence in SAID[address])
        assert (ONLY[page] in text) == expected
