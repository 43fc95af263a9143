"""Records: frozen dataclasses of arrays and plain values, each one safetensors file.

Arrays are the file's tensors, and so are lists of texts (their bytes, and where each text ends);
everything else is JSON in its metadata. Files are untrusted: what is read has the types, shapes
and ranges that the dataclass declares, and nothing else. A file gets its name once it is complete.
"""

from __future__ import annotations

import json
import math
import os
import secrets
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import MISSING, Field, fields, is_dataclass
from itertools import pairwise
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    NamedTuple,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
from numpy.typing import NDArray

from core import VERSION

Record = TypeVar("Record")
Tensors = dict[str, NDArray[Any]]
FORMAT, FORMAT_VERSION = "headscope", 4
UNFINISHED = ".writing"  # ending of the name of a file that is being written
MAX_HEADER = 8_000_000  # bytes of names, shapes and JSON: enough for a trace of 40,000 tokens
OWN_HEADER = 100_000_000  # for files that we wrote ourselves: the library accepts no more
MAX_BYTES = 2**32  # of a file, unless its reader says otherwise
_MAX_TEXTS = 2**22  # per list: each takes 60 bytes, but as little as one in the file
_LENGTH_BYTES = 8  # before a safetensors header, little-endian
_MAX_INTEGER = 2**53  # what JSON represents exactly
_LONE_HALVES = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
_META = "record"  # a single entry: safetensors writes several in no fixed order


class RecordError(ValueError):
    """A file that cannot be read or written as a record; the message says why in a sentence."""


class Shape(NamedTuple):
    """What an annotated array, or list of texts, must look like.

    Attributes
    ----------
    axes : their sizes, by name or as numbers, such as ``"layer head 2*token 3"``; a name has the
        same size throughout a file.
    low, high : bounds of its numbers; floats must also be finite.
    nan : whether NaN may stand for what is not defined.
    """

    axes: str
    low: float | None = None
    high: float | None = None
    nan: bool = False


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A path to write to, which becomes `path` once complete, and is removed on failure.

    Other processes may write the same file meanwhile. A killed process leaves a file whose name
    ends in `UNFINISHED`.
    """
    unfinished = path.with_name(f"{path.name}.{secrets.token_hex(4)}{UNFINISHED}")
    try:
        yield unfinished
        _sync(unfinished)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    with suppress(OSError):  # the directory entry too, on systems that can
        _sync(path.parent)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, as with :func:`whole_file`."""
    with whole_file(path) as unfinished:
        unfinished.write_bytes(content)


def well_formed(text: str) -> str:
    """The text with � for each lone surrogate, which no file and no browser can store."""
    return text if text.isascii() else text.translate(_LONE_HALVES)


def write_record(
    record: object, path: Path, max_bytes: float = MAX_BYTES, max_header: int = MAX_HEADER
) -> None:
    """Write a record, whole or not at all.

    Raises `RecordError` if a reader would, `OSError` if it cannot be written.
    """
    from safetensors.numpy import save_file

    writer = _Writer()
    content = writer.encoded(record, "")
    _Reader(writer.tensors.__getitem__, set(writer.tensors)).decoded(type(record), content, "")
    about = {"format": FORMAT, "version": FORMAT_VERSION, "made_by": f"Headscope {VERSION}"}
    described = json.dumps(about | {"content": content}, allow_nan=False)
    if len(described) > max_header // 2:  # safetensors writes it as JSON within JSON
        raise RecordError("The record has too much text for one file.")
    _check_size(sum(array.nbytes for array in writer.tensors.values()), max_bytes)
    with whole_file(path) as unfinished:
        save_file(writer.tensors, unfinished, {_META: described})


def read_record(
    kind: type[Record], path: Path, max_bytes: float = MAX_BYTES, max_header: int = MAX_HEADER
) -> Record:
    """The record that :func:`write_record` wrote: of this class, with fields of their types.

    Raises `RecordError` for any other file, `OSError` if it cannot be read.
    """
    record: Record = _read(kind, path, "", max_bytes, max_header)
    return record


def read_field(kind: type, path: Path, field: str) -> Any:  # noqa: ANN401 - whatever it holds
    """One field of a record, by its dotted path; None if it, or what contains it, is None.

    No other array of the file is read; errors as in :func:`read_record`.
    """
    return _read(kind, path, field, math.inf, OWN_HEADER)


def is_record(path: Path) -> bool:
    """Whether a file describes itself as a record of any kind."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np") as file:
            return _META in (file.metadata() or {})
    except (OSError, SafetensorError):
        return False


def _read(kind: Any, path: Path, field: str, max_bytes: float, max_header: int) -> Any:  # noqa: ANN401
    from safetensors import safe_open

    _check_file(path, max_bytes, max_header)
    try:
        with safe_open(path, framework="np") as file:
            content = _content_of(file.metadata() or {})
            names = set(file.keys())
            reader = _Reader(file.get_tensor, names)
            for step in field.split(".") if field else ():
                kind, _ = _declared(get_type_hints(kind, include_extras=True)[step])
                if (content := content.get(step)) is None:
                    return None
            value = reader.decoded(kind, content, field)
    except (RecordError, OSError):
        raise
    except Exception as error:  # of the library, which has no class of its own for all of them
        raise RecordError(f"The file is damaged, or no record ({type(error).__name__}).") from error
    if not field and (unknown := sorted(names - reader.arrays.keys())):
        raise RecordError(f"The file has an array “{unknown[0][:60]}” that no such record has.")
    return value


def _check_file(path: Path, max_bytes: float, max_header: int) -> None:
    """Devices and pipes never end, a header may claim any length, and holes take no disk space."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise RecordError("This is not a regular file.")
    _check_size(status.st_size, max_bytes)
    with path.open("rb") as file:
        length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
    if length > max_header:
        raise RecordError(
            f"The file's header claims {length:,} bytes; the limit is {max_header:,}."
        )


def _check_size(size: float, max_bytes: float) -> None:
    if size > max_bytes:
        raise RecordError(
            f"It is too large: {size / 1e6:,.0f} MB, and the limit is {max_bytes / 1e6:,.0f} MB."
        )


def _content_of(metadata: Mapping[str, str]) -> Any:  # noqa: ANN401 - JSON
    about = json.loads(metadata.get(_META, "{}"))
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise RecordError("The file does not describe itself as one of Headscope's.")
    if (version := about.get("version")) != FORMAT_VERSION or isinstance(version, bool):
        raise RecordError(
            f"The file has version {str(version)[:20]!r} of the format; this program opens version"
            f" {FORMAT_VERSION}: build it again."
        )
    return about.get("content")


class _Writer:
    """Encodes a record, and collects its `tensors`."""

    def __init__(self) -> None:
        self.tensors: Tensors = {}
        self._names: dict[object, str] = {}

    def encoded(self, value: Any, name: str) -> Any:  # noqa: ANN401
        """JSON for a value; arrays are replaced by names, and each is stored once."""
        if isinstance(value, np.ndarray):
            # Masks are small, and mostly the same for sentences of equal length.
            key = (value.shape, value.tobytes()) if value.dtype == bool else id(value)
            if (stored_as := self._names.setdefault(key, name)) == name:
                self.tensors[name] = np.ascontiguousarray(value)
            return stored_as
        if is_dataclass(value):
            content = {k: (getattr(value, k), field.default) for k, field in _fields(value).items()}
            value = {k: each for k, (each, default) in content.items() if each is not default}
        if isinstance(value, Mapping):
            return {str(k): self.encoded(each, _below(name, k)) for k, each in value.items()}
        if isinstance(value, tuple) and value and all(isinstance(each, str) for each in value):
            chunks = [well_formed(text).encode() for text in value]
            self.tensors[name] = np.frombuffer(b"".join(chunks), dtype=np.uint8)
            self.tensors[f"{name}.ends"] = np.cumsum([*map(len, chunks)], dtype=np.int64)
            return name
        if isinstance(value, tuple):
            return [self.encoded(each, _below(name, place)) for place, each in enumerate(value)]
        if isinstance(value, str):
            return well_formed(value)
        return value.item() if isinstance(value, np.generic) else value


class _Reader:
    """Decodes a record; `arrays` are those already read from the file."""

    def __init__(self, read: Callable[[str], NDArray[Any]], names: set[str]) -> None:
        self.arrays: Tensors = {}
        self._read, self._names = read, names
        self._sizes: dict[str, int] = {}  # of axes by name, the same for all arrays of a file

    def decoded(self, kind: Any, value: Any, name: str) -> Any:  # noqa: ANN401
        """A value declared as `kind`, from its encoded form."""
        if value is None and NoneType in get_args(kind):
            return None
        kind, shape = _declared(kind)
        origin, arguments = get_origin(kind), get_args(kind)
        if origin is np.ndarray:
            array = self._array(value, name, np.dtype(get_args(arguments[1])[0]))
            self._check_axes(shape, name, array.shape)
            _check_numbers(array, shape, name)
            return array
        if kind == tuple[str, ...]:
            return self._texts(value, shape, name)
        if origin is tuple and isinstance(value, list):
            is_long = arguments[-1] is Ellipsis
            kinds = arguments[:1] * len(value) if is_long else arguments
            if len(kinds) != len(value):
                raise _refusal(name)
            items = enumerate(zip(kinds, value, strict=True))
            return tuple(self.decoded(*each, _below(name, place)) for place, each in items)
        if isinstance(value, dict):
            return self._object(kind, value, name)
        return _plain(kind, value, name)

    def _object(self, kind: Any, value: dict[str, Any], name: str) -> Any:  # noqa: ANN401
        if get_origin(kind) is Mapping:
            key_kind, item_kind = get_args(kind)
            by_number = key_kind is int  # JSON has texts for numbers
            keys = (int(key) if by_number and key.isdecimal() else key for key in value)
            sound = [_plain(key_kind, key, name) for key in keys]
            items = (self.decoded(item_kind, each, _below(name, k)) for k, each in value.items())
            return dict(zip(sound, items, strict=True))
        if not is_dataclass(kind) or value.keys() - _fields(kind).keys():
            raise _refusal(name)
        for each, field in _fields(kind).items():
            if each not in value and field.default is field.default_factory is MISSING:
                raise _refusal(_below(name, each))
        hints, made = get_type_hints(kind, include_extras=True), cast("Any", kind)
        return made(**{k: self.decoded(hints[k], v, _below(name, k)) for k, v in value.items()})

    def _array(self, value: Any, name: str, dtype: np.dtype[Any]) -> NDArray[Any]:  # noqa: ANN401
        """The array that `value` names, if it has this dtype; half precision becomes single."""
        if not isinstance(value, str) or value not in self._names:
            raise _refusal(name)
        if value not in self.arrays:
            self.arrays[value] = self._read(value)
        array = self.arrays[value]
        if array.dtype == np.float16 and dtype == np.float32:
            array = array.astype(np.float32)
        if array.dtype != dtype or (dtype.kind == "b" and (array.view(np.uint8) > 1).any()):
            raise _refusal(name)
        return array

    def _check_axes(self, shape: Shape | None, name: str, sizes: tuple[int, ...]) -> None:
        """`RecordError` if an axis has another size than the same name has elsewhere."""
        axes = shape.axes.split() if shape else ["_"] * len(sizes)
        fits = len(axes) == len(sizes)
        for axis, size in zip(axes, sizes, strict=False):
            factor, _, symbol = axis.rpartition("*")
            length, rest = divmod(size, int(factor or 1))
            expected = int(symbol) if symbol.isdigit() else self._sizes.setdefault(symbol, length)
            fits = fits and not rest and (length == expected or symbol == "_")
        if not fits:
            raise RecordError(f"“{name}” has another shape than the file's other arrays imply.")

    def _texts(self, value: Any, shape: Shape | None, name: str) -> tuple[str, ...]:  # noqa: ANN401
        raw, ends = np.empty(0, np.uint8), np.empty(0, np.int64)
        if value != []:  # the encoding of an empty list of texts
            raw = self._array(value, name, raw.dtype)
            ends = self._array(f"{value}.ends", name, ends.dtype)
        self._check_axes(shape or Shape("_"), name, ends.shape)
        if ends.size > _MAX_TEXTS:
            raise _refusal(name)
        places = [0, *ends.tolist()]
        if (np.diff(ends, prepend=0) < 0).any() or places[-1] != raw.size:
            raise RecordError(f"“{name}” has texts that end before they begin.")
        try:
            return tuple(raw[a:b].tobytes().decode() for a, b in pairwise(places))
        except UnicodeDecodeError as error:
            raise RecordError(f"“{name}” has bytes that are not text.") from error


def _declared(kind: Any) -> tuple[Any, Shape | None]:  # noqa: ANN401
    """A type without its None, and the shape that it is annotated with."""
    if get_origin(kind) in (Union, UnionType) and NoneType in get_args(kind):
        (kind,) = (each for each in get_args(kind) if each is not NoneType)
    return get_args(kind) if get_origin(kind) is Annotated else (kind, None)


def _fields(kind: Any) -> dict[str, Field[Any]]:  # noqa: ANN401
    return {field.name: field for field in fields(kind)}


def _plain(kind: Any, value: Any, name: str) -> Any:  # noqa: ANN401
    """A number within the integers exact in JSON, a well-formed text, or one of a few values."""
    if kind is float and type(value) is int:
        value = float(value)
    options = get_args(kind) or (kind,)
    if isinstance(value, str):
        is_sound = value == well_formed(value)
    else:
        is_sound = isinstance(value, int | float) and abs(value) <= _MAX_INTEGER
    if not is_sound or (value not in options and type(value) not in options):
        raise _refusal(name)
    return value


def _check_numbers(array: NDArray[Any], shape: Shape | None, name: str) -> None:
    if shape is None or array.dtype == bool:
        return
    numbers = array[~np.isnan(array)] if shape.nan else array
    if array.dtype.kind == "f" and not np.isfinite(numbers).all():
        raise RecordError(f"“{name}” has numbers that are not finite.")
    for bound, is_beyond in ((shape.low, np.less), (shape.high, np.greater)):
        if bound is not None and is_beyond(numbers, bound).any():
            raise RecordError(f"“{name}” has numbers that are out of bounds, such as {bound}.")


def _below(name: str, part: object) -> str:
    return f"{name}.{part}" if name else str(part)


def _refusal(name: str) -> RecordError:
    return RecordError(f"The file lacks “{name[:60] or 'a record'}”, or it is of the wrong kind.")


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
