"""Turn a name or a folder into a model to trace, or refuse it with the reason and advice."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from core.model import memory
from core.model.errors import NotDownloadedError, UnknownModelError, UnsupportedModelError
from core.model.image.facts import describe_vision, image_geometry, vision_config
from core.model.image.settings import read_processing
from core.model.opening import catalog, downloads, hub
from core.model.opening.config import check_config
from core.model.opening.folder import ModelFiles, check_folder
from core.model.opening.head import ModelWithHead, describe_answers, fits_task, read_with_head
from core.model.opening.tokenizer import NOT_FAST, private_copy
from core.model.opening.weights import count_weights, number_type, read_weights
from core.model.proof.runs import Samples
from core.model.proof.samples import Pictures, ProofTexts, pictures_for, texts_for, usual_size
from core.model.refusal import refusing
from core.model.running import network
from core.model.running.loaded import HeadInfo, LoadedModel
from core.model.running.probe import LoadCheck, probe
from core.model.trace import AttentionType
from core.vocabulary import Modality

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast


Phase = Literal["importing", "reading", "checking"]  # of a load, in this order
_LOAD_LOCK = threading.Lock()  # one load at a time: loading needs the most memory
_MIN_TOKENS = 4  # [CLS], [SEP] and two tokens of the text


def load(
    name: str,
    download: bool = True,
    *,
    folders: bool = True,
    token: bool | None = None,
    half: bool = False,
    modality: Modality | None = None,
    on_stage: Callable[[Phase], None] = lambda _: None,
) -> LoadedModel:
    """Load a model and prove that its attention can be recomputed from what is recorded.

    Folders are untrusted: transformers gets nothing from them that was not checked first.

    Parameters
    ----------
    name : a catalogue name, a Hugging Face id, or a local folder.
    download : fetch the weights if they are not on this machine; otherwise refuse.
    folders : whether `name` may be a folder; if not, the disk is not searched for one.
    token : False sends the hub no token, None this machine's token if there is one.
    half : run a checkpoint in bfloat16 or float16 as it is, in half the memory; what is recorded is
        still float32, and the check allows for the coarser rounding. Otherwise, and for any other
        checkpoint, everything runs in float32.
    modality : "text" or "image", to refuse a model of the other kind, and to choose the part of one
        that reads both, such as CLIP. None opens a catalogue model as it is listed, and the text
        part of any other model that reads both.
    on_stage : called as each stage begins: the libraries are imported, then the files are read,
        then what is recorded is checked.

    Raises
    ------
    ModelError
        One of its subclasses, with the problem and advice; nothing else.
    """
    with refusing(name, "load"):
        folder = _locate(name.strip(), download, folders, token)
        on_stage("importing")
        spec = catalog.find_entry(name.strip())
        with _LOAD_LOCK, _quiet():
            import_libraries()  # transformers cannot be imported by two threads at once
            modality = spec.modality if modality is None and spec is not None else modality
            own = folders and folder == catalog.as_folder(name.strip())
            return _load(name, folder, on_stage, own=own, half=half, modality=modality)


def _load(
    name: str,
    folder: Path,
    on_stage: Callable[[Phase], None],
    *,
    own: bool,
    half: bool,
    modality: Modality | None,
) -> LoadedModel:
    """Load from a folder, which is the user's `own` or a stranger's."""
    import torch

    on_stage("reading")
    files = check_folder(folder, modality)
    settings = check_config(files.config)
    counts = count_weights(files.weights)
    on_disk, dtype = counts.total(), getattr(torch, number_type(counts) if half else "float32")
    memory.check_fits(on_disk, dtype.itemsize)
    sees = files.modality == "image"
    with private_copy(files, settings, own=own) as checked:
        config = network.read_config(checked)
        tokenizer = None if sees else _read_tokenizer(checked)
    part = vision_config(config) if sees else config
    empty = network.build_empty(part)
    network.check_share(on_disk, empty)
    memory.check_fits(max(on_disk, network.count_numbers(empty)), dtype.itemsize)
    weights = read_weights(files.weights)
    whole = read_with_head(config, empty, on_disk, weights, dtype, sees=sees)
    base = network.fill(empty, part, weights, dtype) if whole is None else whole.base
    del weights
    if whole is not None and not sees:
        describe_answers(whole.network, settings | files.generation)
    on_stage("checking")
    device = pick_device()
    (base if whole is None else whole.network).to(device)  # type: ignore[arg-type]
    samples = _pictures(base, files) if tokenizer is None else _texts(base, tokenizer)
    return replace(_prove(name, samples, whole, device), notes=files.notes)


def import_libraries() -> None:
    """Import what a first load mostly waits for: PyTorch, and what every model needs."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    del torch, AutoModel, AutoTokenizer


def _locate(name: str, download: bool, folders: bool, token: bool | None) -> Path:
    """The folder with the model's files, downloaded first where that is allowed."""
    spec = catalog.find_entry(name)
    if spec is not None and spec.bundled:
        if (problem := catalog.bundled_problem(spec)) is not None:
            raise problem
        return catalog.bundled_folder(spec)
    if folders and spec is None and (path := catalog.as_folder(name)) is not None:
        return path
    repos = spec.repos if spec is not None else (name,)
    for repo in repos:
        if (folder := hub.cached_folder(repo)) is not None:
            return folder
    if spec is not None:
        memory.check_fits(spec.weights)  # nobody should wait for a download that cannot be opened
    try:
        model = hub.look_up(repos[0], token)
    except UnknownModelError as error:
        if spec is None or not spec.gated:
            raise
        raise UnknownModelError(
            "The hub gives {name} only to people who have accepted its licence there.",
            "Accept it, log in to the hub on this machine, and try again; or pick another model.",
        ) from error
    if not download:
        raise NotDownloadedError(
            f"{{name}} is not on this machine yet: {model.size_mb} MB must be downloaded.",
            "Download it, or pick a model that is already here.",
            size_mb=model.size_mb,
        )
    return downloads.fetch(model, token)


def _read_tokenizer(folder: Path) -> PreTrainedTokenizerFast:
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False
        )
    except Exception as error:
        raise UnsupportedModelError(
            f"The tokenizer of {{name}} cannot be read ({type(error).__name__})."
        ) from error
    if not getattr(tokenizer, "is_fast", False):
        raise UnsupportedModelError(NOT_FAST)
    return tokenizer  # type: ignore[no-any-return]


def _texts(base: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> ProofTexts:
    """The texts that a network is checked on."""
    max_tokens = _max_tokens(base, tokenizer)
    if max_tokens < _MIN_TOKENS:
        raise UnsupportedModelError(
            f"The settings of {{name}} limit texts to {max_tokens} tokens, special ones included.",
            "Correct model_max_length in tokenizer_config.json, or pick another model.",
        )
    return texts_for(base, tokenizer, max_tokens)


def _pictures(base: PreTrainedModel, files: ModelFiles) -> Pictures:
    """The pictures that a network is checked on."""
    _, size = image_geometry(base.config)
    processing = read_processing(files.processor, base.config.model_type, size)
    return pictures_for(base, usual_size(base, describe_vision(base, processing)))


def _prove(
    name: str, samples: ProofTexts | Pictures, whole: ModelWithHead | None, device: str
) -> LoadedModel:
    """Check the network on its samples, and describe it."""
    checked: Samples[Any] = samples
    base = samples.network
    entire = base if whole is None else whole.network
    load_check = probe(checked)
    attention = {kind: _heads(base, load_check, kind) for kind in load_check.traces}
    described = partial(
        LoadedModel,
        **vars(next(iter(attention.values()))),
        name=name,
        network=base,
        device=device,
        attention=attention,
        parameters=entire.num_parameters(),
        probe_error=load_check.error,
        way=load_check.way,
        order=load_check.order,
        batches=load_check.batches,
        number_type=str(base.dtype).removeprefix("torch."),
        checked_tokens=load_check.tokens,
        network_lock=threading.RLock() if load_check.changes else None,
    )
    if isinstance(samples, Pictures):
        vision = replace(samples.vision, interpolates=load_check.further)
        return described(
            max_tokens=vision.tokens(),
            vision=vision,
            classifier=None if whole is None else entire,
        )
    task, causal = None if whole is None else whole.task, described.keywords["causal"]
    speaks = task is not None and fits_task(task, samples.tokenizer, causal=causal)
    return described(
        max_tokens=samples.max_tokens,
        text_tokenizer=samples.tokenizer,
        language_model=entire if speaks else None,
        task=task if speaks else None,
        classifier=entire if whole is not None and task is None else None,
    )


def _heads(
    filled: PreTrainedModel, load_check: LoadCheck, attention_type: AttentionType
) -> HeadInfo:
    """The heads of one kind of attention in a checked model."""
    trace = load_check.traces[attention_type]
    layers, heads, _, dim = trace.shape
    depth = getattr(filled.config.get_text_config(), "num_hidden_layers", None)
    sees_later = any(np.triu(trace.attention(*each), 1).any() for each in np.ndindex(layers, heads))
    names = None
    if load_check.outputs is not None:
        calls = zip(load_check.outputs, load_check.order, strict=True)
        names = tuple(name for name, kind in calls if kind == attention_type)
    return HeadInfo(
        layers=layers,
        heads=heads,
        kv_heads=trace.kv_keys.shape[1],
        dim=dim,
        causal=attention_type != "cross" and not sees_later,
        depth=depth if attention_type == "self" else layers,
        layer_labels=() if trace.layers[0].number is None else trace.layer_labels,
        outputs=names,
    )


def pick_device() -> str:
    """The fastest device available: "cuda", else "mps", else "cpu"."""
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _max_tokens(filled: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> int:
    """Longest input: what the tokenizer says, capped at the number of positions."""
    import torch

    settings = filled.config.get_text_config()
    limits = [tokenizer.model_max_length, getattr(settings, "max_position_embeddings", None)]
    for key, module in filled.named_modules():
        if key.endswith(("position_embeddings", "embed_positions")) and isinstance(
            module, torch.nn.Embedding
        ):
            # RoBERTa counts positions from padding_idx + 1.
            first = 0 if module.padding_idx is None else module.padding_idx + 1
            limits.append(module.num_embeddings - first)
    plausible = [limit for limit in limits if isinstance(limit, int) and 0 < limit < 10**9]
    return min(plausible, default=512)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep transformers' load reports and progress bars out of the server's log."""
    from transformers.utils import logging

    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
