"""From shards on disk to an atlas's file, with the vectors of only a few heads in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from core.analysis.atlas.blocks import CorpusPairs, sampled_blocks
from core.analysis.atlas.build import join_heads, picture_head, read_parts
from core.analysis.atlas.data import Atlas, CorpusTokens, Positions
from core.analysis.atlas.gather import cut_settings
from core.analysis.atlas.saved.file import AtlasWriter, whole_file
from core.analysis.head_patterns.similarity import Distances
from core.analysis.query_key.scaling import every_head
from core.model.trace import Layer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from core.analysis.arrays import Floats, Indices
    from core.analysis.atlas.build import HeadPicture
    from core.analysis.atlas.data import Masks
    from core.analysis.atlas.shards import Shard


class _JoinedShards:
    """The shards of one run that have tokens, joined in the order of their sentences."""

    def __init__(self, shards: Sequence[Shard]) -> None:
        self.shards = [shard for shard in shards if shard.count]
        if not self.shards:
            raise ValueError("an atlas needs at least one sentence")
        places = np.concatenate([shard.array("places") for shard in self.shards])
        lengths = np.concatenate([shard.array("lengths") for shard in self.shards])
        order = np.argsort(places)
        self.places: Indices = places[order]  # of the sentences in the corpus
        self.lengths: Indices = lengths[order]  # in tokens
        firsts = np.empty_like(lengths)
        firsts[order] = np.cumsum(self.lengths) - self.lengths
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        ends = np.cumsum([shard.count for shard in self.shards])[:-1]
        self.tokens = np.split(np.repeat(firsts, lengths) + within, ends)
        self.count = int(lengths.sum())

    def of_head(self, layer: int, head: int) -> tuple[Floats, Floats]:
        """Queries and keys of one head, float64 (token, dim) each, read from disk."""
        heads, kv_heads = (self.shards[0].array(n).shape[1] for n in ("queries", "kv_keys"))
        kv_head = head * kv_heads // heads
        return (
            self.joined("queries", (layer, head)).astype(np.float64),
            self.joined("kv_keys", (layer, kv_head)).astype(np.float64),
        )

    def columns(self) -> CorpusTokens:
        """The columns of all tokens."""
        return CorpusTokens(
            texts=self._texts("texts"),
            displays=self._texts("displays"),
            sentence=np.repeat(np.arange(self.lengths.size), self.lengths).astype(np.int32),
            **{name: self.joined(name) for name in ("position", "word", "special", "spans")},
        )

    def joined(self, name: str, index: tuple[int, ...] = ()) -> NDArray[Any]:
        """One array of every shard, its rows in the order of the atlas's tokens."""
        parts = [shard.array(name)[index] for shard in self.shards]
        whole = np.empty((self.count, *parts[0].shape[1:]), dtype=parts[0].dtype)
        for part, tokens in zip(parts, self.tokens, strict=True):
            whole[tokens] = part
        return whole

    def sum(self, name: str) -> Floats:
        """One array summed over all shards."""
        total: Floats = np.array(self.shards[0].array(name), dtype=np.float64)
        for shard in self.shards[1:]:
            total += shard.array(name)
        return total

    def _texts(self, name: str) -> tuple[str, ...]:
        texts, unique = [""] * self.count, dict[str, str]()
        for shard, tokens in zip(self.shards, self.tokens, strict=True):
            for index, text in zip(tokens.tolist(), shard.description[name], strict=True):
                texts[index] = unique.setdefault(text, text)  # one copy of each in memory
        return tuple(texts)


def assemble(
    shards: Sequence[Shard],
    target: Path,
    sentences: Sequence[str],
    labels: Sequence[str] = (),
    settings: Mapping[str, str | int] | None = None,
    on_progress: Callable[[int, int], object] | None = None,
) -> None:
    """Write the atlas of all shards to a path, head by head.

    `sentences` and `labels` are indexed by the places of the sentences in the shards; `settings`
    are stored with it; `on_progress` is called with how many heads are done, and how many there
    are. Raises `ValueError` when no shard has a token, `AtlasFileError` when points are not finite,
    `OSError` when the file cannot be written.
    """
    joined = _JoinedShards(shards)
    layers, heads = joined.shards[0].array("queries").shape[:2]
    description = joined.shards[0].description
    causal = bool(description["causal"])
    rules = tuple(Layer(scaling, None, softcap) for scaling, softcap in description["rules"])
    numbers = tuple(description.get("layer_numbers", range(1, layers + 1)))
    tokens = joined.columns()
    places = {place: shard for shard in joined.shards for place in shard.description["masks"]}

    def read_masks(sentence: int) -> Masks | None:
        place = str(joined.places[sentence])
        return places[place].masks(place) if place in places else None

    pairs = CorpusPairs(sampled_blocks(tokens, read_masks, causal))
    chosen_labels = tuple(labels[place] for place in joined.places) if labels else ()
    cut = (
        sum(int(shard.description.get(name, 0)) for shard in shards)
        for name in ("dropped", "cut_characters")
    )

    def draw(layer: int, head: int) -> HeadPicture:
        return picture_head(*joined.of_head(layer, head), pairs, (layer, head), rules[layer])

    pictures: list[HeadPicture] = []
    with whole_file(target) as path, AtlasWriter(path, tokens, chosen_labels) as writer:
        order = np.ndindex(layers, heads)
        for head, picture in zip(order, every_head(layers, heads, draw), strict=True):
            writer.write_head(numbers[head[0]], head[1] + 1, picture.points, picture.norms)
            pictures.append(picture.without_points())
            if on_progress is not None:
                on_progress(len(pictures), layers * heads)
        writer.finish(
            Atlas(
                model=description["model"],
                causal=causal,
                sentences=read_parts(tokens, [sentences[place] for place in joined.places]),
                labels=chosen_labels,
                tokens=tokens,
                points={},
                norms=np.empty(0, dtype=np.float32),
                distances=Distances(
                    joined.sum("distances"),
                    sum(shard.description["compared"] for shard in joined.shards),
                    joined.count,
                ),
                positions=Positions(joined.sum("position_sums"), joined.sum("position_counts")),
                rules=rules,
                layer_numbers=numbers,
                depth=description.get("depth"),
                settings={**cut_settings(*cut), **(settings or {})},
                **join_heads(pictures, layers, pairs),
            )
        )
