"""From parts on disk to an atlas's file, with the vectors of few heads in memory."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from core.analysis.atlas.blocks import CorpusPairs, blocks_of
from core.analysis.atlas.build import figures_of_heads, kept_texts, picture_of
from core.analysis.atlas.data import Atlas, CorpusTokens, Positions
from core.analysis.atlas.faithfulness import MAX_PAIRS
from core.analysis.atlas.gather import cut_settings
from core.analysis.atlas.saved.file import AtlasWriter, whole_file
from core.analysis.head_patterns.similarity import Distances
from core.model.trace import Layer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from core.analysis.atlas.build import HeadPicture
    from core.analysis.atlas.data import Masks
    from core.analysis.atlas.shards import Shard

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

_HEADS_AT_ONCE = 4


@dataclass(frozen=True, eq=False)
class JoinedShards:
    """The parts of a corpus side by side, in the order of its sentences.

    Attributes
    ----------
    shards : those that have tokens.
    places : of the sentences in the corpus that was given, ascending.
    tokens : where in the corpus the tokens of each part are.
    """

    shards: tuple[Shard, ...]
    places: Places
    tokens: tuple[Places, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """(layers, heads)."""
        layers, heads = self.shards[0].array("queries").shape[:2]
        return layers, heads

    @property
    def count(self) -> int:
        """Of all tokens."""
        return sum(tokens.size for tokens in self.tokens)

    def of_head(self, layer: int, head: int) -> tuple[Floats, Floats]:
        """Queries and keys of one head, float64 (token, dim) each, read from the disk."""
        heads, kv_heads = (self.shards[0].array(n).shape[1] for n in ("queries", "kv_keys"))
        group = heads // kv_heads
        return (
            self._gathered(lambda shard: shard.array("queries")[layer, head]),
            self._gathered(lambda shard: shard.array("kv_keys")[layer, head // group]),
        )

    def columns(self) -> CorpusTokens:
        """Of all tokens."""
        lengths = self._lengths()
        return CorpusTokens(
            texts=self._texts("texts"),
            displays=self._texts("displays"),
            sentence=np.repeat(np.arange(lengths.size), lengths).astype(np.int32),
            position=self._numbers("position"),
            word=self._numbers("word"),
            special=self._numbers("special"),
            spans=self._numbers("spans"),
        )

    def distances(self) -> Distances:
        """How differently heads attend, in all parts."""
        sums = np.sum([shard.array("distances") for shard in self.shards], axis=0)
        return Distances(sums, sum(shard.told["compared"] for shard in self.shards), self.count)

    def positions(self) -> Positions:
        """Attention by position, in all parts."""
        layers_heads = self.shards[0].array("position_sums")
        sums, counts = np.zeros_like(layers_heads), np.zeros(layers_heads.shape[2:])
        for shard in self.shards:
            sums += shard.array("position_sums")
            counts += shard.array("position_counts")
        return Positions(np.asarray(sums), counts)

    def rules(self) -> tuple[Layer, ...]:
        """How each layer scales and caps its scores."""
        return tuple(
            Layer(scaling, None, softcap) for scaling, softcap in self.shards[0].told["rules"]
        )

    def _lengths(self) -> Places:
        lengths = np.zeros(self.places.size, dtype=np.intp)
        for shard in self.shards:
            lengths[np.searchsorted(self.places, shard.array("places"))] = shard.array("lengths")
        return lengths

    def _gathered(self, part: Callable[[Shard], NDArray[Any]]) -> Floats:
        whole = np.empty((self.count, part(self.shards[0]).shape[1]))
        for shard, tokens in zip(self.shards, self.tokens, strict=True):
            whole[tokens] = part(shard)
        return whole

    def _numbers(self, name: str) -> NDArray[Any]:
        first = self.shards[0].array(name)
        whole = np.empty((self.count, *first.shape[1:]), dtype=first.dtype)
        for shard, tokens in zip(self.shards, self.tokens, strict=True):
            whole[tokens] = shard.array(name)
        return whole

    def _texts(self, name: str) -> tuple[str, ...]:
        whole, known = [""] * self.count, dict[str, str]()
        for shard, tokens in zip(self.shards, self.tokens, strict=True):
            for place, text in zip(tokens.tolist(), shard.told[name], strict=True):
                whole[place] = known.setdefault(text, text)  # each different text once
        return tuple(whole)


class _MasksOnDisk(Mapping[int, "Masks"]):
    """Unusual masks by sentence, read when one is asked for."""

    def __init__(self, joined: JoinedShards) -> None:
        self._at = {
            int(np.searchsorted(joined.places, int(place))): (shard, int(place))
            for shard in joined.shards
            for place in shard.told["masks"]
        }

    def __getitem__(self, sentence: int) -> Masks:
        shard, place = self._at[sentence]
        return shard.masks(place)

    def __iter__(self) -> Iterator[int]:
        return iter(self._at)

    def __len__(self) -> int:
        return len(self._at)


def join_shards(shards: Sequence[Shard]) -> JoinedShards:
    """The parts of one run, all of them.

    Raises
    ------
    ValueError
        When none of them has a token.
    """
    filled = tuple(shard for shard in shards if shard.count)
    if not filled:
        raise ValueError("an atlas needs at least one sentence")
    places = np.concatenate([shard.array("places") for shard in filled])
    lengths = np.concatenate([shard.array("lengths") for shard in filled])
    order = np.argsort(places)
    firsts = np.empty_like(lengths)
    firsts[order] = np.cumsum(lengths[order]) - lengths[order]
    # Where each token of each part goes: the first of its sentence, and its place in there.
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    tokens = np.repeat(firsts, lengths) + within
    ends = np.cumsum([shard.count for shard in filled])[:-1]
    return JoinedShards(filled, places[order], tuple(np.split(tokens, ends)))


def assemble(
    shards: Sequence[Shard],
    target: Path,
    sentences: Sequence[str],
    labels: Sequence[str] = (),
    settings: Mapping[str, str | int] | None = None,
    tell: Callable[[int, int], object] | None = None,
) -> None:
    """Write the atlas of all parts to a path, head by head.

    Parameters
    ----------
    sentences, labels : indexed by the places of the sentences in the parts.
    settings : to be told with it.
    tell : is called with how many heads are done, of how many.

    Raises
    ------
    ValueError
        When no part has a token; an AtlasFileError when points are no finite numbers.
    OSError
        When the file cannot be written.
    """
    joined = join_shards(shards)
    layers, heads = joined.shape
    causal = bool(joined.shards[0].told["causal"])
    columns = joined.columns()
    blocks = blocks_of(columns, _MasksOnDisk(joined), causal, MAX_PAIRS)
    kept, columns = kept_texts(columns, [sentences[place] for place in joined.places])
    named = tuple(labels[place] for place in joined.places) if labels else ()
    found: list[HeadPicture] = []
    with whole_file(target) as path, AtlasWriter(path, columns, named) as writer:
        rules, pairs = joined.rules(), CorpusPairs(blocks)
        pictures = _in_order(
            layers, heads, lambda *at: picture_of(joined.of_head, pairs, at, rules)
        )
        for at, picture in pictures:
            writer.write_head(at, picture.points, picture.norms)
            found.append(picture._replace(points={}, norms=np.empty(0, dtype=np.float32)))
            if tell is not None:
                tell(len(found), layers * heads)
        writer.finish(
            Atlas(
                model=joined.shards[0].told["model"],
                causal=causal,
                sentences=kept,
                labels=named,
                tokens=columns,
                points={},
                norms=np.empty(0, dtype=np.float32),
                distances=joined.distances(),
                positions=joined.positions(),
                rules=rules,
                settings={**_what_was_cut(shards), **(settings or {})},
                **figures_of_heads(found, layers, blocks),  # type: ignore[arg-type]
            )
        )


def _what_was_cut(shards: Sequence[Shard]) -> dict[str, str | int]:
    """How much of all parts' texts was cut, as an atlas's settings tell it."""
    return cut_settings(
        sum(int(shard.told["dropped"]) for shard in shards),
        sum(int(shard.told.get("cut_characters", 0)) for shard in shards),
    )


def _in_order(
    layers: int, heads: int, function: Callable[[int, int], HeadPicture]
) -> Iterator[tuple[tuple[int, int], HeadPicture]]:
    """What `function` gives for every head, layer after layer, and few of them ahead."""
    at_once = min(_HEADS_AT_ONCE, os.cpu_count() or 1)
    waiting: deque[Any] = deque()
    pool = ThreadPoolExecutor(at_once)
    with threadpool_limits(1, user_api="blas"):
        try:
            for at in product(range(layers), range(heads)):
                waiting.append((at, pool.submit(function, *at)))
                if len(waiting) > at_once:
                    head, future = waiting.popleft()
                    yield head, future.result()
            while waiting:
                head, future = waiting.popleft()
                yield head, future.result()
        finally:
            pool.shutdown(cancel_futures=True)
