"""An nsys export becomes a `Trace` of columns, one scan of each table."""

from __future__ import annotations

from launchlens.records.columns import Device, OpTable, Process, Thread, Trace
from launchlens.records.figures import TraceInfo
from launchlens.trace.format import TraceFile, describe
from launchlens.trace.formats.nsys.calls import read_api
from launchlens.trace.formats.nsys.devices import resolve_devices
from launchlens.trace.formats.nsys.metadata import Facts, read_facts
from launchlens.trace.formats.nsys.names import PROCESS_MASK, Registry, pid_of, read_names
from launchlens.trace.formats.nsys.operations import MEM_KINDS, RawOps, read_ops
from launchlens.trace.formats.nsys.ranges import read_ranges
from launchlens.trace.formats.nsys.remedies import recorder
from launchlens.trace.formats.nsys.schema import RUNTIME, Schema, read_schema
from launchlens.trace.formats.nsys.source import check_header
from launchlens.trace.link import link_operations


def read_export(file: TraceFile) -> Trace:
    """Read an nsys SQLite export into columns.

    Raises:
        TraceError: the file is damaged, truncated, half-written, or of an unknown schema.
    """
    check_header(file)
    plain, named = file.path, file.named
    schema = read_schema(plain, named=named)
    facts = read_facts(plain, schema, named=named)
    texts = read_names(plain, schema, named=named)
    processes, threads = Registry(), Registry()
    ops = read_ops(plain, schema, processes, named=named, mem_kinds=facts.mem_kinds or MEM_KINDS)
    api = read_api(plain, schema, texts, processes, threads, named=named)
    ranges, unclosed = read_ranges(plain, schema, texts, processes, threads, named=named)
    device, devices, notes = resolve_devices(ops, processes, facts)
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
        link_operations(api, ops.process, ops.correlation_id),
    )
    return Trace(
        info=_info(schema, facts, devices, (*notes, *_warnings(ops, unclosed))),
        api=api,
        ops=linked,
        copies=ops.copies,
        ranges=ranges,
        processes=tuple(
            Process(p, pid_of(p), facts.process_names.get(p)) for p in processes.values
        ),
        threads=tuple(
            Thread(t, t & ~PROCESS_MASK, processes.index(t & PROCESS_MASK)) for t in threads.values
        ),
        devices=devices,
        strings=texts.text(ops.name_ids),
        has_api=RUNTIME in schema.columns,
        recorder=recorder(schema.nsys_version),
    )


def _info(
    schema: Schema, facts: Facts, devices: tuple[Device, ...], warnings: tuple[str, ...]
) -> TraceInfo:
    used = list(dict.fromkeys(d.name for d in devices if d.name)) or list(
        dict.fromkeys(facts.gpus.values())
    )
    return describe(
        version=schema.nsys_version,
        export_schema=schema.version,
        gpu=", ".join(used) or None,
        driver=facts.driver,
        cuda_driver=facts.cuda_driver,
        graph_tracing=facts.graph_tracing,
        cuda_traced=facts.cuda_traced,
        overhead_ns=facts.overhead_ns,
        diagnostics=facts.diagnostics,
        warnings=warnings,
    )


def _warnings(ops: RawOps, unclosed: int) -> list[str]:
    notes = []
    if ops.dropped:
        notes.append(f"{ops.dropped} GPU operations carry no time (start = end = 0); left out.")
    if unclosed:
        notes.append(f"{unclosed} NVTX ranges never end in this trace; left out.")
    return notes
