"""What config.json may say: no switch that reaches beyond the folder, and bounded sizes.

Building a network costs time and memory for every layer and expert, even without allocating any
weights, so the numbers are checked before transformers sees them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.model.errors import SAVE_AGAIN, UnsupportedModelError

Settings = dict[str, object]

# Removed wherever they occur, like everything that begins with "_" (`_attn_implementation`): what
# selects code or other files, and the number type, since everything runs in float32.
_REMOVED = frozenset(
    {
        *("attn_implementation", "attn_implementation_internal", "experts_implementation"),
        *("auto_map", "custom_generate", "custom_pipelines", "trust_remote_code"),
        *("backbone", "backbone_kwargs", "use_timm_backbone", "use_pretrained_backbone"),
        *("fusion_config", "kernel_config", "use_kernels", "distributed_config"),
        *("transformers_weights", "gguf_file", "name_or_path", "tokenizer_class"),
        *("dtype", "torch_dtype", "use_cache"),
    }
)
_FLOAT = "__float__"  # how transformers writes infinity
# A pattern for names of settings, the maximum, and what they count; the first match decides. The
# maxima are several times what the largest published models have.
_BOUNDS = (
    (re.compile(r"position|n_ctx|seq"), 2**24, "positions"),
    (re.compile(r"vocab"), 2**22, "entries of a vocabulary"),
    (re.compile(r"label"), 10**5, "labels"),
    (re.compile(r"expert"), 4096, "experts"),
    (re.compile(r"head|group"), 2**16, "heads"),
    (re.compile(r"size|dim|embd|inner|ffn|width|channels|rank|^d_"), 2**20, "dims"),
    (re.compile(r"layer|block|depth|stage"), 2000, "layers"),
    (re.compile(r"^(n|num)_(?!param)"), 2**24, "units"),
)
_NOT_COUNTS = re.compile(r"_(id|ids|eps|index|idx|theta|base|freq|frequency|layers?_(start|end))$")
_MAX_LAYER_EXPERTS = 2**16  # DeepSeek-V3 has 61 layers of 256
_MAX_SINES = 2**23  # in tables that some families fill in Python: ten seconds of work
_MAX_WRITTEN = 10**12  # larger numbers are written as a power of ten
_MAX_DEPTH = 32  # of settings within settings


def check_config(config: Settings) -> Settings:
    """The settings to hand to transformers, or a refusal.

    Raises
    ------
    UnsupportedModelError
        For quantized weights, or a number that no model has.
    """
    if config.get("quantization_config") or config.get("compression_config"):
        raise UnsupportedModelError(
            "The weights of {name} are quantized, and this app reads plain numbers only.",
            "Pick the original model, before quantization.",
        )
    _check_numbers(config)
    stripped = _strip(config)
    if not isinstance(stripped, dict) or not isinstance(stripped.get("model_type"), str):
        raise UnsupportedModelError(
            "config.json of {name} does not name its kind of network (model_type).", SAVE_AGAIN
        )
    return stripped


def _strip(value: object, depth: int = 0) -> object:
    """Settings, and settings within them, without what must be removed."""
    if depth > _MAX_DEPTH:
        return None
    if isinstance(value, dict):
        return {
            key: _strip(inner, depth + 1)
            for key, inner in value.items()
            if key not in _REMOVED and (key == _FLOAT or not key.startswith("_"))
        }
    return [_strip(inner, depth + 1) for inner in value] if isinstance(value, list) else value


def _check_numbers(config: Settings) -> None:
    largest: dict[str, float] = {}
    for key, number in _numbers(config):
        bound = next((each for each in _BOUNDS if each[0].search(key)), None)
        if bound is None:
            continue
        _, maximum, kind = bound
        if not abs(number) <= maximum:  # also when it is not a number
            raise UnsupportedModelError(
                f"config.json of {{name}} asks for {_readable(number)} {kind} ({key[:60]});"
                f" this app takes at most {maximum:,}."
            )
        largest[kind] = max(largest.get(kind, 1), abs(number))
    _check_products(config, largest)


def _numbers(value: object, key: str = "", depth: int = 0) -> Iterator[tuple[str, float]]:
    """Every number with its name; a list of layers per stage gives a sum, others a maximum."""
    if depth > _MAX_DEPTH or isinstance(value, bool) or _NOT_COUNTS.search(key):
        return
    if isinstance(value, int | float):
        yield key, value
    elif isinstance(value, list):
        sizes = [abs(each) for each in value if isinstance(each, int | float)]
        yield key, sum(sizes) if "depth" in key else max(sizes, default=0)
        for inner in value:
            if not isinstance(inner, int | float):
                yield from _numbers(inner, key, depth + 1)
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _numbers(inner, name.lower(), depth + 1)


def _check_products(config: Settings, largest: dict[str, float]) -> None:
    """Bound products of two settings: modules, and tables filled number by number."""
    modules = largest.get("layers", 1) * largest.get("experts", 1)
    sines = largest.get("positions", 1) * largest.get("dims", 1)
    parts = [config, *(value for value in config.values() if isinstance(value, dict))]
    has_sines = any("sinus" in key and part[key] is True for part in parts for key in part)
    if modules > _MAX_LAYER_EXPERTS or (has_sines and sines > _MAX_SINES):
        raise UnsupportedModelError(
            "config.json of {name} asks for more layers, experts or positions than this app"
            " accepts."
        )


def _readable(number: float) -> str:
    """12 as "12", 10^80 as "1e+80"."""
    return f"{number:,.0f}" if abs(number) < _MAX_WRITTEN else f"{float(number):.0e}"
