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

Spoil = Callable[[Path, Path], None]
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
TOKENIZER, SETTINGS, SPECIALS = "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"


def edit(folder: Path, file: str, **changes: Any) -> None:
    """Change entries of a JSON file; a file that is not there begins empty."""
    path = folder / file
    content = json.loads(path.read_text("utf-8")) if path.exists() else {}
    path.write_text(json.dumps(content | changes), encoding="utf-8")


def config(**changes: Any) -> Spoil:
    """The folder's config.json says something else."""
    return lambda folder, _outside: edit(folder, "config.json", **changes)


def settings(**changes: Any) -> Spoil:
    """The folder's tokenizer_config.json says something else."""
    return lambda folder, _outside: edit(folder, SETTINGS, **changes)


def written(file: str, content: bytes) -> Spoil:
    """A file of the folder has other content."""

    def spoil(folder: Path, _outside: Path) -> None:
        (folder / file).write_bytes(content)

    return spoil


def linked(file: str) -> Spoil:
    """A file of the folder is a link to the file outside."""

    def spoil(folder: Path, outside: Path) -> None:
        (folder / file).unlink(missing_ok=True)
        (folder / file).symlink_to(outside)

    return spoil


def dangling(file: str) -> Spoil:
    """A file of the folder is a link to nothing."""
    return lambda folder, _outside: linked(file)(folder, folder / "gone")


def indexed(file: str, *, beside: str | None = None) -> Spoil:
    """The weights' index names this file, and the weights lie `beside` the folder or in it."""

    def spoil(folder: Path, _outside: Path) -> None:
        names = list(load_file(folder / WEIGHTS))
        target = folder / (beside or "elsewhere")
        target.parent.mkdir(parents=True, exist_ok=True)
        (folder / WEIGHTS).rename(target)
        save_file({"x": torch.zeros(1)}, folder / "decoy.safetensors")
        content = {"metadata": {}, "weight_map": dict.fromkeys(names, file)}
        (folder / INDEX).write_text(json.dumps(content), encoding="utf-8")

    return spoil


def index_of_nothing(folder: Path, outside: Path) -> None:
    """The index holds an empty list where a map belongs."""
    indexed("x.safetensors", beside="x.safetensors")(folder, outside)
    written(INDEX, b'{"weight_map": []}')(folder, outside)


def pickled_index(folder: Path, outside: Path) -> None:
    """The index names a pickle that writes into the file outside when it is opened."""

    class Payload:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.system, (f"echo ran > {outside}",)

    indexed("pytorch_model.bin")(folder, outside)
    torch.save(Payload(), folder / "pytorch_model.bin")


def weights(change: Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]]) -> Spoil:
    """The tensors are others."""

    def spoil(folder: Path, _outside: Path) -> None:
        changed = change(load_file(folder / WEIGHTS))
        save_file(changed, folder / WEIGHTS, metadata={"format": "pt"})

    return spoil


def header(content: dict[str, Any] | bytes, data: bytes = b"", length: int | None = None) -> Spoil:
    """model.safetensors has this header."""
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    size = struct.pack("<Q", len(raw) if length is None else length)
    return written(WEIGHTS, size + raw + data)


def tensor(shape: list[int], start: int, end: int) -> dict[str, Any]:
    """One entry of a safetensors header."""
    return {"dtype": "F32", "shape": shape, "data_offsets": [start, end]}


def named_pipe(file: str) -> Spoil:
    """A file of the folder is a pipe into which nobody writes."""

    def spoil(folder: Path, _outside: Path) -> None:
        (folder / file).unlink()
        os.mkfifo(folder / file)

    return spoil


def vocabulary(change: Callable[[dict[str, Any]], None]) -> Spoil:
    """tokenizer.json says something else."""

    def spoil(folder: Path, _outside: Path) -> None:
        content = json.loads((folder / TOKENIZER).read_text("utf-8"))
        change(content)
        (folder / TOKENIZER).write_text(json.dumps(content), encoding="utf-8")

    return spoil


def _ids_beyond(content: dict[str, Any]) -> None:
    entries = content["model"]["vocab"]
    content["model"]["vocab"] = {
        chunk: index if chunk.startswith("[") else index + 10**6 for chunk, index in entries.items()
    }


def _no_scores(content: dict[str, Any]) -> None:
    """A unigram vocabulary whose scores cannot be compared."""
    content["model"] = {"type": "Unigram", "unk_id": 7, "vocab": [["a", 1e308], ["b", -1e308]]}


def _without_unknown(content: dict[str, Any]) -> None:
    content["model"] |= {"unk_token": "[NOWHERE]"}
    content["model"]["vocab"] = {"[CLS]": 0, "[SEP]": 1}


def _empty_template(content: dict[str, Any]) -> None:
    content["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "[GONE]", "type_id": 0}}],
        "pair": [],
        "special_tokens": {},
    }


def path_in(file: str, key: str, *, inside_list: bool = False) -> Spoil:
    """A settings file names the file outside where the vocabulary belongs."""

    def spoil(folder: Path, outside: Path) -> None:
        edit(folder, SETTINGS, tokenizer_class="BertTokenizer")
        (folder / TOKENIZER).rename(folder / "vocab.json")
        edit(folder, file, **{key: [str(outside)] if inside_list else str(outside)})

    return spoil


def _nan(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {key: torch.full_like(each, float("nan")) for key, each in tensors.items()}


def _wider(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {key: torch.cat([each, each]) for key, each in tensors.items()}


def _few(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return dict(list(tensors.items())[:2])


TOKENIZERS: dict[str, Spoil] = {
    "vocab is a path in the settings": path_in(SETTINGS, "vocab"),
    "merges is a path in the settings": path_in(SETTINGS, "merges"),
    "vocab is a path among the special tokens": path_in(SPECIALS, "vocab"),
    "arguments of the tokenizer hold a path": path_in(SETTINGS, "init_inputs", inside_list=True),
    "vocab.txt leads outside": linked("vocab.txt"),
    "tokenizer.json leads outside": linked(TOKENIZER),
    "tokenizer_config.json leads outside": linked(SETTINGS),
    "added_tokens.json leads outside": linked("added_tokens.json"),
    "tokenizer.json leads nowhere": dangling(TOKENIZER),
    "tokenizer.json is a pipe": named_pipe(TOKENIZER),
    "the tokenizer's class is a network": settings(tokenizer_class="BertModel"),
    "the tokenizer's class is any network": settings(tokenizer_class="AutoModel"),
    "the tokenizer's class is a slow one": settings(tokenizer_class="CTRLTokenizer"),
    "the tokenizer's class is a number": settings(tokenizer_class=7),
    "tokenizer.json is no JSON": written(TOKENIZER, b"{"),
    "tokenizer.json is an empty file": written(TOKENIZER, b""),
    "tokenizer.json is nested too deep": written(TOKENIZER, b"[" * 100_000 + b"]" * 100_000),
    "tokenizer_config.json is nested too deep": written(SETTINGS, b'{"a":' * 100_000),
    "tokenizer_config.json is a list": written(SETTINGS, b"[1]"),
    "ids lie beyond the embedding": vocabulary(_ids_beyond),
    "scores of pieces cannot be compared": vocabulary(_no_scores),
    "the unknown token is not in the vocabulary": vocabulary(_without_unknown),
    "the template names a token that is not there": vocabulary(_empty_template),
    "a tokenizer that takes one token": settings(model_max_length=1),
    "a special token of 100,000 characters": settings(sep_token="x" * 100_000),
}
CONFIGS: dict[str, Spoil] = {
    "no layers": config(num_hidden_layers=0),
    "a billion layers": config(num_hidden_layers=10**9),
    "minus one layer": config(num_hidden_layers=-1),
    "no heads": config(num_attention_heads=0),
    "heads that do not divide the width": config(num_attention_heads=5),
    "a negative width": config(hidden_size=-32),
    "a width of ten to the eighty": config(hidden_size=10**80),
    "a billion entries of a vocabulary": config(vocab_size=10**9),
    "a billion labels": config(num_labels=10**9),
    "a billion positions": config(max_position_embeddings=10**9),
    "a width that is a text": config(hidden_size="32"),
    "an activation that does not exist": config(hidden_act="no-such"),
    "a name that is a method": config(to_dict=3),
    "no model_type": config(model_type=None),
    "a model_type that is a list": config(model_type=["bert"]),
    "a package that is not installed": config(
        model_type="timm_wrapper", architecture="resnet18", architectures=["TimmWrapperModel"]
    ),
    "quantized": config(quantization_config={"quant_method": "bitsandbytes", "load_in_4bit": True}),
    "config.json leads outside": linked("config.json"),
    "config.json is a list": written("config.json", b"[]"),
    "config.json is nested too deep": written("config.json", b'{"a":' * 100_000),
    "config.json of three megabytes": written("config.json", b'{"a": "' + b"x" * 3_000_000 + b'"}'),
    "config.json is no text": written("config.json", bytes(range(128, 256))),
    "a number of 5,000 digits": written("config.json", b'{"hidden_size": ' + b"9" * 5000 + b"}"),
}
WEIGHT_FILES: dict[str, Spoil] = {
    "an index that names a pickle": pickled_index,
    "an index that leaves the folder": indexed("../x.safetensors", beside="../x.safetensors"),
    "an index that names a folder within": indexed("in/x.safetensors", beside="in/x.safetensors"),
    "an index that names an absolute path": lambda folder, outside: indexed(
        str(folder.parent / "x.safetensors"), beside="../x.safetensors"
    )(folder, outside),
    "an index whose file is missing": indexed("gone.safetensors"),
    "an index without a map": index_of_nothing,
    "weights that lead outside": linked(WEIGHTS),
    "an empty file of weights": written(WEIGHTS, b""),
    "a header longer than its file": header({}, length=2**60),
    "a header of no JSON": header(b"[" * 100_000),
    "a shape that does not fit its bytes": header({"a": tensor([3], 0, 8)}, b"0" * 8),
    "a shape with a negative length": header({"a": tensor([-2], 0, 8)}, b"0" * 8),
    "a shape beyond all numbers": header({"a": tensor([2**40, 2**40], 0, 8)}, b"0" * 8),
    "a shape of 100,000 axes": header({"a": tensor([1] * 100_000 + [2], 0, 8)}, b"0" * 8),
    "tensors that overlap": header({"a": tensor([2], 0, 8), "b": tensor([2], 4, 12)}, b"0" * 12),
    "weights cut short": header({"a": tensor([4], 0, 16)}, b"0" * 8),
    "no tensor at all": header({}),
    "weights that are no numbers": weights(_nan),
    "weights of other shapes": weights(_wider),
    "hardly any weights": weights(_few),
    "a config of more layers than there are weights": config(num_hidden_layers=40),
}


def normalizer(*steps: dict[str, Any]) -> Spoil:
    """The tokenizer changes texts in these steps before it splits them."""
    return vocabulary(
        lambda content: content.update(normalizer={"type": "Sequence", "normalizers": list(steps)})
    )


def replaced(pattern: str, by: str) -> dict[str, Any]:
    """A step of a normalizer."""
    return {"type": "Replace", "pattern": {"String": pattern}, "content": by}


def header_of_ninety_megabytes(folder: Path, _outside: Path) -> None:
    """So many empty tensors, with names of their own."""
    entries = (
        b'"%07d":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}' % number
        for number in range(90_000_000 // 57)
    )
    content = b"{" + b",".join(entries) + b"}"
    (folder / WEIGHTS).write_bytes(struct.pack("<Q", len(content)) + content)


def tokens_with_ids_up_to_a_billion(folder: Path, _outside: Path) -> None:
    """transformers would name every id below the largest one."""
    (folder / TOKENIZER).unlink()
    (folder / "tokenizer.model").write_bytes(b"YQ== 0\nYg== 1\n")
    token = {"content": "<far>", "lstrip": False, "rstrip": False, "normalized": False}
    edit(folder, SETTINGS, added_tokens_decoder={str(10**9): token | {"special": True}})
    edit(folder, SETTINGS, tokenizer_class="PreTrainedTokenizerFast")


def vocabulary_of_a_gigabyte(folder: Path, _outside: Path) -> None:
    """Sparse, so that it takes no room on the disk."""
    (folder / TOKENIZER).unlink()
    with (folder / "vocab.txt").open("wb") as file:
        file.truncate(2**30)


_SIZES = {"hidden_size": 8, "num_attention_heads": 2}
MEMORY: dict[str, Spoil] = {
    "a vocabulary of nested lists": written(TOKENIZER, b"[" + b"[]," * 20_000_000 + b"[]]"),
    "a header of 90 MB": header_of_ninety_megabytes,
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
    "tokens with ids up to a billion": tokens_with_ids_up_to_a_billion,
    "a vocabulary on disk of a gigabyte": vocabulary_of_a_gigabyte,
    "every letter doubled eighteen times": normalizer(*[replaced("a", "aa")] * 18),
    "40 MB before every text": normalizer({"type": "Prepend", "prepend": "x" * 40_000_000}),
    "letters between all letters": normalizer(*[replaced("", "x" * 64)] * 4),
}


def pickled_alone(folder: Path, _outside: Path) -> None:
    """As older checkpoints are published."""
    torch.save(load_file(folder / WEIGHTS), folder / "pytorch_model.bin")
    (folder / WEIGHTS).unlink()


def with_code_of_its_own(folder: Path, outside: Path) -> None:
    """A kind of network that only the folder's code knows; running it would change the file."""
    (folder / "own.py").write_text(
        f"import pathlib\npathlib.Path({str(outside)!r}).write_text('ran')\n"
        "from transformers import BertConfig as Config, BertModel as Network\n",
        encoding="utf-8",
    )
    own = {"AutoConfig": "own.Config", "AutoModel": "own.Network"}
    edit(folder, "config.json", model_type="own", auto_map=own)


def holding(*files: str) -> Spoil:
    """The folder holds these files, each an empty JSON object, and nothing else."""

    def spoil(folder: Path, _outside: Path) -> None:
        for path in folder.iterdir():
            path.unlink()
        for file in files:
            (folder / file).parent.mkdir(exist_ok=True)
            (folder / file).write_text("{}")

    return spoil


_QUERIES = "layer.1.attention.self.query"
_PART = {"model_type": "bert"}
BY_ACCIDENT: dict[str, Spoil] = {
    "weights in pickle form alone": pickled_alone,
    "weights that lack a layer's queries": weights(  # random numbers would pass for them
        lambda tensors: {key: each for key, each in tensors.items() if _QUERIES not in key}
    ),
    "a kind of network that needs code of its own": with_code_of_its_own,
    "an adapter alone": holding("adapter_config.json"),
    "a trainer's folder": holding("checkpoint-500/config.json", "checkpoint-1000/config.json"),
    "a folder of old sentence-transformers": holding("0_Transformer/config.json"),
    "two networks": config(model_type="encoder-decoder", encoder=_PART, decoder=_PART),
    "letters": holding("letter.txt"),
    "nothing": holding(),
}
SAID = {  # of some, in their refusal
    "weights in pickle form alone": "writes safetensors",
    "weights that lack a layer's queries": "2 tensors are missing",
    "a kind of network that needs code of its own": "never runs such code",
    "an adapter alone": r"adapter \(such as LoRA\) without the model.* merge_and_unload\(\)",
    "a trainer's folder": "Open the folder checkpoint-1000 inside it",
    "a folder of old sentence-transformers": "Open the folder 0_Transformer inside it",
    "two networks": "joins two networks of their own",
    "letters": "holds no model",
    "nothing": "holds no model",
    "a package that is not installed": "needs the Python package timm, which is not installed",
    "weights that are no numbers": r"not finite \(NaN or infinity\), for example in \w+\.",
}
ALL = TOKENIZERS | CONFIGS | WEIGHT_FILES | MEMORY | BY_ACCIDENT
