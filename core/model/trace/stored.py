"""A record on disk: frozen dataclasses of arrays and plain values, as one safetensors file.

Arrays are the file's tensors; everything else is JSON in its metadata. A file is untrusted: what is
read has the types that the dataclass declares, and holds nothing else.
"""

from __future__ import annotations

import json
import math
import secrets
import stat
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from core import VERSION
from core.model.errors import TraceFileError

Tensors = dict[str, NDArray[Any]]

Record = TypeVar("Record")
FORMAT, FORMAT_VERSION = "headscope-trace", "1"
MAX_HEADER_BYTES = 8_000_000  # 40,000 tokens
MAX_SHARE = 0.5  # of the free memory that the arrays of a file may take
_LENGTH_BYTES = 8  # in front of a safetensors header, little-endian
_MAX_INTEGER = 2**53  # what JSON carries exactly


def write_record(record: object, path: str | Path) -> None:
    """Write a dataclass of arrays, values and further dataclasses.

    The file is complete or not there: it is written under another name first.

    Raises
    ------
    TraceFileError
        When it describes itself in more than `MAX_HEADER_BYTES`, which no reader accepts.
    """
    from safetensors.numpy import save_file

    tensors: Tensors = {}
    content = json.dumps(_encoded(record, "", tensors, {}), allow_nan=False)
    if len(content) > MAX_HEADER_BYTES // 2:  # safetensors writes it as JSON within JSON
        raise TraceFileError("This trace has too many tokens for one file.")
    about = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "made_by": f"Headscope {VERSION}",
        "trace": content,
    }
    part = Path(f"{path}.{secrets.token_hex(8)}.part")  # no file of the user's own
    try:
        save_file(tensors, part, about)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def read_record(kind: type[Record], path: str | Path) -> Record:
    """The record that :func:`write_record` wrote: of this class, with fields of their types.

    Raises
    ------
    TraceFileError
        For any other file, with the reason in a sentence.
    OSError
        When there is no such file, or it cannot be read.
    """
    about, tensors = _contents(Path(path))
    reader = _Reader(tensors)
    try:
        record: Record = reader.decoded(kind, json.loads(about["trace"]), "")
    except (KeyError, ValueError, RecursionError) as error:
        if isinstance(error, TraceFileError):
            raise
        raise TraceFileError("The file's description of its trace is damaged.") from error
    if unknown := sorted(tensors.keys() - reader.used):
        raise TraceFileError(f"The file has an array “{unknown[0][:60]}” that no trace has.")
    return record


def _contents(path: Path) -> tuple[dict[str, str], Tensors]:
    """The metadata of a file, and its arrays by name, once it is known to be bounded and a trace.

    The library compares each array's shape with its bytes, and all of them with the file's size.
    """
    from safetensors import safe_open

    _check_header_length(path)
    try:
        with safe_open(path, framework="np") as file:
            about = file.metadata() or {}
            _check_format(about)
            _check_size(path)
            return about, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except TraceFileError:
        raise
    except Exception as error:  # of the library, which has no class of its own for all of them
        raise TraceFileError(
            f"The file is not a safetensors file of plain arrays ({type(error).__name__})."
        ) from error


def _check_format(about: Mapping[str, str]) -> None:
    if about.get("format") != FORMAT:
        raise TraceFileError("The file does not describe itself as a trace of Headscope.")
    if (version := about.get("version", "")) != FORMAT_VERSION:
        raise TraceFileError(
            f"The file has version {version[:20]!r} of the format; this program opens version"
            f" {FORMAT_VERSION}: save the trace again."
        )


def _check_size(path: Path) -> None:
    """The arrays are as large as the file says, which may have holes that take no disk."""
    from core.model.memory import available_bytes

    size, free = path.stat().st_size, available_bytes()
    if size > MAX_SHARE * free:
        raise TraceFileError(
            f"The file has {size / 1e6:,.0f} MB, and {free / 1e6:,.0f} MB of memory are free."
        )


def _check_header_length(path: Path) -> None:
    """Devices and pipes have no end, and a header may claim any length."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise TraceFileError("This is not a regular file.")
    with path.open("rb") as file:
        length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
    if length > MAX_HEADER_BYTES:
        raise TraceFileError(
            f"The file's header claims {length:,} bytes; the limit is {MAX_HEADER_BYTES:,}."
        )


def _encoded(value: Any, name: str, tensors: Tensors, names: dict[int, str]) -> Any:  # noqa: ANN401
    """JSON for a value; its arrays go into `tensors`, each once, and are named in their places."""
    if isinstance(value, np.ndarray):
        known = names.setdefault(id(value), name)
        if known == name:
            tensors[name] = np.ascontiguousarray(value)
        return known
    if is_dataclass(value):
        return {
            field.name: _encoded(each, _below(name, field.name), tensors, names)
            for field in fields(value)
            if (each := getattr(value, field.name)) is not field.default
        }
    if isinstance(value, tuple):
        return [
            _encoded(each, _below(name, str(place)), tensors, names)
            for place, each in enumerate(value)
        ]
    return value.item() if isinstance(value, np.generic) else value


class _Reader:
    """What :func:`_encoded` wrote, from the arrays of a file; notes those that it `used`."""

    def __init__(self, tensors: Tensors) -> None:
        self._tensors = tensors
        self.used: set[str] = set()

    def decoded(self, kind: Any, value: Any, name: str) -> Any:  # noqa: ANN401
        """A value declared as `kind`."""
        origin, arguments = get_origin(kind), get_args(kind)
        if origin in (Union, UnionType):  # only with None
            (some,) = (each for each in arguments if each is not NoneType)
            return None if value is None else self.decoded(some, value, name)
        if origin is np.ndarray:
            return self._array(kind, value, name)
        if origin is tuple:
            return self._tuple(arguments, value, name)
        if origin is Literal:
            if value not in arguments:
                raise _refusal(name)
            return value
        if is_dataclass(kind):
            return self._dataclass(kind, value, name)
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind or not _is_plain(value):
            raise _refusal(name)
        return value

    def _tuple(self, arguments: tuple[Any, ...], value: Any, name: str) -> tuple[Any, ...]:  # noqa: ANN401
        if not isinstance(value, list):
            raise _refusal(name)
        if arguments[-1] is Ellipsis:
            arguments = (arguments[0],) * len(value)
        if len(arguments) != len(value):
            raise _refusal(name)
        return tuple(
            self.decoded(kind, each, _below(name, str(place)))
            for place, (kind, each) in enumerate(zip(arguments, value, strict=True))
        )

    def _dataclass(self, kind: Any, value: Any, name: str) -> Any:  # noqa: ANN401
        declared = {field.name: field for field in fields(kind)}
        if not isinstance(value, dict) or value.keys() - declared.keys():
            raise _refusal(name)
        lacking = [each for each in declared.keys() - value.keys() if _is_required(declared[each])]
        if lacking:
            raise _refusal(_below(name, min(lacking)))
        hints = get_type_hints(kind)
        return kind(
            **{each: self.decoded(hints[each], value[each], _below(name, each)) for each in value}
        )

    def _array(self, kind: Any, value: Any, name: str) -> NDArray[Any]:  # noqa: ANN401
        """The array that `value` names, if it has the declared type of number."""
        array = self._tensors.get(value) if isinstance(value, str) else None
        (number,) = get_args(get_args(kind)[1])
        if array is None or array.dtype != np.dtype(number):
            raise _refusal(name)
        self.used.add(value)
        return array


def _is_required(field: Any) -> bool:  # noqa: ANN401 - of dataclasses
    return field.default is MISSING and field.default_factory is MISSING


def _is_plain(value: Any) -> bool:  # noqa: ANN401
    """Whether a number is one that people count in, and a text has only whole characters."""
    if isinstance(value, str):
        return not any("\ud800" <= character <= "\udfff" for character in value)
    return isinstance(value, bool) or (math.isfinite(value) and abs(value) <= _MAX_INTEGER)


def _below(name: str, part: str) -> str:
    return f"{name}.{part}" if name else part


def _refusal(name: str) -> TraceFileError:
    return TraceFileError(f"The file lacks “{name[:60] or 'a trace'}”, or it is of the wrong kind.")
