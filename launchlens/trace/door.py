"""The one way to a trace: which format a file has is asked here, and nowhere else."""

from __future__ import annotations

import contextlib
import hashlib
import re
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from launchlens.errors import TraceError
from launchlens.suggestions import did_you_mean, near_files
from launchlens.trace.formats import all_formats
from launchlens.trace.interface import HEAD_BYTES, Excerpt, TraceFile, TraceFormat
from launchlens.trace.unpack import COMPRESSED_SUFFIXES, compression, unpacked

if TYPE_CHECKING:
    from launchlens.records.columns import Trace
    from launchlens.records.figures import TraceInfo
    from launchlens.records.launch_sizes import LaunchSizes
    from launchlens.records.stacks import Stacks

EXPORT_TIMEOUT_S = 600.0
"""Seconds in which a recorder's report of a few minutes is exported, many times over."""
_DIGEST_UP_TO_BYTES = 64 << 20


def read_trace(path: str | Path) -> Trace:
    """Read a trace into columns, its calls, operations and ranges linked to one another.

    Args:
        path: a file of any format that launchlens knows (an nsys SQLite export), plain or
            compressed with gzip, xz or zstd. It is opened read-only.

    Raises:
        TraceError: the file is missing, damaged, truncated, half-written, of no format that is
            known, or of an unknown version of one.
    """
    path = Path(path)
    with _opened(path) as (format_, file):
        trace = format_.read(file)
    return replace(trace, info=_identified(trace, format_, path))


def read_report(
    path: Path, *, tool: Path | None = None, timeout_s: float = EXPORT_TIMEOUT_S
) -> Trace:
    """Read a recorder's report, exported into a temporary folder first; it stays as it is.

    ``tool`` is the recorder's program that exports it, if it is not to be searched for;
    ``timeout_s`` is its limit in seconds.

    Raises:
        CaptureError: it cannot be exported here.
        TraceError: what came out cannot be read.
    """
    format_ = next(f for f in all_formats() if path.suffix in f.reports)
    with tempfile.TemporaryDirectory(prefix="launchlens-") as folder:
        trace = read_trace(format_.export(path, Path(folder), tool, timeout_s))
    return replace(trace, info=replace(trace.info, file=path.name, label=trace_label(path)))


def read_stacks(path: Path) -> Stacks:
    """Read all call stacks of a trace; empty for a recording without any.

    Raises:
        TraceError: the file is missing or cannot be read.
    """
    with _opened(path) as (format_, file):
        return format_.stacks(file)


def read_sizes(path: Path) -> LaunchSizes:
    """Read how large each launch of a trace was; empty where its format does not tell.

    Raises:
        TraceError: the file is missing or cannot be read.
    """
    with _opened(path) as (format_, file):
        return format_.sizes(file)


def scrub_trace(src: Path, out: Path, excerpt: Excerpt | None = None) -> None:
    """Write a copy of a trace without what identifies machine, user or environment.

    The copy is not compressed, and replaces the file ``out`` when it exists. With an ``excerpt`` it
    is cut to these steps, whose figures stay the same.

    Raises:
        TraceError: ``src`` is missing, cannot be read or scrubbed, or is the same file as ``out``.
    """
    if src.resolve() == out.resolve():
        raise TraceError(f"{src} cannot be scrubbed in place.", hint="Name another output file.")
    if not src.exists():
        near = did_you_mean(near_files(src)) or "Check the path."
        raise TraceError(f"{src}: no such file.", hint=near)
    out.unlink(missing_ok=True)
    try:
        with _opened(src) as (format_, file):
            format_.scrub(file, out, excerpt)
    except TraceError:
        out.unlink(missing_ok=True)
        raise


def find_secrets(path: Path) -> list[str]:
    """What in a trace still looks as if it should not be shared, a line for each; else empty.

    Raises:
        TraceError: the file is missing, cannot be read, or its format cannot be searched.
    """
    with _opened(path) as (format_, file):
        return format_.secrets(file)


def is_report(path: Path) -> bool:
    """Whether the name is one of a recorder's report, which is exported before it is read."""
    return any(path.suffix in f.reports for f in all_formats())


def is_trace(path: Path) -> bool:
    """Whether a file looks like a trace or a report, so that nothing may replace it."""
    with path.open("rb") as source:
        file = TraceFile(path, path, source.read(HEAD_BYTES))
    if is_report(path) or compression(file.head) is not None:
        return True
    return any(
        (f.signature is not None and file.head.startswith(f.signature)) or f.sniff(file)
        for f in all_formats()
    )


def known_suffixes() -> tuple[str, ...]:
    """Ends of file names that traces and reports usually have."""
    own = (suffix for f in all_formats() for suffix in (*f.suffixes, *f.reports))
    return (*own, *COMPRESSED_SUFFIXES)


def trace_label(path: Path) -> str:
    """A short name for a trace from its file name: without compression, suffixes, versions."""
    endings = [re.escape(suffix) for suffix in known_suffixes()]
    endings += [ending for f in all_formats() for ending in f.endings]
    name, ending = path.name, re.compile(rf"(?:{'|'.join(endings)})$")
    while (shorter := ending.sub("", name)) and shorter != name:
        name = shorter
    return name


def _identified(trace: Trace, format_: TraceFormat, path: Path) -> TraceInfo:
    """What a trace says of itself, with the file's own facts and the counts of its rows."""
    from launchlens.records.columns import CopyDirection

    tables = (trace.ops, trace.untimed)
    ops = sum(int(table.start_ns.size) for table in tables)
    unlinked = sum(int((table.api_row < 0).sum()) for table in tables)
    unlinked -= int((trace.copies.direction == CopyDirection.MIGRATION).sum())
    warnings = trace.info.warnings
    if unlinked:
        warnings += (
            f"{unlinked} of {ops} GPU operations ({unlinked / ops:.1%}) have no API row: "
            "the export is trimmed, or events were dropped. No step owns them.",
        )
    return replace(
        trace.info,
        file=path.name.encode(errors="surrogateescape").decode(errors="replace"),
        label=trace_label(path).encode(errors="surrogateescape").decode(errors="replace"),
        sha256=_digest(path),
        api_calls=int(trace.api.start_ns.size),
        ops=ops,
        unlinked_ops=unlinked,
        warnings=warnings,
        format=format_.name,
    )


def _digest(path: Path) -> str | None:
    """SHA-256 of the file as named; None for files whose digest would take seconds."""
    if path.stat().st_size > _DIGEST_UP_TO_BYTES:
        return None
    with path.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[tuple[TraceFormat, TraceFile]]:
    """The file without its compression, and the format that knows it."""
    formats = all_formats()
    hint = " ".join(f.hint for f in formats if f.hint) or None
    with unpacked(path, hint=hint) as file:
        format_ = next((f for f in formats if f.sniff(file)), None)
        if format_ is None:
            titles = ", ".join(f.title for f in formats)
            raise TraceError(
                f"{path} is not a trace in a format that launchlens reads ({titles}), or it is "
                "damaged or encrypted.",
                hint=hint,
            )
        yield format_, file
