"""Settings that `sizes` gets wrong, by the type of the configuration or of its part."""

from __future__ import annotations

from typing import Any

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


OVERRIDES: dict[str, dict[str, Any]] = {
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
