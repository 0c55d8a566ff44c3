"""An nsys export becomes a `Trace` of columns, one scan of each table."""

from __future__ import annotations

from dataclasses import replace

from launchlens.records.columns import OpTable, Process, Thread, Trace
from launchlens.trace.formats.nsys.calls import read_api
from launchlens.trace.formats.nsys.devices import resolve_devices
from launchlens.trace.formats.nsys.metadata import read_facts
from launchlens.trace.formats.nsys.names import PROCESS_MASK, Registry, pid_of, read_names
from launchlens.trace.formats.nsys.operations import MEM_KINDS, read_ops
from launchlens.trace.formats.nsys.ranges import read_ranges
from launchlens.trace.formats.nsys.remedies import recorder
from launchlens.trace.formats.nsys.schema import RUNTIME, read_schema
from launchlens.trace.formats.nsys.source import check_header
from launchlens.trace.interface import TraceFile
from launchlens.trace.link import link_operations


def read_export(file: TraceFile) -> Trace:
    """Read an nsys SQLite export into columns.

    Raises:
        TraceError: the file is damaged, truncated, half-written, or of an unknown schema.
    """
    check_header(file)
    schema = read_schema(file)
    facts = read_facts(file, schema)
    texts = read_names(file, schema)
    processes, threads = Registry(), Registry()
    raw = read_ops(file, schema, processes, facts.mem_kinds or MEM_KINDS)
    ops = raw.table
    api, strays = read_api(file, schema, texts, processes, threads)
    ranges, notes = read_ranges(file, schema, texts, processes, threads)
    device, devices, doubts = resolve_devices([ops, raw.untimed], processes, facts)
    link, reused = link_operations(api, ops.process, ops.correlation_id, ops.start_ns)
    untimed_link, _ = link_operations(api, raw.untimed.process, raw.untimed.correlation_id)
    notes = [*doubts, *_warnings(ops, raw.untimed, strays, reused), *notes]
    gpus = [d.name for d in devices if d.name] or facts.gpus.values()
    gpu = ", ".join(dict.fromkeys(gpus)) or None
    return Trace(
        info=replace(facts.info, gpu=gpu, warnings=tuple(notes)),
        api=api,
        ops=replace(ops, device=device[0], api_row=link),
        copies=raw.copies,
        ranges=ranges,
        processes=tuple(
            Process(p, pid_of(p), facts.process_names.get(p)) for p in processes.values
        ),
        threads=tuple(
            Thread(t, t & ~PROCESS_MASK, processes.index(t & PROCESS_MASK)) for t in threads.values
        ),
        devices=devices,
        strings=texts.text(raw.name_ids),
        has_api=RUNTIME in schema.rows
        or (RUNTIME in schema.columns and facts.info.cuda_traced is True),
        recorder=recorder(schema.nsys_version, facts.info.graph_tracing),
        untimed=replace(raw.untimed, device=device[1], api_row=untimed_link),
        stray_calls=strays,
    )


def _warnings(ops: OpTable, untimed: OpTable, strays: int, reused: int) -> list[str]:
    """What is odd about the rows, in sentences."""
    notes = []
    backwards = int(((untimed.end_ns < untimed.start_ns) & (untimed.end_ns > 0)).sum())
    missing = untimed.start_ns.size - backwards
    if missing:
        notes.append(
            f"{missing} of {ops.start_ns.size + untimed.start_ns.size} GPU operations have no time "
            "(start or end missing): they count, but busy time is too low and idle too high where "
            "they ran."
        )
    if backwards:
        notes.append(
            f"{backwards} GPU operations end before they start: they count, but their time is "
            "unknown, so that busy time is too low and idle too high where they ran."
        )
    if strays:
        notes.append(
            f"{strays} CUDA API calls name no thread or no time, so that no step can own them: "
            "counts of calls are lower bounds."
        )
    if reused:
        notes.append(
            f"{reused} correlation ids are used by several calls of one process: an operation "
            "belongs to the last such call that starts before it."
        )
    return notes
