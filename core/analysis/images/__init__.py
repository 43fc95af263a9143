"""Attention over images: what heads follow, what CLS sees, how far patches look, odd patches."""

from core.analysis.images.arrows import links_above, strongest_keys
from core.analysis.images.cls.maps import cls_map, region_share, rollout_map, top_mass
from core.analysis.images.cls.region import Region, read_region
from core.analysis.images.cls.summary import ClsMaps, all_cls_maps, cls_table
from core.analysis.images.colour import PatchLooks, patch_looks
from core.analysis.images.distance import (
    attention_distance,
    distance_table,
    mean_attention_distance,
    mean_of_distances,
)
from core.analysis.images.follow_table import follow_images, follow_table
from core.analysis.images.odd_patches import odd_patches
from core.analysis.images.patch_attention import attention_of_patch, attention_to_patch

__all__ = [
    "ClsMaps",
    "PatchLooks",
    "Region",
    "all_cls_maps",
    "attention_distance",
    "attention_of_patch",
    "attention_to_patch",
    "cls_map",
    "cls_table",
    "distance_table",
    "follow_images",
    "follow_table",
    "links_above",
    "mean_attention_distance",
    "mean_of_distances",
    "odd_patches",
    "patch_looks",
    "read_region",
    "region_share",
    "rollout_map",
    "strongest_keys",
    "top_mass",
]
