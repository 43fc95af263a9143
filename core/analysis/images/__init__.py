"""Attention over images: what heads and CLS look at, how far, and high-norm patches."""

from typing import TYPE_CHECKING

from core import imported_late
from core.analysis.images.colour import PatchLooks, patch_looks
from core.analysis.images.distance import (
    attention_distance,
    distance_table,
    mean_attention_distance,
    mean_of_distances,
)
from core.analysis.images.odd_patches import odd_patches
from core.analysis.images.patch_attention import attention_of_patch, attention_to_patch

if TYPE_CHECKING:
    from core.analysis.images.cls.maps import (
        ClsMaps,
        all_cls_maps,
        cls_map,
        cls_table,
        region_share,
        rollout_map,
        top_mass,
    )
    from core.analysis.images.cls.region import Region, read_region

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
    "mean_attention_distance",
    "mean_of_distances",
    "odd_patches",
    "patch_looks",
    "read_region",
    "region_share",
    "rollout_map",
    "top_mass",
]

__getattr__ = imported_late(
    __name__,
    {
        "cls.maps": "ClsMaps all_cls_maps cls_map cls_table region_share rollout_map top_mass",
        "cls.region": "Region read_region",
        "colour": "PatchLooks patch_looks",
        "distance": "attention_distance distance_table mean_attention_distance mean_of_distances",
        "patch_attention": "attention_of_patch attention_to_patch",
    },
)
