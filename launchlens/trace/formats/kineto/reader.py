"""A Kineto file becomes a `Trace` of columns, in one pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from launchlens.errors import TraceError
from launchlens.records.columns import Device, OpTable, Trace
from launchlens.records.figures import TraceInfo
from launchlens.trace.formats.kineto.assemble import api_table, op_tables, range_table
from launchlens.trace.formats.kineto.devices import gpu_names, place_devices
from launchlens.trace.formats.kineto.document import read_document
from launchlens.trace.formats.kineto.owners import Owners
from launchlens.trace.formats.kineto.remedies import FILTERED, RECORDER, WITH_STACKS
from launchlens.trace.formats.kineto.tables import Tables
from launchlens.trace.interface import TraceFile, describe


def read_json(file: TraceFile) -> Trace:
    """Read a file of torch.profiler into columns.

    Raises:
        TraceError: it is no JSON, ends in the middle, or holds nothing of torch.profiler's.
    """
    tables = Tables()
    facts = read_document(file, tables)
    unbegun = tables.finish()
    if tables.is_empty:
        raise TraceError(
            f"{file.named} holds {tables.seen:,} events, but none that torch.profiler writes (of "
            "the categories kernel, cuda_runtime, cpu_op and so on).",
            hint="Name the file that export_chrome_trace or a trace handler wrote.",
        )
    calls, ops, ranges = (t.columns() for t in (tables.calls, tables.ops, tables.ranges))
    owners = Owners.of((calls["pid"], calls["tid"]), (ranges["pid"], ranges["tid"]))
    process = owners.submitters(file, calls["pid"], calls["correlation"], ops["correlation"])
    has_stacks = tables.has_stacks or tables.has_operators
    api = api_table(calls, tables.calls.names, owners, stacks=has_stacks)
    strays = int(calls["start"].size - api.start_ns.size)
    has_api = bool(calls["start"].size)
    timed, untimed, copies, gpus, reused = op_tables(ops, tables.ops.names, process, api)
    annotations, unclosed = range_table(ranges, tables.ranges.names, owners)
    (timed, untimed), devices = place_devices((timed, untimed), gpus, gpu_names(facts))
    processes, threads = owners.records(tables.process_names)
    notes = [
        *((FILTERED,) if has_api else ()),
        *((WITH_STACKS,) if tables.has_stacks else ()),
        *_notes(timed, untimed, strays, reused, (unclosed, unbegun)),
    ]
    return Trace(
        info=_info(facts, tables, devices, tuple(notes)),
        api=api,
        ops=timed,
        copies=copies,
        ranges=annotations,
        processes=processes,
        threads=threads,
        devices=devices,
        strings=tables.ops.names.cleaned(),
        has_api=has_api,
        recorder=RECORDER,
        untimed=untimed,
        stray_calls=strays,
    )


def _info(
    facts: Mapping[str, Any], tables: Tables, devices: tuple[Device, ...], notes: tuple[str, ...]
) -> TraceInfo:
    names = dict.fromkeys(d.name for d in devices if d.name)
    version = facts.get("schemaVersion")
    return describe(
        export_schema=str(version) if isinstance(version, int) else None,
        gpu=", ".join(names) or None,
        cuda_driver=_cuda_version(facts.get("cuda_driver_version")),
        graph_tracing="node",  # CUPTI hands Kineto the operations of a graph, one by one
        overhead_ns=tables.overhead_ns if tables.has_overhead else None,
        warnings=notes,
    )


def _cuda_version(number: object) -> str | None:
    if not isinstance(number, int) or number <= 0:
        return None
    return f"{number // 1000}.{number % 1000 // 10}"


def _notes(
    timed: OpTable, untimed: OpTable, strays: int, reused: int, pairs: tuple[int, int]
) -> Iterator[str]:
    """What is odd about the events, in sentences."""
    unclosed, unbegun = pairs
    if without := untimed.start_ns.size:
        yield (
            f"{without} of {without + timed.start_ns.size} GPU operations have no time, or end "
            "before they start: they count, but busy time is too low and idle too high where they "
            "ran."
        )
    if strays:
        yield (
            f"{strays} CUDA API calls name no thread or no time, so that no step can own them: "
            "counts of calls are lower bounds."
        )
    if reused:
        yield (
            f"{reused} correlation ids are used by several calls of one process: an operation "
            "belongs to the last such call that starts before it."
        )
    if unclosed:
        yield f"{unclosed} annotations have no end, or no thread, in this trace; left out."
    if unbegun:
        yield f"{unbegun} events end (ph: E) that never began; left out."
