"""Draws and says of an atlas whatever its page does, without a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.analysis.layers import rows_of
from core.atlas import search_tokens
from core.atlas.colours import offered_colourings, point_tones
from core.atlas.source import KINDS, Source
from core.components.points import AtlasCloud, points_page
from core.figures.heads import head_map
from core.figures.palette import palette
from core.screens.atlas import wording
from core.screens.atlas.corpus import opening
from core.screens.atlas.corpus.entry import AtlasEntry
from core.screens.atlas.layouts import tile_points, tile_tokens
from core.screens.atlas.screen import Screen, token_data

if TYPE_CHECKING:
    from core.atlas import Atlas

COLOURS = palette("light")


def draw_all(atlas: Atlas) -> None:
    """Raises whatever the page would raise, and UnicodeError for what no browser can be sent."""
    draw_clouds(atlas)
    draw_maps(atlas)
    search(atlas)
    say(atlas)


def draw_clouds(atlas: Atlas) -> None:
    _, heads, size = atlas.shape
    tokens = tile_tokens(atlas, None)
    for colour in offered_colourings(atlas):
        for stage in atlas.points:
            screen = Screen(AtlasEntry(Source(atlas)), atlas, 0, 0, "PCA", stage, colour)
            tones = point_tones(atlas, colour).numbers
            of_heads = tones.reshape(-1, 2 * size) if tones.ndim > 1 else tones
            points = tile_points(atlas, stage, tokens)
            shown = token_data(screen, tokens)
            AtlasCloud(
                layer_labels=atlas.layer_labels, heads=heads, points=points, tones=of_heads, **shown
            ).packed()
            one = tones[0, 0] if tones.ndim > 1 else tones
            points = atlas.points[stage][0, 0, :, :2]
            cloud = AtlasCloud(points=points, tones=one, picked=0, title=atlas.model, **shown)
            points_page(cloud, f"{screen.name} of {atlas.model}", "").encode()


def draw_maps(atlas: Atlas) -> None:
    for kept in atlas.faithfulness.values():
        for values in (kept.correlation, kept.top1):
            head_map(values, rows_of(atlas), "", COLOURS, bounds=(-1, 1)).to_json()


def search(atlas: Atlas) -> None:
    for kind in KINDS:
        search_tokens(atlas, "a", kind)


def say(atlas: Atlas) -> None:
    entry = AtlasEntry(Source(atlas))
    kept = atlas.faithfulness["raw"]
    said = [
        wording.faithfulness_note(float(kept.correlation[0, 0]), float(kept.top1[0, 0])),
        opening.describe(entry),
        *(f"{share.sum():.2f}" for shares in atlas.shares.values() for share in shares[0]),
        *(*atlas.sentences, *atlas.labels, *atlas.tokens.displays, *atlas.tokens.texts),
    ]
    for text in said:
        text.encode()
    assert not any("nan" in text for text in said[: -4 * len(atlas.tokens)])
