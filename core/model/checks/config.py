"""What config.json may say: settings without switches that reach beyond the folder, bounded sizes.

Building a network costs time and memory for each layer and each expert even where no weight is
allocated, so the numbers are looked at before transformers sees them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.model.errors import OutOfMemoryError, UnsupportedModelError
from core.model.machine import memory

if TYPE_CHECKING:
    from collections.abc import Iterator

    Settings = dict[str, object]

_PICK_ANOTHER = "Pick a model from the list, for example bundled/minilm."
_BYTES_PER_WEIGHT = 4
# Left out wherever they stand, beside all that begins with "_" (`_attn_implementation`): what
# chooses code or other files, and the number type, as everything runs in float32.
_LEFT_OUT = frozenset(
    {
        *("attn_implementation", "attn_implementation_internal", "experts_implementation"),
        *("auto_map", "custom_generate", "custom_pipelines", "trust_remote_code"),
        *("backbone", "backbone_kwargs", "use_timm_backbone", "use_pretrained_backbone"),
        *("fusion_config", "kernel_config", "use_kernels", "distributed_config"),
        *("transformers_weights", "gguf_file", "name_or_path", "tokenizer_class"),
        *("dtype", "torch_dtype", "use_cache"),
    }
)
_PACKED = ("quantization_config", "compression_config")


@dataclass(frozen=True)
class _Bound:
    """The most that numbers of one kind may be; the first kind whose pattern fits a name counts."""

    pattern: re.Pattern[str]
    most: int
    what: str


# Several times what the largest published models have.
_BOUNDS = (
    _Bound(re.compile(r"position|n_ctx|seq"), 2**24, "positions"),
    _Bound(re.compile(r"vocab"), 2**22, "entries of a vocabulary"),
    _Bound(re.compile(r"label"), 10**5, "labels"),
    _Bound(re.compile(r"expert"), 4096, "experts"),
    _Bound(re.compile(r"head|group"), 2**16, "heads"),
    _Bound(re.compile(r"size|dim|embd|inner|ffn|width|channels|rank|^d_"), 2**20, "dims"),
    _Bound(re.compile(r"layer|block|depth|stage"), 2000, "layers"),
    _Bound(re.compile(r"^(n|num)_(?!param)"), 2**24, "units"),
)
_NOT_COUNTED = re.compile(r"_(id|ids|eps|index|idx|theta|base|freq|frequency|layers?_(start|end))$")
_MOST_LAYER_EXPERTS = 2**16  # DeepSeek-V3 has 61 layers of 256
_MOST_SINES = 2**23  # of tables that some families fill in Python: ten seconds of work
# Names of one number in the families; a network with none of it is none.
_LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
_HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads")
_WIDTH = ("hidden_size", "n_embd", "dim", "d_model")
_LONGEST_WRITTEN = 10**12  # larger numbers are written as a power of ten
_DEEPEST = 32  # settings within settings


def check_config(name: str, config: Settings) -> Settings:
    """The settings that transformers gets, or a refusal.

    Raises
    ------
    UnsupportedModelError
        Weights in a packed form, a number that no model has, no layers or heads.
    OutOfMemoryError
        When not even a quarter of the usual number of weights would fit.
    """
    for key in _PACKED:
        if config.get(key):
            raise UnsupportedModelError(
                name,
                "The weights of {name} are quantized, and this app reads plain numbers only.",
                "Pick the original of the model, which was not quantized.",
            )
    _check_numbers(name, config)
    _check_estimate(name, config)
    stripped = _strip(config, 0)
    if not isinstance(stripped, dict) or not isinstance(stripped.get("model_type"), str):
        raise UnsupportedModelError(
            name,
            "config.json of {name} does not say which kind of network it is (no model_type).",
            "Choose the folder that save_pretrained wrote.",
        )
    return stripped


def _strip(value: object, depth: int) -> object:
    """Settings, and settings within settings, without what is left out."""
    if depth > _DEEPEST:
        return None
    if isinstance(value, dict):
        return {
            key: _strip(each, depth + 1)
            for key, each in value.items()
            if key not in _LEFT_OUT and not key.startswith("_")
        }
    if isinstance(value, list):
        return [_strip(each, depth + 1) for each in value]
    return value


def _check_numbers(name: str, config: Settings) -> None:
    for key, number in _numbers(config, "", 0):
        bound = next((each for each in _BOUNDS if each.pattern.search(key)), None)
        if bound is not None and not abs(number) <= bound.most:
            raise UnsupportedModelError(
                name,
                f"config.json of {{name}} asks for {_readable(number)} {bound.what} ({key[:60]});"
                f" this app takes at most {bound.most:,}.",
                _PICK_ANOTHER,
            )
    for part in (config, config.get("text_config")):
        for names in (_LAYERS, _HEADS, _WIDTH):
            first = _first(part, names) if isinstance(part, dict) else None
            if first is not None:
                _require_some(name, names[0], first)
    _check_products(name, config)


def _numbers(value: object, key: str, depth: int) -> Iterator[tuple[str, float]]:
    """Every number with the name it stands under; of a list, the sum of what it counts."""
    if depth > _DEEPEST or isinstance(value, bool) or _NOT_COUNTED.search(key):
        return
    if isinstance(value, int | float):
        yield key, value
    elif isinstance(value, list):
        plain = [each for each in value if isinstance(each, int | float)]
        yield (
            key,
            sum(abs(each) for each in plain)
            if _counts_layers(key)
            else max((abs(each) for each in plain), default=0),
        )
        for each in value:
            if not isinstance(each, int | float):
                yield from _numbers(each, key, depth + 1)
    elif isinstance(value, dict):
        for inner, each in value.items():
            yield from _numbers(each, inner.lower(), depth + 1)


def _counts_layers(key: str) -> bool:
    """Whether a list holds layers a stage, and not the numbers of single layers."""
    return "depth" in key


def _check_products(name: str, config: Settings) -> None:
    """Bounds on what two numbers make together: modules, and tables filled one by one."""
    largest: dict[str, float] = {}
    for key, number in _numbers(config, "", 0):
        bound = next((each for each in _BOUNDS if each.pattern.search(key)), None)
        if bound is not None:
            largest[bound.what] = max(largest.get(bound.what, 1), abs(number))
    modules = largest.get("layers", 1) * largest.get("experts", 1)
    sines = largest.get("positions", 1) * largest.get("dims", 1)
    has_sines = any("sinus" in key and value is True for key, value in _switches(config))
    if modules > _MOST_LAYER_EXPERTS or (has_sines and sines > _MOST_SINES):
        raise UnsupportedModelError(
            name,
            "config.json of {name} asks for more layers, experts or positions than this app takes.",
            _PICK_ANOTHER,
        )


def _switches(config: Settings) -> Iterator[tuple[str, object]]:
    for key, value in config.items():
        yield key, value
        if isinstance(value, dict):
            yield from ((inner, each) for inner, each in value.items())


def _check_estimate(name: str, config: Settings) -> None:
    """Refuse at once what cannot fit: layers x width^2 x 12 + vocabulary x width weights.

    Families that share weights or narrow their layers have down to a quarter of that; the exact
    number is counted when the network is built without memory. ALBERT shares all its layers.
    """
    free = memory.available_bytes()
    if free is None or "num_hidden_groups" in config:
        return
    for part in (config, config.get("text_config")):
        if not isinstance(part, dict):
            continue
        layers, width = _first(part, _LAYERS) or 0, _first(part, _WIDTH) or 0
        words = _first(part, ("vocab_size",)) or 0
        weights = (layers * width**2 * 12 + words * width) / 4
        if weights * _BYTES_PER_WEIGHT > free:
            raise OutOfMemoryError(
                name,
                f"config.json of {{name}} describes a network of more than"
                f" {weights * _BYTES_PER_WEIGHT / 1e6:,.0f} MB, and {free / 1e6:,.0f} MB are free.",
                "Pick a smaller model, or close other programs and try again.",
            )


def _first(part: Settings, names: tuple[str, ...]) -> float | None:
    values = (part.get(each) for each in names)
    return next(
        (float(v) for v in values if isinstance(v, int | float) and not isinstance(v, bool)), None
    )


def _require_some(name: str, key: str, number: float) -> None:
    if not number >= 1:
        raise UnsupportedModelError(
            name,
            f"config.json of {{name}} sets {key} to {_readable(number)}; a network has 1 or more.",
            _PICK_ANOTHER,
        )


def _readable(number: float) -> str:
    """12 as "12", 10^80 as "1e+80"."""
    return f"{number:,.0f}" if abs(number) < _LONGEST_WRITTEN else f"{float(number):.0e}"
