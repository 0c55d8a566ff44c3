"""An nsys export becomes a `Trace` of columns, one scan of each table."""

from __future__ import annotations

from dataclasses import replace

from launchlens.records.columns import Process, Thread, Trace
from launchlens.trace.formats.nsys.calls import read_api
from launchlens.trace.formats.nsys.devices import resolve_devices
from launchlens.trace.formats.nsys.metadata import read_facts
from launchlens.trace.formats.nsys.names import PROCESS_MASK, Registry, pid_of, read_names
from launchlens.trace.formats.nsys.operations import MEM_KINDS, RawOps, read_ops
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
    api = read_api(file, schema, texts, processes, threads)
    ranges, unclosed = read_ranges(file, schema, texts, processes, threads)
    device, devices, notes = resolve_devices(ops, processes, facts)
    api_row = link_operations(api, ops.process, ops.correlation_id)
    gpus = [d.name for d in devices if d.name] or facts.gpus.values()
    gpu = ", ".join(dict.fromkeys(gpus)) or None
    return Trace(
        info=replace(facts.info, gpu=gpu, warnings=(*notes, *_warnings(raw, unclosed))),
        api=api,
        ops=replace(ops, device=device, api_row=api_row),
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
        has_api=RUNTIME in schema.columns,
        recorder=recorder(schema.nsys_version),
    )


def _warnings(ops: RawOps, unclosed: int) -> list[str]:
    notes = []
    if ops.dropped:
        notes.append(f"{ops.dropped} GPU operations carry no time (start = end = 0); left out.")
    if unclosed:
        notes.append(f"{unclosed} NVTX ranges never end in this trace; left out.")
    return notes
