"""The pages: their sections, questions, and whether they show texts, images or both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.model.catalog import Reads


@dataclass(frozen=True)
class Page:
    """One page: its file ``pages/<name>.py``, whose name is its address, and its question.

    Attributes
    ----------
    reads : what it can show the attention of.
    why_not : of a page for texts alone, why it shows no image.
    instead : of a page for one of the two, the page that comes nearest for the other.
    of_image : the question where an image is shown, if it is another one.
    """

    name: str
    title: str
    question: str
    reads: tuple[Reads, ...] = ("text", "image")
    why_not: str = ""
    instead: str = ""
    of_image: str = ""

    @property
    def path(self) -> str:
        """The file, relative to app.py."""
        return f"pages/{self.name}.py"


SECTIONS: dict[str, tuple[Page, ...]] = {
    "": (
        Page(
            "home",
            "Headscope",
            "See how a transformer pays attention to your sentence.",
            ("text",),
            "Home begins with a sentence.",
            "head_view",
        ),
    ),
    "One sentence": (
        Page(
            "heatmap",
            "Heatmap table",
            "How much does each token attend to each other token?",
            of_image="How much does each patch attend to each other patch?",
        ),
        Page(
            "vectors",
            "Vector grid",
            "Which tokens attend in the same way, layer by layer?",
            ("text",),
            "The arrows of a hundred patches would cover each other, and patches have no names to"
            " read them by.",
            "query_key",
        ),
        Page(
            "projection",
            "Projection",
            "At which layer does one token point along another?",
            ("text",),
            "This page compares two words.",
            "query_key",
        ),
        Page(
            "query_key",
            "Queries and keys",
            "Are queries near the keys they attend to, and can they be moved closer?",
        ),
        Page(
            "head_view",
            "Head view",
            "Which tokens does each head link, and how strongly?",
            of_image="Which patches does each head link, and how strongly?",
        ),
        Page(
            "model_view",
            "Model view",
            "What do all heads of all layers do with this text?",
            of_image="What do all heads of all layers do with this image?",
        ),
        Page(
            "neuron_view",
            "Neuron view",
            "Which dimensions make one token attend to another?",
            of_image="Which dimensions make one patch attend to another?",
        ),
    ),
    "One image": (
        Page(
            "images",
            "Patches",
            "Which patches of an image does each patch attend to?",
            ("image",),
            instead="head_view",
        ),
        Page(
            "class_attention",
            "What CLS sees",
            "Which patches does the token that stands for the whole image attend to?",
            ("image",),
            instead="patterns",
        ),
        Page(
            "patch_space",
            "How heads sort patches",
            "Do queries find keys of like hue, like brightness, or like place?",
            ("image",),
            instead="query_key",
        ),
    ),
    "Heads": (
        Page("patterns", "Head patterns", "Which heads follow a pattern, and how reliably?"),
        Page(
            "anomalies",
            "Anomaly views",
            "Which heads stand out, and does their attention move anything at all?",
        ),
    ),
    "A corpus": (
        Page(
            "atlas",
            "Atlas",
            "What do queries and keys of every head look like over a corpus?",
        ),
    ),
}
PAGES = tuple(page for pages in SECTIONS.values() for page in pages)
TEXT_PAGES = tuple(page for page in PAGES if "text" in page.reads)


def find(name: str) -> Page:
    """The page of that name. Raises KeyError for a name that is not registered."""
    return {page.name: page for page in PAGES}[name]
