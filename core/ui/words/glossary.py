"""What the words on the pages mean, each in a sentence or two: the same wherever one is met."""

from __future__ import annotations

from typing import Final

TERMS: Final = {
    "token": "A piece of text that the model reads as one: a word, part of a word, or a mark.",
    "attention": "How much one token takes from each other token: shares that add up to 1.",
    "layer": "One of the steps that a model is built of, one after the other. Each has its own"
    " heads, and reads what the layer before it wrote.",
    "head": "One of the parts of a layer that attend side by side, each in its own way.",
    "query": "What a token looks for: a vector that is compared with the keys of all tokens.",
    "key": "What a token offers to those that look: a vector that queries are compared with.",
    "value": "What a token hands over where it is attended to: a vector.",
    "row": "The attention of one query token: what it gives to every key token, 1 in all.",
    "column": "The attention that one key token gets, from every query token.",
    "score": "How well a query and a key fit, before softmax: their scaled dot product.",
    "softmax": "Turns the scores of a row into shares: positive numbers that add up to 1.",
    "[CLS]": "A special token that BERT puts before every text. Many heads rest on it when they"
    " have nothing to look for.",
    "[SEP]": "A special token that ends a text, or stands between two.",
    "special token": "A token that the model adds and nobody typed, such as [CLS] or [SEP].",
    "pair": "A second sentence for models that read two: then one sentence can attend to the"
    " other.",
    "sink": "A token that takes much of a head's attention, whatever it means.",
    "uniform baseline": "The attention of a head that looks at all tokens alike: 1 divided by"
    " their number.",
    "head pattern": "What a head does by rule, such as looking at the token before.",
    "patch": "A square of the image, which the model reads as one token. r2c5 is the patch in row 2"
    " and column 5.",
    "CLS": "A token before the patches, which stands for the whole image: what it has gathered at"
    " the end is what the image is classified by.",
    "register": "A token that is no part of the image, trained to give the model room for what"
    " belongs to the whole image. Without registers, odd patches take that part.",
    "faithfulness": "How much of a relation between vectors is left in a picture of them.",
    "rollout": "Attention followed through all layers, from the last one down to the patches.",
    "PCA": "Principal component analysis: the plane in which points keep most of their spread.",
}
OF_IMAGES: Final = {"token": "patch", "[CLS]": "CLS", "special token": "register"}
