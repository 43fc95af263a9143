"""Types of transformers, their sizes cut to what one core builds in a second.

Configurations name the same thing in many ways, so a rule is a pattern of names. Numbers only ever
shrink, and what decides about attention (windows, chunks, soft caps, biases, linear positions) is
switched on and made shorter than the text.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import MISSING, fields
from typing import Any, TypeAlias

from transformers import PreTrainedConfig, PreTrainedModel
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_MAPPING, MODEL_MAPPING_NAMES

from tests.model.families import HEADS, HIDDEN, VOCABULARY, WINDOW


def all_kinds() -> list[str]:
    """Every type that `AutoModel` opens, text or not, in alphabetical order."""
    return sorted(MODEL_MAPPING_NAMES)


def config_class(kind: str) -> type[PreTrainedConfig]:
    """The type's configuration."""
    found: type[PreTrainedConfig] = CONFIG_MAPPING[kind]
    return found


def networks(kind: str) -> tuple[type[PreTrainedModel], ...]:
    """The classes of network that `AutoModel` may build for the type."""
    found = MODEL_MAPPING[config_class(kind)]
    return found if isinstance(found, tuple) else (found,)


def is_text(kind: str) -> bool:
    """Whether the type's network takes token ids."""
    parameters = (inspect.signature(each.forward).parameters for each in networks(kind))
    return any("input_ids" in each for each in parameters)


Settings: TypeAlias = dict[str, Any]

LAYERS = 4
POSITIONS = 64
HEAD_DIM = HIDDEN // HEADS
# Ids of the tokenizer in `tests.model.families.wordpiece`, by what configurations call them.
_SPECIAL_IDS = {
    "pad": 0,
    "unk": 1,
    "bos": 2,
    "cls": 2,
    "decoder_start": 2,
    "eos": 3,
    "sep": 3,
    "forced_eos": 3,
    "mask": 4,
}
_FIRST_FREE_ID = 290  # above the tokenizer's: image, audio and other placeholders
_ID = re.compile(r"_(token_id|token_index|id|index)$")
_KEPT = re.compile(
    r"image|patch|mel|sampl|rate|num_channels|in_chan|label|loss|cost|stride|kernel|theta|seed"
    r"|temperature|^chunk_length$|^model_in_dim$|feature_layer|depth_bins|types?_vocab|relative|bucket|rel_pos|2d_pos"
)
# A pattern of names and the maximum; the first match decides.
_MAXIMA = (
    (re.compile(r"position|n_ctx|context_length|max_seq|seq_len|max_length"), POSITIONS),
    (re.compile(r"^topk_group$|n_groups$"), 1),
    (re.compile(r"expert.*(per_tok|top_?k)|^(moe_)?top_?k|_topk$|^moe_k$"), 2),
    (re.compile(r"expert(?!.*(size|dim|period|offset|interval|capacity))"), 4),
    (re.compile(r"^n_group$"), 2),
    (re.compile(r"rank$"), HEAD_DIM),
    (re.compile(r"rope_head_dim$|rotary_dim$"), 4),
    (re.compile(r"head_(dim|size)$|^d_kv$|d_head$|dim_head$|^kv_channels$|head_dim_"), HEAD_DIM),
    (re.compile(r"mamba.*heads$"), 2 * HIDDEN // HEAD_DIM),
    (re.compile(r"heads$|^n_head$|_head$"), HEADS),
    (re.compile(r"state(_size)?$"), HEAD_DIM),
    (re.compile(r"first_k_dense|max_window_layers|num_kv_shared|num_mtp|num_nextn"), 1),
    (re.compile(r"layers?$|depth$|blocks$"), LAYERS),
    (re.compile(r"intermediate|ffn|d_ff|n_inner|mlp_dim|feed_?forward"), 48),
)
_VOCABULARY = re.compile(r"vocab_size|^n_words$|^num_embeddings$")
_FALLBACK = HIDDEN  # of every other number beyond 64: widths under many names
_LARGE = 64
_WINDOW = re.compile(
    r"^(sliding_window|sliding_window_size|window_size|attention_window|local_attention"
    r"|attention_window_size|attention_chunk_size|(mamba_)?chunk_size|attn_window_size)$"
)
_SWITCHED_ON = re.compile(r"^(attention_bias|qkv_bias|use_qkv_bias|use_sliding_window|alibi)$")
_CAP = re.compile(r"^attn_logit_softcapping$")
_KEY_HEADS = re.compile(r"(key_value|kv)_heads$|^n_head_kv$")


def tiny_config(kind: str) -> PreTrainedConfig:
    """The type's configuration with every size cut, and the overrides of the type."""
    found = config_class(kind)
    return found(**tiny_settings(found))


def tiny_settings(found: type[PreTrainedConfig], layers: int = LAYERS) -> Settings:
    """Settings that differ from the defaults, with those of the parts in dictionaries."""
    defaults = _defaults(found)
    is_text = "vocab_size" in defaults
    settings: Settings = {}
    for name, value in defaults.items():
        if name in found.sub_configs_defaults:
            continue
        if _ID.search(name):
            settings |= _id_setting(name, value, len(settings))
        elif is_text and (switched := _switched(name, value)) is not None:
            settings[name] = switched
        elif (smaller := _smaller(name, value, defaults)) != value:
            settings[name] = smaller
    settings |= _layer_lists(found(), defaults)
    for name, spec in found.sub_configs_defaults.items():
        if defaults.get(name) is not None or not spec.optional:
            settings[name] = _part(spec)
    for name, value in settings.items():
        if re.search(r"layers?$|layer_types$", name) and value:
            settings[name] = value[:layers] if isinstance(value, list) else min(value, layers)
    return _merged(settings, OVERRIDES.get(found.model_type, {}))


def _defaults(found: type[PreTrainedConfig]) -> Settings:
    """What the configuration has when nothing is said, before it fills in what depends."""
    values: Settings = {}
    for field in fields(found):
        if field.default is not MISSING:
            values[field.name] = field.default
        elif field.default_factory is not MISSING:
            values[field.name] = field.default_factory()
    return values


def _layer_lists(whole: PreTrainedConfig, defaults: Settings) -> Settings:
    """Lists with an entry a layer (kinds of layers, layers without positions), every entry kept."""
    lists: Settings = {}
    values = vars(whole)
    for name in defaults:
        entries = values.get(name)
        if isinstance(entries, list) and len(entries) == defaults.get("num_hidden_layers"):
            different = list(dict.fromkeys(entries)) if _are_plain(entries) else entries[:1]
            lists[name] = [different[layer % len(different)] for layer in range(LAYERS)]
    return lists


def _are_plain(entries: list[object]) -> bool:
    return all(isinstance(each, str | int | float | None) for each in entries)


def _part(spec: Any) -> Settings:
    """Settings of a part of a composite configuration."""
    inner = spec.config_class
    if not issubclass(inner, PreTrainedConfig):
        inner = config_class(spec.model_type)
    settings = {name: _smaller(name, value, {}) for name, value in spec.init_kwargs.items()}
    return settings | tiny_settings(inner) | {"model_type": inner.model_type}


def _id_setting(name: str, value: object, number: int) -> Settings:
    role = _ID.sub("", name)
    if role in _SPECIAL_IDS and (value is None or isinstance(value, int)):
        return {name: _SPECIAL_IDS[role]}
    if isinstance(value, int) and value > _FIRST_FREE_ID:
        return {name: _FIRST_FREE_ID + number % (VOCABULARY - _FIRST_FREE_ID)}
    return {}


def _switched(name: str, value: object) -> object:
    """What makes attention special, switched on; None for any other setting."""
    if _WINDOW.search(name) and (value is None or isinstance(value, int)):
        return 2 * WINDOW if name == "local_attention" else WINDOW
    if value is None and name in {"head_dim", "num_key_value_heads"}:
        return HEAD_DIM if name == "head_dim" else HEADS  # what most networks take None for
    if _SWITCHED_ON.search(name) and isinstance(value, bool | None):
        return True
    return 2.0 if _CAP.search(name) else None


def _smaller(name: str, value: object, defaults: Settings) -> object:
    if _VOCABULARY.search(name) and "type" not in name and isinstance(value, int | None):
        return VOCABULARY
    if isinstance(value, bool) or not isinstance(value, int) or _KEPT.search(name):
        return value
    if _KEY_HEADS.search(name):
        heads = {defaults.get(each) for each in ("num_attention_heads", "n_heads", "num_heads")}
        return min(value, HEADS if value in heads else HEADS // 2)
    for pattern, maximum in _MAXIMA:
        if pattern.search(name):
            return min(value, maximum)
    return _FALLBACK if value >= _LARGE else value


def _merged(settings: Settings, more: Settings) -> Settings:
    """`more` over `settings`, also within dictionaries that both have."""
    merged = settings | more
    for name in settings.keys() & more.keys():
        if isinstance(settings[name], dict) and isinstance(more[name], dict):
            merged[name] = _merged(settings[name], more[name])
    return merged


# ---- what these rules get wrong, by the type of the configuration or of its part ----------------

# Types whose networks transformers cannot build here: timm or detectron2 is not installed, or
# `AutoModel` names a network that does not take the configuration of its type.
WITHOUT_NETWORK = frozenset(
    ("fast_vlm", "gemma3n", "layoutlmv2", "pe_audio_video", "pe_video", "perception_lm")
) | {"musicgen", "musicgen_melody"}
_ROPE = {"rope_type": "default", "rope_theta": 10000.0}


def _sections(*sections: int) -> dict[str, Any]:
    """Rotary positions of images: the sections add up to half of the rotated dims."""
    return {"rope_parameters": _ROPE | {"mrope_section": list(sections)}}


def _each(kinds: str, settings: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return dict.fromkeys(kinds.split(), settings)


OVERRIDES: dict[str, Settings] = {
    **_each(
        "qwen2_vl_text qwen2_5_vl_text paddleocr_vl_text qwen2_5_omni_text cosmos3_edge_text"
        " qwen3_vl_text qwen3_vl_moe_text glm4v_text glm_image_text glm_ocr_text",
        _sections(2, 1, 1),
    ),
    "glm4v_moe_text": _sections(1, 1, 0),
    "hunyuan_vl_text": _sections(2, 1, 1),
    **_each("chameleon emu3", {"vocabulary_map": {"<image>": 300, "<|extra_200|>": 301}}),
    "bridgetower": {
        "hidden_size": 64,
        "text_config": {"hidden_size": 64},
        "vision_config": {"hidden_size": 64},
    },
    **_each(
        "cohere_compass_text",
        {
            "layer_types": ["sliding_attention", "full_attention"] * 2,
            "rope_parameters": {
                kind: _ROPE | {"mrope_section": [2, 1, 1]}
                for kind in ("sliding_attention", "full_attention")
            },
        },
    ),
    "deepseek_ocr2_text": {"mlp_layer_types": ["dense", "sparse", "dense", "sparse"]},
    "gpt_neo": {"attention_types": [[["global", "local"], 2]]},
    "internlm3": {"bias": True},
    **_each("lfm2 lfm2_moe", {"layer_types": ["conv", "full_attention"] * 2}),
    "jamba": {"attn_layer_period": 2, "attn_layer_offset": 1},
    "bamba": {"attn_layer_indices": [1, 3]},
    "granitemoehybrid": {"layer_types": ["mamba", "attention"] * 2},
    "vits": {"speaking_rate": 1e6},  # random weights otherwise ask for hours of speech
    "mamba2": {"num_heads": 8},
    "reformer": {"axial_pos_shape": [8, 8], "axial_pos_embds_dim": [16, 16]},
    "dots1": {"n_routed_experts": 4, "n_shared_experts": 1, "num_experts_per_tok": 2},
    **_each(
        "gemma4_text gemma4_unified_text embedding_gemma2_text",
        {"global_head_dim": 16},
    ),
    "minimax_m3_vl_text": {
        "layer_types": ["full_attention", "minimax_m3_sparse"] * 2,
        "index_block_size": 4,
        "index_topk_blocks": 2,
    },
    "deepseek_v2": {"num_experts_per_tok": 2},
    "ernie4_5_vl_moe_text": _sections(1, 1, 2),
    "granite4_vision": {
        "deepstack_layer_map": [[-1, 1]],
        "downsample_rate": "4/8",
        "vision_config": {"hidden_size": 128},
    },
    "lilt": {"hidden_size": 48},
    "layoutlmv3": {"coordinate_size": 5, "shape_size": 6, "hidden_size": 32},
    "nystromformer": {"num_landmarks": 64, "segment_means_seq_len": 64},
    "tvp": {"max_img_size": 448, "visual_prompt_size": 96},
    "xmod": {"default_language": "en_XX"},
    "t5gemma2_encoder": {"text_config": {"dropout_rate": 0.0}},
    "neomme": {"head_dim": 16},
    **_each("qwen2_5_omni_thinker qwen3_omni_moe_thinker", {"vision_start_token_id": 300}),
    "markuplm": {"max_xpath_tag_unit_embeddings": 256, "max_xpath_subs_unit_embeddings": 1024},
    **_each(
        "vibevoice_acoustic_tokenizer vibevoice_acoustic_tokenizer_encoder",
        {"num_filters": 1, "depths": [1] * 7},
    ),
    "vibevoice_asr": {"acoustic_tokenizer_chunk_size": 32000},
    "molmo2_adapter": {"vision_feature_layer": [2, 1]},
    "mimi": {"upsample_groups": 32},
    "dbrx": {"attn_config": {"rope_theta": 10000.0, "clip_qkv": 8.0}},
    "evolla": {
        "protein_encoder_config": {
            "hidden_size": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "intermediate_size": 48,
        },
        "resampler_depth": 1,
        "resampler_num_latents": 4,
        "aligner_num_add_layers": 2,
    },
    "fun_asr_nano": {"adaptor_config": {"intermediate_size": 8}},
    "diffusion_gemma_text": {
        "num_experts": 4,
        "top_k_experts": 2,
        "moe_intermediate_size": 48,
        "global_head_dim": 16,
    },
    "longcat_flash": {"head_dim": 4},
    "qwen4_exp_text": {
        "indexer_budget": 8,
        "indexer_compress_ratio": 4,
        "indexer_n_heads": 2,
        "indexer_kv_heads": 1,
        "indexer_head_dim": 8,
    },
    **_each("glm5_next_text", {"index_topk": 16}),
}
