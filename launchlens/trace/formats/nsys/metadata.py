"""What an export says of its recording: versions, GPU, driver, settings, diagnostics.

Environment variables, command lines, host and user names are stored in exports too; none of
them is read.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from dataclasses import dataclass

from launchlens.records.figures import Diagnostic, TraceInfo
from launchlens.records.figures.trace import Loss
from launchlens.trace.formats.nsys.names import pid_of
from launchlens.trace.formats.nsys.schema import CONTEXTS, Schema
from launchlens.trace.formats.nsys.source import looked_through
from launchlens.trace.interface import TraceFile, describe

# What nsys says of events that it did not keep stands in texts alone; they have no codes.
_LOST = re.compile(r"(?i)\b(lost|dropped|discarded|overflowed|overwritten)\b")
_MAY_BE_LOST = re.compile(r"(?i)\bnot all CUDA events might have been collected")
_NOT_OF_CUDA = re.compile(r"(?i)\b(NVTX|OSRT|OS runtime|sampl\w+|context switch\w*)\b")
_SEVERITIES = {2: "warning", 3: "error"}  # fallback for ENUM_DIAGNOSTIC_SEVERITY_LEVEL


@dataclass(frozen=True, slots=True)
class Facts:
    """Small facts of an export; what it does not tell is None or empty."""

    info: TraceInfo
    gpus: dict[int, str]
    process_names: dict[int, str]
    gpu_of: dict[tuple[int, int], int]
    mem_kinds: dict[int, str]
    default_streams: dict[tuple[int, int], tuple[int, ...]]


def read_facts(file: TraceFile, schema: Schema) -> Facts:
    """Read the small tables; a table or column that is not there leaves its fact unknown.

    Raises:
        TraceError: a page of these tables is damaged.
    """
    with looked_through(file) as db:
        return _facts(db, schema)


def _facts(db: sqlite3.Connection, schema: Schema) -> Facts:
    def rows(table: str, *columns: str) -> list[tuple[object, ...]]:
        if not schema.has(table, *columns):
            return []
        return db.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall()

    capture = [(str(k), str(v)) for k, v in rows("META_DATA_CAPTURE", "name", "value")]
    system = {str(k): str(v) for k, v in rows("TARGET_INFO_SYSTEM_ENV", "name", "value")}
    gpus = {_int(i): str(n) for i, n in rows("TARGET_INFO_GPU", "id", "name")}
    gpu_of = {
        (_int(pid), _int(cuda)): _int(gpu)
        for gpu, cuda, pid in rows("TARGET_INFO_CUDA_DEVICE", "gpuId", "cudaId", "pid")
    }
    overhead = [(_int(a), _int(b)) for a, b in rows("PROFILER_OVERHEAD", "start", "end")]
    mode = _by_end(capture, "CUDA_GRAPH_TRACE_OPTIONS:MODE")
    traced = _by_end(capture, "COLLECT_CUDA_TRACE")
    labels = {
        _int(i): str(n).lower() for i, n in rows("ENUM_DIAGNOSTIC_SEVERITY_LEVEL", "id", "label")
    }
    kinds = {_int(i): str(n) for i, n in rows("ENUM_CUDA_MEM_KIND", "id", "label")}
    driver = system.get("NvDriverVersion")
    info = describe(
        version=schema.nsys_version,
        export_schema=schema.version,
        driver=None if driver == "0" else driver or None,  # "0": a machine without one
        cuda_driver=_cuda_version(system.get("CudaDriverVersion")),
        graph_tracing=mode.lower() if mode else None,
        cuda_traced=None if traced is None else traced.lower() == "true",
        overhead_ns=sum(b - a for a, b in overhead) if overhead else None,
        diagnostics=_diagnostics(
            rows("DIAGNOSTIC_EVENT", "severity", "text", "globalPid")
            or [(*row, None) for row in rows("DIAGNOSTIC_EVENT", "severity", "text")],
            labels,
        ),
    )
    return Facts(
        info,
        gpus,
        {_int(p): str(n) for p, n in rows("PROCESSES", "globalPid", "name")},
        gpu_of,
        kinds,
        _default_streams(rows(CONTEXTS, "processId", "deviceId", "nullStreamId")),
    )


def _default_streams(contexts: list[tuple[object, ...]]) -> dict[tuple[int, int], tuple[int, ...]]:
    """Null streams of the contexts of each (pid, device)."""
    found: dict[tuple[int, int], set[int]] = {}
    for pid, device, stream in contexts:
        if isinstance(stream, int):
            found.setdefault((_int(pid), _int(device)), set()).add(stream)
    return {key: tuple(sorted(streams)) for key, streams in found.items()}


def _diagnostics(
    events: list[tuple[object, ...]], labels: dict[int, str]
) -> tuple[Diagnostic, ...]:
    """Warnings and errors, the same message once with its count; notices are left out."""
    counted: Counter[tuple[str, str]] = Counter()
    about: dict[tuple[str, str], set[int | None]] = {}
    for severity, text, process in events:
        number = _int(severity)
        label = labels.get(number, _SEVERITIES.get(number, "info"))
        if "info" not in label and "verbose" not in label and number >= 2:
            key = label, " ".join(str(text).split())
            counted[key] += 1
            pid = pid_of(process) if isinstance(process, int) else None
            about.setdefault(key, set()).add(pid)
    return tuple(
        Diagnostic(severity, text, n, _loss(text), _pids(about[severity, text]))
        for (severity, text), n in counted.items()
    )


def _pids(processes: set[int | None]) -> tuple[int, ...]:
    """Processes that a message is about; none named: all."""
    return () if None in processes else tuple(sorted(p for p in processes if p is not None))


def _loss(text: str) -> Loss | None:
    """What a message of nsys says about CUDA events that it did not keep."""
    if _NOT_OF_CUDA.search(text):
        return None
    return "certain" if _LOST.search(text) else "possible" if _MAY_BE_LOST.search(text) else None


def _by_end(facts: list[tuple[str, str]], end: str) -> str | None:
    """Value of the first key that ends so: prefixes such as ``PROCESS_0:`` come and go."""
    return next((value for key, value in facts if key.endswith(end)), None)


def _cuda_version(number: str | None) -> str | None:
    if not number or not number.isdigit():
        return None
    return f"{int(number) // 1000}.{int(number) % 1000 // 10}"


def _int(value: object) -> int:
    return value if isinstance(value, int) else -1
