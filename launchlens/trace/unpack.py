"""Compression: the one place that knows it. What a format gets to see is always plain."""

from __future__ import annotations

import contextlib
import gzip
import importlib
import lzma
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from launchlens.errors import TraceError
from launchlens.suggestions import did_you_mean, near_files
from launchlens.trace.interface import HEAD_BYTES, TraceFile

MOST_RATIO = 100
ALWAYS_BYTES = 1 << 30  # of any file so much is unpacked
COMPRESSED_SUFFIXES = (".gz", ".xz", ".zst", ".zstd")
_MAGICS = {b"\x1f\x8b": "gzip", b"\xfd7zXZ\0": "xz", b"\x28\xb5\x2f\xfd": "zstd"}


def compression(head: bytes) -> str | None:
    """How a file that begins so is compressed: "gzip", "xz", "zstd", or None."""
    return next((kind for magic, kind in _MAGICS.items() if head.startswith(magic)), None)


@contextlib.contextmanager
def unpacked(path: Path, *, hint: str | None) -> Iterator[TraceFile]:
    """A file's plain contents; how it is compressed is told by its first bytes, not by its name.

    The user's file is never written to: it is unpacked into a temporary one. ``hint`` says what to
    do about a file without contents.

    Raises:
        TraceError: no such file, a folder, empty, or not unpackable.
    """
    head = _read_head(path, hint)
    kind = compression(head)
    if kind is None:
        yield TraceFile(path, path, head)
        return
    with tempfile.TemporaryDirectory(prefix="launchlens-") as folder:
        plain = Path(folder) / "trace"
        _unpack(path, kind, plain)
        with plain.open("rb") as source:
            head = source.read(HEAD_BYTES)
        if not head:
            raise TraceError(f"{path} holds nothing once unpacked.", hint=hint)
        yield TraceFile(plain, path, head)


def _read_head(path: Path, hint: str | None) -> bytes:
    try:
        kind = stat.S_IFMT(path.stat().st_mode)
        if kind == stat.S_IFDIR:
            raise TraceError(f"{path} is a folder, not a trace.", hint="Name a file in it.")
        if kind != stat.S_IFREG:  # opening a pipe would wait for somebody to write to it
            what = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}.get(kind, "a device")
            raise TraceError(f"{path} is {what}, not a trace.", hint="Name a file.")
        with path.open("rb") as source:
            head = source.read(HEAD_BYTES)
    except FileNotFoundError:
        near = did_you_mean(near_files(path)) or "Check the path."
        raise TraceError(f"{path}: no such file.", hint=near) from None
    except OSError as error:
        raise TraceError(f"{path} cannot be read: {error.strerror or error}.") from error
    if not head:
        raise TraceError(f"{path} is empty: the export never finished.", hint=hint)
    return head


def _unpack(path: Path, kind: str, plain: Path) -> None:
    try:
        with _open_compressed(path, kind) as packed, plain.open("wb") as out:
            _copy(packed, out, path)
    except (EOFError, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise TraceError(f"{path} is a damaged or truncated {kind} file: {error}.") from error
    except OSError as error:
        if error.errno is None:  # zlib's and zstandard's own complaints
            raise TraceError(f"{path} is a damaged {kind} file: {error}.") from error
        raise TraceError(
            f"{path} cannot be unpacked into {plain.parent}: {error.strerror}.",
            hint="Set TMPDIR to a folder with room for the plain trace.",
        ) from error
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("zlib", "zstandard"):
            raise
        raise TraceError(f"{path} is a damaged or truncated {kind} file: {error}.") from error


def _copy(packed: IO[bytes], out: IO[bytes], path: Path) -> None:
    """Unpack, but not what can only be meant to fill the disk."""
    most = max(MOST_RATIO * path.stat().st_size, ALWAYS_BYTES)
    while piece := packed.read(1 << 20):
        if out.tell() + len(piece) > most:
            raise TraceError(
                f"{path} holds more than {MOST_RATIO} times its own size, and more than "
                f"{ALWAYS_BYTES >> 30} GiB: traces shrink to a twentieth at most.",
                hint="If it is one all the same, unpack it by hand.",
            )
        out.write(piece)


def _open_compressed(path: Path, kind: str) -> contextlib.AbstractContextManager[IO[bytes]]:
    module: Any = importlib.import_module({"xz": "lzma", "zstd": "zstandard"}.get(kind, kind))
    opened: contextlib.AbstractContextManager[IO[bytes]] = module.open(path, "rb")
    return opened
