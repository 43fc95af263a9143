"""The numbers of a page as a few lines of Python that give them again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.analysis.head_patterns.naming import THRESHOLDS
from core.model.box import BOX

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Values = Mapping[str, Any]

_SUMMARIES = {"mean", "median", "max"}
_LONGEST = 1_024  # tokens that a page shows; a text of fewer characters has fewer
_SAMPLE = "from core.analysis.corpus.sample import sample_sentences"


def python_code(page: str, values: Values) -> str:
    """Code for a notebook that has the project's folder on its path.

    Parameters
    ----------
    page : the page's name.
    values : its controls by key, as links have them: "layer" and "head" count from 1.
    """
    model = f"model = load({values['model']!r})"
    if page == "atlas":
        return "\n".join(["from core.model import load", "", model, *_atlas(values)]) + "\n"
    if values.get("input") == "image":
        return "\n".join([*_image(values), *_PAGES.get(page, _all_attention)(values)]) + "\n"
    text, pair = values["text"], values.get("pair")
    second = f", pair={pair!r}" if pair and pair.strip() else ""
    lines = [
        "from core.model import load, trace_text",
        "",
        model,
        f"trace = trace_text(model, {text!r}{second}{_limit(text, pair)}{_target(values)})",
    ]
    if (kind := values.get("attention")) in {"decoder", "cross"}:
        lines.append(f'trace = trace.of_kind("{kind}")')
    return "\n".join([*lines, *_PAGES.get(page, _all_attention)(values)]) + "\n"


def _image(values: Values) -> list[str]:
    """The trace of an image of the box, or of a file that only the visitor has."""
    name, size = values["image"], values.get("side")
    in_box = name in BOX
    sides = f", size=({size}, {size})" if size else ""
    return [
        "from core.model import load, trace_image",
        "from core.model.box import open_box" if in_box else "from PIL import Image",
        "",
        f'model = load({values["model"]!r}, reads="image")',
        f"image = open_box({name!r})" if in_box else 'image = Image.open("your-image.png")',
        f"trace = trace_image(model, image{sides})",
    ]


def _limit(*texts: str | None) -> str:
    """The limit of a page's tokens where a text may reach it."""
    length = sum(len(text or "") for text in texts)
    return f", max_tokens={_LONGEST}" if length > _LONGEST - 3 else ""  # [CLS] and two [SEP]


def _target(values: Values) -> str:
    typed = (values.get("decoder") or "").strip()
    return f", target={typed!r}" if typed and values.get("attention") != "encoder" else ""


def _layer(values: Values) -> str:
    layer = str(values["layer"])
    return repr(layer) if layer in _SUMMARIES else f"trace.numbers.index({layer})"


def _head(values: Values) -> str:
    head = str(values["head"])
    return repr(head) if head in _SUMMARIES else str(int(head) - 1)


def _options(given: Mapping[str, object]) -> str:
    """Keyword arguments for those that are not off or empty."""
    return "".join(f", {name}={value!r}" for name, value in given.items() if value)


def _heatmap(values: Values) -> list[str]:
    weights = values.get("values", "attention") == "attention"
    options = {
        "values": "" if weights else "scores",
        "words": weights and values.get("words"),
        "hide_special": values.get("hide"),
        "renormalise": weights and values.get("hide") and values.get("renorm"),
    }
    place = f"{_layer(values)}, {_head(values)}{_options(options)}"
    return [
        "",
        "from core.analysis.attention_table import attention_table",
        "",
        f"table = attention_table(trace, {place})",
        "table.frame()  # query tokens down, key tokens across",
    ]


def _vectors(values: Values) -> list[str]:
    view, source = values.get("show", "all layers"), values.get("draw", "attention")
    summary = '"mean"' if source == "hidden states" else _head(values)
    options = {
        "heads": [int(number) - 1 for number in sorted(values.get("of") or [])],
        "keep_special": values.get("special"),
        "align": view == "play" or (view == "all layers" and values.get("align")),
        "components": 3 if view == "one layer" and values.get("space") else 0,
    }
    normalize = "" if values.get("norm", True) else ", normalize=False"
    return [
        "",
        "from core.analysis.vectors import layer_planes",
        "",
        f"planes = layer_planes(trace, {source!r}, {summary}{normalize}{_options(options)})",
        "planes.coordinates  # (layer, token, component)",
    ]


def _projection(values: Values) -> list[str]:
    return [
        "",
        "from core.analysis.attention_table import labels_of",
        "from core.analysis.pair_projection import project_pair",
        "",
        "labels = labels_of(trace.tokens)",
        f"a, b = labels.index({values['a']!r}), labels.index({values['b']!r})",
        "projection = project_pair(trace, a, b)",
        "projection.in_plane, projection.in_full  # signed length of a on b, (layer,) each",
    ]


def _query_key(values: Values) -> list[str]:
    layer, head = _layer(values), _head(values)
    a, c, steps = (values.get(key, default) for key, default in _RANGES.items())
    over = [f"np.linspace({-end:g}, {end:g}, {steps})" for end in (a, c)]
    return [
        "",
        "import numpy as np",
        "",
        "from core.analysis.normalization import grid_search, key_translation",
        "",
        f"queries, keys = trace.queries[{layer}], trace.keys[{layer}]  # (head, token, dim)",
        f"scores = trace.scores({layer}, {head})  # (query token, key token)",
        f"a = key_translation(queries[{head}], keys[{head}])  # (dim,)",
        f"search = grid_search(queries, keys, {', '.join(over)})  # .a .c .correlation",
    ]


_RANGES = {"a_range": 0.5, "c_range": 2.0, "steps": 10}


def _images(values: Values) -> list[str]:
    """The row or column of one token over the patches, in the layer and head on screen."""
    is_row = values.get("direction", "from") == "from"
    function = "attention_of_patch" if is_row else "attention_to_patch"
    held = values.get("patch", "none")
    lines = ["", f"from core.analysis.images import {function}"]
    if held == "none":
        lines.append("from core.analysis.images.colour import standing_out")
        place = "trace.patches.first + standing_out(trace.patches)"
    else:
        name = held if held.startswith("r") and held[1].isdigit() else f"[{held.upper()}]"
        place = f"next(each.position for each in trace.tokens if each.text == {name!r})"
    only = ", only_patches=True" if values.get("only_patches") else ""
    head = str(values["head"])
    weights = {
        "mean": f"maps.mean[{_layer(values)}]",
        "max": f"maps.maximum[{_layer(values)}]",
    }.get(head, f"maps.maps[{_layer(values)}, {_head(values)}]")
    return [
        *lines,
        "",
        f"token = {place}",
        f"maps = {function}(trace, token{only})",
        f"weights = {weights}  # (row, column) of patches",
    ]


def _patterns(values: Values) -> list[str]:
    moved = {name: values.get(f"min_{name}", usual) for name, usual in THRESHOLDS.items()}
    moved = {name: value for name, value in moved.items() if value != THRESHOLDS[name]}
    lines = ["", "from core.analysis.head_patterns import pattern_table"]
    if values.get("input") == "image":
        return [
            *lines,
            "",
            f"table = pattern_table(trace, {moved or None})  # a row for every head",
        ]
    lines.append("from core.analysis.head_patterns.induction import induction_scores")
    if values.get("source") == "corpus":
        lines += [_SAMPLE, "from core.model import trace_corpus"]
        measured = "trace_corpus(model, sample_sentences())"
    else:
        measured = "trace"
    return [
        *lines,
        "from core.model import trace_repeated",
        "",
        "induction = induction_scores(trace_repeated(model))",
        f"table = pattern_table({measured}, {moved or None}, induction)  # a row for every head",
    ]


def _anomalies(values: Values) -> list[str]:
    own = values.get("attention") not in {"encoder", "decoder", "cross"}
    similarity = "weight_similarity(model)" if own else "None"
    lines = [
        "",
        "from core.model.weights.output_projection import transformed_norms",
        *(["from core.model.weights.query_key import weight_similarity"] if own else []),
    ]
    if values.get("anomaly") == "odd":
        return [
            "from core.analysis.images import odd_patches",
            "",
            "odd = odd_patches(trace)  # .norms, .z, .odd, and .to_odd, (layer, head)",
        ]
    if values.get("source") != "corpus":
        return [
            *lines,
            "from core.analysis.anomalies import anomaly_table",
            "",
            "norms = transformed_norms(model, trace)  # |f(v)|, (layer, head, key token)",
            f"table = anomaly_table(trace, norms, {similarity})  # a row for every head",
        ]
    return [
        *lines,
        "from core.analysis.anomalies import corpus_table, measure_heads",
        _SAMPLE,
        "from core.model import trace_corpus",
        "",
        f"similarity = {similarity}",
        "texts = [",
        "    measure_heads(each, transformed_norms(model, each), similarity)",
        "    for each in trace_corpus(model, sample_sentences())",
        "]",
        "table = corpus_table(texts, trace.numbers, exact=True)  # a row for every head",
    ]


def _patch_space(values: Values) -> list[str]:
    layer, head = _layer(values), _head(values)
    if values.get("part") == "follow" and values.get("on") == "box":
        size = f", size=({values['side']}, {values['side']})" if values.get("side") else ""
        return [
            "",
            "from core.analysis.images import follow_images",
            "from core.model.box import BOX",
            "",
            f"traces = (trace_image(model, each.open(){size}) for each in BOX.values())",
            "table = follow_images(traces)  # a row for every head",
        ]
    return [
        "",
        "from core.analysis.images import follow_table",
        "from core.analysis.query_key.clouds import head_clouds",
        "from core.analysis.query_key.scaling import scale_head",
        "",
        f"layer, head = {layer}, {head}",
        *_place_lines(values),
        "table = follow_table(trace)  # what every head follows, a row each",
    ]


def _place_lines(values: Values) -> list[str]:
    """The clouds of one head as the picture has them."""
    distance, criterion = values.get("distance", "euclidean"), values.get("criterion", "pearson")
    target = values.get("target", "centred")
    measure = f"{distance!r}, {criterion!r}, {target!r}"
    stage = values.get("stage", "normalized")
    look = {
        "stages": [] if stage == "all three" else [stage],
        "projection": values.get("projection", "PCA"),
        "dimensions": 3 if values.get("dims") == "3-D" else 2,
        "metric": distance,
        "target": target,
    }
    return [
        f"scaling = scale_head(trace, layer, head, {measure})",
        f"clouds = head_clouds(trace, layer, head, scaling{_options(look)})",
        "clouds[-1].picture  # of the last stage: .queries, .keys (token, component)",
    ]


def _one_layer(values: Values) -> list[str]:
    if values.get("layer") is None:
        return _all_attention(values)
    layer = _layer(values)
    return [f"attention = trace.attention({layer})  # (head, query token, key token)"]


def _one_head(values: Values) -> list[str]:
    place = f"{_layer(values)}, {_head(values)}"
    layer, head = place.split(", ")
    return [
        f"query, key = trace.queries[{layer}, {head}], trace.keys[{layer}, {head}]  # (token, dim)",
        f"scores = trace.scores({place})  # (query token, key token)",
        f"attention = trace.attention({place})  # softmax of the scores over the keys",
    ]


def _all_attention(values: Values) -> list[str]:  # noqa: ARG001 - as for the other pages
    return ["attention = trace.attention()  # (layer, head, query token, key token)"]


def _atlas(values: Values) -> list[str]:
    """The atlas of the sample corpus as the page makes it, or of a file's lines."""
    if values.get("corpus", "sample") in {"saved", "prepared"}:
        return [
            "",
            "from core.analysis.atlas.files import read_atlas",
            "",
            'with open("minilm.atlas.zip", "rb") as file:  # the file that the page has saved',
            "    atlas = read_atlas(file)",
        ]
    if values.get("corpus", "sample") == "sample":
        texts = ["texts = sample_sentences()"]
        imports = [_SAMPLE]
    else:
        texts, imports = ['texts = open("corpus.txt").read().splitlines()  # your corpus'], []
    return [
        "",
        "from core.analysis.atlas import build_atlas, search_tokens",
        *imports,
        "from core.model import choose_texts, trace_corpus",
        "",
        *texts,
        f"chosen = choose_texts(model, texts, {values.get('budget', 5_000)}).places",
        "sentences = [texts[place] for place in chosen]",
        "atlas = build_atlas(trace_corpus(model, sentences), sentences)",
        "atlas.points  # of each stage: (layer, head, queries then keys, component)",
    ]


def _class_attention(values: Values) -> list[str]:
    if values.get("part") == "distance":
        return ["", *_distance(values)]
    region = values.get("region")
    grid = "trace.patches.rows, trace.patches.columns"
    names = "all_cls_maps, cls_table, read_region" if region else "all_cls_maps, cls_table"
    return [
        "",
        f"from core.analysis.images import {names}",
        "from core.model.weights.output_projection import transformed_norms",
        "",
        "maps = all_cls_maps(trace, transformed_norms(model, trace))",
        "maps.by_head  # (layer, head and then their mean and maximum, row, column)",
        *([f"region = read_region({region!r}, {grid})"] if region else []),
        f"table = cls_table(maps, {values.get('mass', 60) / 100:g}{', region' if region else ''})",
    ]


def _distance(values: Values) -> list[str]:
    if values.get("over") != "box":
        return [
            "from core.analysis.images import attention_distance, distance_table",
            "",
            "table = distance_table(attention_distance(trace))  # a row for every head",
        ]
    size = values.get("side")
    sides = f", size=({size}, {size})" if size else ""
    return [
        "from core.analysis.images import distance_table, mean_attention_distance",
        "from core.model.box import BOX, open_box",
        "",
        f"traces = (trace_image(model, open_box(name){sides}) for name in BOX)",
        "table = distance_table(mean_attention_distance(traces))  # a row for every head",
    ]


_PAGES: dict[str, Callable[[Values], list[str]]] = {
    "heatmap": _heatmap,
    "vectors": _vectors,
    "projection": _projection,
    "query_key": _query_key,
    "images": _images,
    "patterns": _patterns,
    "anomalies": _anomalies,
    "patch_space": _patch_space,
    "head_view": _one_layer,
    "neuron_view": _one_head,
    "class_attention": _class_attention,
}
