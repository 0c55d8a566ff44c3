"""`read_trace`: an nsys export becomes a `Trace` of columns, one scan of each table."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from launchlens.records.columns import (
    ApiTable,
    Device,
    OpTable,
    Process,
    SmallColumn,
    Thread,
    Trace,
)
from launchlens.records.figures import TraceInfo
from launchlens.trace.metadata import Facts, read_facts
from launchlens.trace.schema import RUNTIME, Schema, read_schema
from launchlens.trace.source import open_source
from launchlens.trace.tables import (
    MEM_KINDS,
    RawOps,
    Registry,
    read_api,
    read_names,
    read_ops,
    read_ranges,
)

_UNKNOWN_DEVICE = 2**31 - 1
_DIGEST_UP_TO_BYTES = 64 << 20
_LABEL_SUFFIX = re.compile(
    r"(\.(xz|gz|zst|zstd))?$|\.(sqlite|sqlite3|db|nsys-rep|qdrep)$|\.nsys\d[\d.]*$|\.(node|graph)$"
)


def trace_label(path: Path) -> str:
    """A short name for a trace from its file name: without compression, suffixes, versions."""
    name = path.name
    while (shorter := _LABEL_SUFFIX.sub("", name)) and shorter != name:
        name = shorter
    return name


def read_trace(path: str | Path) -> Trace:
    """Read an nsys SQLite export into columns.

    Args:
        path: the export, plain or compressed with gzip, xz or zstd. It is opened read-only.

    Returns:
        The trace's API calls, GPU operations and NVTX ranges, linked to one another.

    Raises:
        TraceError: the file is missing, damaged, truncated, half-written, no nsys export, or
            of an unknown schema.
    """
    path = Path(path)
    with open_source(path) as plain:
        schema = read_schema(plain, named=path)
        facts = read_facts(plain, schema, named=path)
        texts = read_names(plain, schema, named=path)
        processes, threads = Registry(), Registry()
        ops = read_ops(plain, schema, processes, named=path, mem_kinds=facts.mem_kinds or MEM_KINDS)
        api = read_api(plain, schema, texts, processes, threads, named=path)
        ranges, unclosed = read_ranges(plain, schema, texts, processes, threads, named=path)
        kernel_names = texts.text(ops.name_ids)
    device, devices, notes = _resolve_devices(ops, processes, facts)
    linked = OpTable(
        ops.start_ns,
        ops.end_ns,
        ops.kind,
        ops.process,
        device,
        ops.stream_id,
        ops.correlation_id,
        ops.name,
        ops.is_node,
        link_operations(api, ops),
    )
    info = _info(path, schema, facts, api, linked, devices)
    warnings = [*notes, *_warnings(linked, ops, unclosed)]
    pids = tuple(
        Process(p, (p >> 24) & 0xFFFFFF, facts.process_names.get(p)) for p in processes.values
    )
    return Trace(
        info=replace(info, warnings=tuple(warnings)),
        api=api,
        ops=linked,
        copies=ops.copies,
        ranges=ranges,
        processes=pids,
        threads=tuple(
            Thread(t, t & 0xFFFFFF, processes.index(t & ~0xFFFFFF)) for t in threads.values
        ),
        devices=devices,
        strings=kernel_names,
        has_api=RUNTIME in schema.columns,
    )


def link_operations(api: ApiTable, ops: RawOps) -> SmallColumn:
    """API row of each operation by (process, correlation id), -1 without.

    Where several calls carry the same id (a runtime call and the driver call beneath it), the
    one that starts first is meant. Correlation ids are dense within a process, so a table
    indexed by id beats any join; sparse ids fall back to a sorted search.
    """
    found = np.full(ops.start_ns.size, -1, np.int32)
    for process in np.unique(ops.process).tolist():
        of_ops = _rows_of(ops.process, process)
        of_api = _rows_of(api.process, process)
        have = api.correlation_id[of_api]
        wanted = ops.correlation_id[of_ops]
        wanted = wanted.astype(np.promote_types(wanted.dtype, have.dtype), copy=False)
        if have.size == 0 or wanted.size == 0:
            continue
        rows = np.arange(api.start_ns.size, dtype=np.int32)[of_api]
        low, high = int(have.min()), int(have.max())
        if high - low < 8 * have.size + 1_000_000:
            table = np.full(high - low + 1, -1, np.int32)
            table[(have - low)[::-1]] = rows[::-1]  # the last assignment wins: the first row
            inside = (wanted >= low) & (wanted <= high)
            hit = np.where(inside, table[np.clip(wanted - low, 0, high - low)], -1)
        else:
            order = np.argsort(have, kind="stable")
            at = np.clip(np.searchsorted(have[order], wanted), 0, have.size - 1)
            match = order[at]
            hit = np.where(have[match] == wanted, rows[match], -1)
        hit[wanted == -1] = -1  # NULL on both sides links nothing
        found[of_ops] = hit.astype(np.int32)
    return found


def _rows_of(
    process: SmallColumn, wanted: int
) -> slice | np.ndarray[tuple[int], np.dtype[np.int64]]:
    if process.size and process.strides == (0,):
        return slice(None) if int(process[0]) == wanted else slice(0, 0)
    rows = np.flatnonzero(process == wanted)
    return slice(None) if rows.size == process.size else rows


def _resolve_devices(
    ops: RawOps, processes: Registry, facts: Facts
) -> tuple[SmallColumn, tuple[Device, ...], list[str]]:
    """Devices as (process, device id), and which physical GPU each one is.

    A whole-graph row may carry no device (INT_MAX), nor a context that tells it: it belongs to the
    only device its process uses; with several it stays apart, and a warning says so.
    """
    notes: list[str] = []
    key = ops.process.astype(np.int64) << 32 | ops.device_id.astype(np.int64)
    distinct, inverse = np.unique(key, return_inverse=True)
    pairs = [(k >> 32, k & 0xFFFFFFFF) for k in distinct.tolist()]
    known: dict[int, list[int]] = {}
    for process, device in pairs:
        if device != _UNKNOWN_DEVICE:
            known.setdefault(process, []).append(device)
    final: list[tuple[int, int]] = []
    for process, device in pairs:
        if device == _UNKNOWN_DEVICE:
            pid = (processes.values[process] >> 24) & 0xFFFFFF
            candidates = known.get(process) or [c for p, c in facts.gpu_of if p == pid] or [0]
            device = candidates[0] if len(set(candidates)) == 1 else -1  # noqa: PLW2901
            if device < 0:
                notes.append(
                    f"process {pid}: operations without a device id, although the process uses "
                    "several devices; busy and idle are unknown where they ran."
                )
        final.append((process, device))
    order = list(dict.fromkeys(final))
    table = np.array([order.index(pair) for pair in final], np.int32)
    devices = []
    for process, device in order:
        pid = (processes.values[process] >> 24) & 0xFFFFFF
        gpu = facts.gpu_of.get((pid, device), device)
        devices.append(Device(process, device, gpu, facts.gpus.get(gpu)))
    column = table[inverse] if table.size else np.empty(0, np.int32)
    return column.astype(np.int32), tuple(devices), notes


def _info(
    path: Path,
    schema: Schema,
    facts: Facts,
    api: ApiTable,
    ops: OpTable,
    devices: tuple[Device, ...],
) -> TraceInfo:
    used = list(dict.fromkeys(d.name for d in devices if d.name)) or list(
        dict.fromkeys(facts.gpus.values())
    )
    return TraceInfo(
        file=path.name.encode(errors="surrogateescape").decode(errors="replace"),
        label=trace_label(path).encode(errors="surrogateescape").decode(errors="replace"),
        sha256=_digest(path),
        nsys_version=schema.nsys_version,
        export_schema=schema.version,
        gpu=", ".join(used) or None,
        driver=facts.driver,
        cuda_driver=facts.cuda_driver,
        graph_tracing=facts.graph_tracing,
        cuda_traced=facts.cuda_traced,
        api_calls=int(api.start_ns.size),
        ops=int(ops.start_ns.size),
        unlinked_ops=int((ops.api_row < 0).sum()),
        profiler_overhead_ns=facts.overhead_ns,
        diagnostics=facts.diagnostics,
    )


def _digest(path: Path) -> str | None:
    """SHA-256 of the file as named; None for files whose digest would take seconds."""
    if path.stat().st_size > _DIGEST_UP_TO_BYTES:
        return None
    with path.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


def _warnings(ops: OpTable, raw: RawOps, unclosed: int) -> list[str]:
    notes = []
    if raw.dropped:
        notes.append(f"{raw.dropped} GPU operations carry no time (start = end = 0); left out.")
    if unclosed:
        notes.append(f"{unclosed} NVTX ranges never end in this trace; left out.")
    unlinked = int((ops.api_row < 0).sum())
    if unlinked:
        share = unlinked / ops.api_row.size
        notes.append(
            f"{unlinked} of {ops.api_row.size} GPU operations ({share:.1%}) have no API row: "
            "the export is trimmed, or events were dropped. No step owns them."
        )
    return notes
