"""Large atlases made by repetition and noise: the first picture, a part of it, a search.

Forward passes over ten million tokens would take too long, so one corpus is run, and its parts are
written over and over, with other sentence numbers and each point moved a little. With ten million
tokens it is a model of 16 heads, for the disk's sake: pictures and searches read the tokens, one
head, and what does not grow, whatever the number of heads.

Run as ``python -m tests.tools.bench.scale_opening FOLDER``, this opens an atlas in a process
of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from core.atlas.command_line.output import constants_of
from core.atlas.density import Density
from core.atlas.engine import chunks_of, walk
from core.atlas.engine.constants import facts_of_sums
from core.atlas.engine.folder import FolderStore
from core.atlas.engine.project import (
    add_counts,
    all_bounds,
    part_bounds,
    part_counts,
    project,
    project_part,
)
from core.atlas.engine.sample import shown_numbers
from core.atlas.engine.walk import Row
from core.atlas.files import finish_folder, write_part
from core.atlas.sources import open_large
from core.model import load, trace_by_length
from core.model.text.inputs import token_lengths
from core.vocabulary import STAGES, Stage
from tests.server import ROOT
from tests.tools.bench.atlas_capture import _peak_mb, large_corpus, tell_load
from tests.tools.bench.browser import arrive, close, link, running_browser, wait_until_idle
from tests.tools.bench.extent import few
from tests.tools.bench.report import show
from tests.tools.bench.server import folder_of_atlases, running_app, watching_memory

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from core.atlas.data import AtlasFacts, CorpusTexts, HeadPoints, ProjectedPart
    from core.atlas.engine import Chunk
    from core.atlas.search.expression import Kind
    from core.atlas.sources.folder import LargeAtlas
    from core.model.trace import Trace

SIZES = few(
    (("bundled/minilm", 1_000_000), ("bundled/gpt2-novels", 10_000_000)),
    (("bundled/gpt2-novels", 4_000),),
)
RUN = few(32_000, 1_000)  # tokens that are really run
PART = few(8_192, 1_024)
NOISE = 0.01  # of each component, in its own standard deviation
HEAD = 2, 1  # one that is looked at, from 0
SEARCHES: tuple[tuple[str, Kind], ...] = (("she", "token"), ("of the", "phrase"))
PICTURE_LIMIT_S, SEARCH_LIMIT_S = 5.0, 2.0
MEMORY_LIMIT_MB = 500.0  # beyond a process that has imported the same


class Searched(NamedTuple):
    """A search, and the seconds it took."""

    query: str
    kind: Kind
    cold: float  # with none of the files it reads in the page cache
    warm: float  # once more
    matches: int


class Opened(NamedTuple):
    """Seconds of each step, and megabytes beyond what importing took."""

    picture: float  # opened: the sample and the counts of all heads, which the page draws first
    zoom: float  # a quarter of one head's plane, counted anew
    searches: list[Searched]
    memory: float


class Base(NamedTuple):
    """What is written over and over: parts, and what does not grow."""

    parts: list[ProjectedPart]
    facts: AtlasFacts
    density: Mapping[Stage, Density]
    sample: CorpusTexts
    heads: list[HeadPoints]  # of the sample
    sentences: int


def show_opening() -> None:
    """Both sizes, one after the other: they take 10 GB of disk each."""
    for model, tokens in SIZES:
        with folder_of_atlases() as place:
            folder = place / "large.atlas"
            start = time.perf_counter()
            held, size = repeat_atlas(model, tokens, folder)
            name = f"{model}, {held} tokens by repetition and noise"
            show(f"{name}: written", [time.perf_counter() - start], "s")
            show(f"{name}: bytes a token on disk", [size / held], "count")
            own = sum(path.stat().st_size for path in folder.glob("search-*"))
            show(f"{name}:   of which only searches read", [own / held], "count")
            opened = few(open_apart, open_atlas)(folder)
            _show_page(name, folder)
        show(f"{name}: opened, with its sample and counts", [opened.picture], "s")
        show(f"{name}: a quarter of a head counted anew", [opened.zoom], "s")
        for query, kind, cold, warm, matches in opened.searches:
            search = f"{name}: {kind} “{query}” ({matches} matches)"
            show(f"{search}, from the disk", [cold], "s", SEARCH_LIMIT_S)
            show(f"{search}, again", [warm], "s", SEARCH_LIMIT_S)
        show(f"{name}: memory for it", [opened.memory], "MB", MEMORY_LIMIT_MB)
        tell_load()


def _show_page(name: str, folder: Path) -> None:
    """Links to it on a server that has shown a page: painted, and all of it searched."""
    with (
        running_app(atlases=folder.parent) as server,
        watching_memory(server) as watch,
        running_browser() as browser,
    ):
        page = arrive(browser, server.url)
        watch.begin()
        before, start = watch.look(), time.perf_counter()
        page.goto(link(server.url, "atlas", corpus="prepared", prepared=folder.stem))
        page.locator(".root[data-painted]").first.wait_for()
        show(f"{name}: link to first picture", [time.perf_counter() - start], "s", PICTURE_LIMIT_S)
        for query, kind in SEARCHES:
            page.goto(link(server.url, "atlas", corpus="prepared", prepared=folder.stem, kind=kind))
            page.locator(".root[data-painted]").first.wait_for()
            wait_until_idle(page)
            forget(folder)
            box, start = page.get_by_role("textbox", name="Find"), time.perf_counter()
            box.fill(query)
            box.press("Enter")
            page.get_by_text("among all").first.wait_for()
            taken = f"{name}: Enter to what is found of {kind} “{query}”, from the disk"
            show(taken, [time.perf_counter() - start], "s", SEARCH_LIMIT_S)
            wait_until_idle(page)
        show(f"{name}: server", [(watch.peak - before) / 1e6], "MB", MEMORY_LIMIT_MB)
        close(page)


def repeat_atlas(model_name: str, tokens: int, folder: Path) -> tuple[int, int]:
    """Write an atlas of about so many tokens; returns how many it has, and its bytes."""
    folder.mkdir()
    base, rng = _base(model_name), np.random.default_rng(0)
    own = sum(len(part.tokens) for part in base.parts)
    times = max(1, round(tokens / own))
    for turn in range(times):
        for index, part in enumerate(base.parts):
            shifted = part.tokens.sentence + turn * base.sentences
            moved = {stage: _moved(points, rng) for stage, points in part.points.items()}
            again = replace(
                part,
                index=turn * len(base.parts) + index,
                tokens=replace(part.tokens, sentence=shifted),
                points=moved,
            )
            write_part(folder, again)
    facts = replace(
        base.facts, tokens=base.facts.tokens * times, sentences=base.facts.sentences * times
    )
    density = {
        stage: Density(counted.counts * np.uint32(times), counted.bounds)
        for stage, counted in base.density.items()
    }
    finish_folder(folder, facts, density, base.sample, base.heads)
    return facts.tokens, sum(path.stat().st_size for path in folder.iterdir())


def open_atlas(folder: Path) -> Opened:
    """What the page does first, and what is asked for then."""
    before, start = _peak_mb(), time.perf_counter()
    atlas = open_large(folder)
    sample, density = atlas.sample, atlas.density("raw")
    assert len(sample.tokens)
    drawn = time.perf_counter()
    x0, x1, y0, y1 = density.bounds[HEAD]
    atlas.look(*HEAD, "raw", np.array([x0, (x0 + x1) / 2, y0, (y0 + y1) / 2]))
    zoomed = time.perf_counter()
    searches = [search(atlas, query, kind) for query, kind in SEARCHES]
    return Opened(drawn - start, zoomed - drawn, searches, _peak_mb() - before)


def search(atlas: LargeAtlas, query: str, kind: Kind) -> Searched:
    """The same search from the disk, and again."""
    forget(atlas.folder)
    start = time.perf_counter()
    atlas.search(query, kind)
    found = time.perf_counter()
    matches = atlas.search(query, kind)
    return Searched(query, kind, found - start, time.perf_counter() - found, matches.count)


def forget(folder: Path) -> None:
    """Take the files of a folder out of the page cache, where the system lets a process do so."""
    if not hasattr(os, "posix_fadvise"):
        return
    for path in folder.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def open_apart(folder: Path) -> Opened:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "tests.tools.bench.scale_opening", str(folder)]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    picture, zoom, searches, memory = json.loads(done.stdout.splitlines()[-1])
    return Opened(picture, zoom, [Searched(*each) for each in searches], memory)


def _base(model_name: str) -> Base:
    """A corpus of `RUN` tokens, really run."""
    model = load(model_name)
    texts = large_corpus()
    lengths = token_lengths(model, texts, None)
    count = int(np.searchsorted(np.cumsum(lengths), RUN))
    rows = [Row(number, lengths[number], texts[number]) for number in range(count)]

    def traces_of(chunk: Chunk) -> Iterator[tuple[int, Trace]]:
        numbers = list(chunk.lengths)
        traces = trace_by_length(model, [chunk.texts[number] for number in numbers])
        return ((numbers[place], trace) for place, trace in traces)

    with tempfile.TemporaryDirectory() as place:
        store = FolderStore(Path(place))
        sums = walk(chunks_of(rows, PART), traces_of, store)
        if sums is None:
            raise RuntimeError("the corpus has no sentence")
        constants = constants_of(store, sums)
        shown = shown_numbers(sums.candidates)
        sample = store.texts(shown)
        heads = list(project(store.sample(shown).of_head, constants, sums.layer_numbers))
        made = [part for index in store.indices if (part := store.part(index)) is not None]
    parts = [project_part(part, constants) for part in made]
    bounds = all_bounds([part_bounds(each) for each in parts])
    counts = part_counts(parts[0], bounds)
    for each in parts[1:]:
        counts = add_counts(counts, part_counts(each, bounds))
    return Base(
        parts,
        facts_of_sums(sums, constants, {}, labelled=False),
        {stage: Density(counts[stage], bounds[stage]) for stage in STAGES},
        sample,
        heads,
        count,
    )


def _moved(points: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Points (layer, head, 2 token, 3) with a little noise."""
    noise = rng.standard_normal(points.shape, dtype=np.float32)
    return points + NOISE * points.std(axis=2, keepdims=True) * noise


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    print(json.dumps(open_atlas(parser.parse_args().folder)))
