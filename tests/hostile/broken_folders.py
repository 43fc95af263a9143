"""Ways to spoil a model folder, each a function of the folder and of a file outside of it.

All begin with a tiny BERT that loads. What a stranger would try: to have other files read, code
run, memory taken, time wasted; and what goes wrong by accident.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

Spoil = Callable[[Path, Path], object]
CONFIG, WEIGHTS, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
TOKENIZER, SETTINGS, SPECIALS = "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"


def edit(folder: Path, file: str, **changes: Any) -> None:
    """Change entries of a JSON file; a file that is not there begins empty."""
    path = folder / file
    content = json.loads(path.read_text("utf-8")) if path.exists() else {}
    path.write_text(json.dumps(content | changes), encoding="utf-8")


def config(**changes: Any) -> Spoil:
    return lambda folder, _: edit(folder, CONFIG, **changes)


def settings(**changes: Any) -> Spoil:
    return lambda folder, _: edit(folder, SETTINGS, **changes)


def written(file: str, content: bytes) -> Spoil:
    return lambda folder, _: (folder / file).write_bytes(content)


def linked(file: str) -> Spoil:
    """A file of the folder is a link to the file outside."""

    def spoil(folder: Path, outside: Path) -> None:
        (folder / file).unlink(missing_ok=True)
        (folder / file).symlink_to(outside)

    return spoil


def indexed(file: str) -> Spoil:
    """The weights' index names this file, a path from the folder, where the weights lie."""

    def spoil(folder: Path, _: Path) -> None:
        names = list(load_file(folder / WEIGHTS))
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / WEIGHTS).rename(folder / file)
        save_file({"x": torch.zeros(1)}, folder / "decoy.safetensors")
        edit(folder, INDEX, metadata={}, weight_map=dict.fromkeys(names, file))

    return spoil


def an_index_of_an_absolute_path(folder: Path, outside: Path) -> None:
    indexed(str(folder.parent / "x.safetensors"))(folder, outside)


def an_index_without_a_map(folder: Path, _: Path) -> None:
    (folder / WEIGHTS).unlink()
    edit(folder, INDEX, weight_map=[])


def an_index_of_a_pickle(folder: Path, outside: Path) -> None:
    """It writes into the file outside when it is opened."""

    class Payload:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.system, (f"echo ran > {outside}",)

    indexed("pytorch_model.bin")(folder, outside)
    torch.save(Payload(), folder / "pytorch_model.bin")


def weights(change: Callable[[str, torch.Tensor], torch.Tensor | None]) -> Spoil:
    """The tensors are others, or gone."""

    def spoil(folder: Path, _: Path) -> None:
        changed = {name: change(name, each) for name, each in load_file(folder / WEIGHTS).items()}
        tensors = {name: each for name, each in changed.items() if each is not None}
        save_file(tensors, folder / WEIGHTS, metadata={"format": "pt"})

    return spoil


def header(*shapes: list[int], length: int | None = None) -> Spoil:
    """The weights have this header: tensors of these shapes, in the same eight bytes."""
    entry = {"dtype": "F32", "data_offsets": [0, 8]}
    content = {str(number): entry | {"shape": shape} for number, shape in enumerate(shapes)}
    raw = json.dumps(content).encode()
    size = struct.pack("<Q", len(raw) if length is None else length)
    return written(WEIGHTS, size + raw + b"0" * 8 * bool(shapes))


def a_header_of_90_mb(folder: Path, _: Path) -> None:
    """So many empty tensors, with names of their own."""
    entries = (
        b'"%07d":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}' % number
        for number in range(90_000_000 // 57)
    )
    content = b"{" + b",".join(entries) + b"}"
    (folder / WEIGHTS).write_bytes(struct.pack("<Q", len(content)) + content)


def a_pipe(folder: Path, _: Path) -> None:
    """Into which nobody writes."""
    (folder / TOKENIZER).unlink()
    os.mkfifo(folder / TOKENIZER)


def vocabulary(model: dict[str, Any] | None = None, **changes: Any) -> Spoil:
    """tokenizer.json says something else, of its model too."""

    def spoil(folder: Path, _: Path) -> None:
        content = json.loads((folder / TOKENIZER).read_text("utf-8"))
        edit(folder, TOKENIZER, model=content["model"] | (model or {}), **changes)

    return spoil


def weights_in_pickle_form_alone(folder: Path, _: Path) -> None:
    """As older checkpoints are published."""
    torch.save(load_file(folder / WEIGHTS), folder / "pytorch_model.bin")
    (folder / WEIGHTS).unlink()


def code_of_its_own(folder: Path, outside: Path) -> None:
    """A kind of network that only the folder's code knows; running it would change the file."""
    (folder / "own.py").write_text(
        f"import pathlib\npathlib.Path({str(outside)!r}).write_text('ran')\n"
        "from transformers import BertConfig as Config, BertModel as Network\n",
        encoding="utf-8",
    )
    own = {"AutoConfig": "own.Config", "AutoModel": "own.Network"}
    edit(folder, CONFIG, model_type="own", auto_map=own)


def holding(*files: str) -> Spoil:
    """The folder holds these files, each an empty JSON object, and nothing else."""

    def spoil(folder: Path, _: Path) -> None:
        for path in folder.iterdir():
            path.unlink()
        for file in files:
            (folder / file).parent.mkdir(exist_ok=True)
            (folder / file).write_text("{}")

    return spoil


_TEMPLATE = {"type": "TemplateProcessing", "pair": [], "special_tokens": {}}
_SIZES = {"hidden_size": 8, "num_attention_heads": 2}
_PART = {"model_type": "bert"}
_QUERIES = "layer.1.attention.self.query"
ATTACKS: dict[str, Spoil] = {
    "vocab.txt leads outside": linked("vocab.txt"),
    "tokenizer.json leads outside": linked(TOKENIZER),
    "tokenizer_config.json leads outside": linked(SETTINGS),
    "added_tokens.json leads outside": linked("added_tokens.json"),
    "tokenizer.json leads nowhere": lambda folder, _: linked(TOKENIZER)(folder, folder / "gone"),
    "tokenizer.json is a pipe": a_pipe,
    "the tokenizer's class is a network": settings(tokenizer_class="BertModel"),
    "the tokenizer's class is a slow one": settings(tokenizer_class="CTRLTokenizer"),
    "the tokenizer's class is a number": settings(tokenizer_class=7),
    "tokenizer.json is no JSON": written(TOKENIZER, b"{"),
    "tokenizer.json is nested too deep": written(TOKENIZER, b"[" * 100_000 + b"]" * 100_000),
    "ids lie beyond the embedding": vocabulary(
        model={"vocab": {"[CLS]": 0, "[SEP]": 1, "[UNK]": 10**6}}
    ),
    "scores of pieces cannot be compared": vocabulary(
        model={"type": "Unigram", "unk_id": 7, "vocab": [["a", 1e308], ["b", -1e308]]}
    ),
    "the unknown token is not in the vocabulary": vocabulary(
        model={"unk_token": "[NOWHERE]", "vocab": {"[CLS]": 0, "[SEP]": 1}}
    ),
    "the template names a token that is not there": vocabulary(
        post_processor=_TEMPLATE | {"single": [{"SpecialToken": {"id": "[GONE]", "type_id": 0}}]}
    ),
    "every letter doubled eighteen times": vocabulary(
        normalizer={
            "type": "Sequence",
            "normalizers": [{"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}] * 18,
        }
    ),
    "a tokenizer that takes one token": settings(model_max_length=1),
    "a special token of 100,000 characters": settings(sep_token="x" * 100_000),
    "no layers": config(num_hidden_layers=0),
    "a billion layers": config(num_hidden_layers=10**9),
    "minus one layer": config(num_hidden_layers=-1),
    "heads that do not divide the width": config(num_attention_heads=5),
    "a width of ten to the eighty": config(hidden_size=10**80),
    "a billion entries of a vocabulary": config(vocab_size=10**9),
    "a billion labels": config(num_labels=10**9),
    "a billion positions": config(max_position_embeddings=10**9),
    "a width that is a text": config(hidden_size="32"),
    "an activation that does not exist": config(hidden_act="no-such"),
    "a name that is a method": config(to_dict=3),
    "no model_type": config(model_type=None),
    "a model_type that is a list": config(model_type=["bert"]),
    "quantized": config(quantization_config={"quant_method": "bitsandbytes", "load_in_4bit": True}),
    "config.json leads outside": linked(CONFIG),
    "config.json is a list": written(CONFIG, b"[]"),
    "config.json is nested too deep": written(CONFIG, b'{"a":' * 100_000),
    "config.json of three megabytes": written(CONFIG, b'{"a": "' + b"x" * 3_000_000 + b'"}'),
    "config.json is no text": written(CONFIG, bytes(range(128, 256))),
    "a number of 5,000 digits": written(CONFIG, b'{"hidden_size": ' + b"9" * 5000 + b"}"),
    "an index that names a pickle": an_index_of_a_pickle,
    "an index that leaves the folder": indexed("../x.safetensors"),
    "an index that names a folder within": indexed("in/x.safetensors"),
    "an index that names an absolute path": an_index_of_an_absolute_path,
    "an index without a map": an_index_without_a_map,
    "weights that lead outside": linked(WEIGHTS),
    "an empty file of weights": written(WEIGHTS, b""),
    "a header longer than its file": header(length=2**60),
    "a shape beyond all numbers": header([2**40, 2**40]),
    "a shape of 100,000 axes": header([1] * 100_000 + [2]),
    "tensors that overlap": header([2], [2]),
    "no tensor at all": header(),
    "weights of other shapes": weights(lambda _, each: torch.cat([each, each])),
    "hardly any weights": weights(lambda name, each: each if name.startswith("emb") else None),
    "a config of more layers than there are weights": config(num_hidden_layers=40),
    "a vocabulary of nested lists": written(TOKENIZER, b"[" + b"[]," * 20_000_000 + b"[]]"),
    "a header of 90 MB": a_header_of_90_mb,
    "weights that would fill the memory": config(
        hidden_size=8192, num_attention_heads=64, num_hidden_layers=500
    ),
    "a table of positions that would fill the memory": config(max_position_embeddings=2**24),
    "two thousand layers of experts": config(
        model_type="mixtral", num_hidden_layers=2000, num_local_experts=4096, **_SIZES
    ),
    "a table of sines filled one by one": config(
        model_type="distilbert", sinusoidal_pos_embds=True, dim=32, max_position_embeddings=2**22
    ),
}
TOLD: dict[str, tuple[Spoil, str]] = {  # with what the refusal says
    "a package that is not installed": (
        config(model_type="timm_wrapper", architecture="resnet18"),
        "needs the Python package timm, which is not installed",
    ),
    "weights that are no numbers": (
        weights(lambda _, each: torch.full_like(each, float("nan"))),
        r"not finite \(NaN or infinity\), for example in \w+\.",
    ),
    "weights in pickle form alone": (weights_in_pickle_form_alone, "writes safetensors"),
    "weights that lack a layer's queries": (  # random numbers would pass for them
        weights(lambda name, each: None if _QUERIES in name else each),
        "2 tensors are missing",
    ),
    "code of its own": (code_of_its_own, "never runs such code"),
    "an adapter alone": (
        holding("adapter_config.json"),
        r"adapter \(such as LoRA\) without the model.* merge_and_unload\(\)",
    ),
    "a trainer's folder": (
        holding("checkpoint-500/config.json", "checkpoint-1000/config.json"),
        "Open the folder checkpoint-1000 inside it",
    ),
    "a folder of old sentence-transformers": (
        holding("0_Transformer/config.json"),
        "Open the folder 0_Transformer inside it",
    ),
    "two networks": (
        config(model_type="encoder-decoder", encoder=_PART, decoder=_PART),
        "joins two networks of their own",
    ),
    "letters": (holding("letter.txt"), "holds no model"),
}
ALL = {name: (spoil, "") for name, spoil in ATTACKS.items()} | TOLD
