"""Writes small nsys SQLite exports from Python lists, so that tests go through the real reader.

    trace = TraceBuilder()
    trace.range("prefill#0", 0, 100)
    trace.launch(10, 15, kernel=(20, 40))
    path = trace.write(tmp_path / "drawn.sqlite")

Tables and columns are those of real exports: schema 3.0.0 (nsys 2022.4), 3.7.2 (2023.4) and
3.20.3 (2025.3). As nsys does, a table without rows is left out. The rows stay readable as
attributes, for references that compute the same figures another way.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from pathlib import Path

VM = 1 << 48
PUSH_POP, START_END, MARK, DOMAIN = 59, 60, 34, 75
INT_MAX = 2**31 - 1
NSYS = {"3.0.0": "2022.4.2.1", "3.7.2": "2023.4.4.54", "3.20.3": "2025.3.2.0"}

_OP_HEAD = "start end deviceId contextId streamId correlationId globalPid"
_COLUMNS = {
    "StringIds": "id value",
    "NVTX_EVENTS": "start end eventType rangeId category color text globalTid endGlobalTid textId "
    "domainId uint64Value int64Value doubleValue uint32Value int32Value floatValue",
    "CUPTI_ACTIVITY_KIND_RUNTIME": "start end eventClass globalTid correlationId nameId "
    "returnValue callchainId",
    "CUPTI_ACTIVITY_KIND_KERNEL": f"{_OP_HEAD} demangledName shortName mangledName graphNodeId "
    "gridX gridY gridZ blockX blockY blockZ staticSharedMemory dynamicSharedMemory",
    "CUPTI_ACTIVITY_KIND_MEMCPY": f"{_OP_HEAD} bytes copyKind srcKind dstKind graphNodeId",
    "CUPTI_ACTIVITY_KIND_MEMSET": f"{_OP_HEAD} value bytes graphNodeId memKind",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": f"{_OP_HEAD} graphId graphExecId",
    "TARGET_INFO_GPU": "id name",
    "TARGET_INFO_CUDA_DEVICE": "gpuId cudaId pid",
    "TARGET_INFO_CUDA_CONTEXT_INFO": "nullStreamId hwId vmId processId deviceId contextId "
    "parentContextId isGreenContext",
    "TARGET_INFO_SYSTEM_ENV": "name value",
    "PROCESSES": "globalPid pid name",
    "PROFILER_OVERHEAD": "start end globalTid nameId returnValue",
    "DIAGNOSTIC_EVENT": "timestamp timestampType source severity text globalPid",
}
_OPS = {
    "kernel": "CUPTI_ACTIVITY_KIND_KERNEL",
    "memcpy": "CUPTI_ACTIVITY_KIND_MEMCPY",
    "memset": "CUPTI_ACTIVITY_KIND_MEMSET",
    "graph": "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
}


def global_pid(pid):
    return VM | pid << 24


def global_tid(pid, tid):
    return VM | pid << 24 | tid


@dataclass
class RangeRow:
    text: str
    start: int | None
    end: int | None
    tid: int
    pid: int
    event: int
    domain: int | None
    registered: bool
    payload: int | None
    end_tid: int | None


@dataclass
class CallRow:
    name: str
    start: int
    end: int
    corr: int | None
    tid: int | None
    pid: int
    result: int = 0
    event: int = 0


@dataclass
class OpRow:
    kind: str
    start: int | None
    end: int | None
    corr: int | None
    pid: int | None
    device: int | None
    stream: int
    name: str | None
    node: int | None
    bytes: int
    copy_kind: int
    context: int = 1
    grid: tuple[int, int, int] = (1, 1, 1)
    block: tuple[int, int, int] = (128, 1, 1)
    shared: int = 0


@dataclass
class TraceBuilder:
    """Rows of one export; every method appends and most return the correlation id used."""

    version: str = "3.20.3"
    graph_mode: str | None = None
    gpus: dict[int, str] = field(default_factory=lambda: {0: "NVIDIA H200"})
    cuda_devices: list[tuple[int, int, int]] = field(default_factory=list)
    contexts: list[tuple[int, int, int]] = field(default_factory=list)  # context, device, pid
    ranges: list[RangeRow] = field(default_factory=list)
    calls: list[CallRow] = field(default_factory=list)
    ops: list[OpRow] = field(default_factory=list)
    overheads: list[tuple[int, int]] = field(default_factory=list)
    diagnostics: list[tuple[int, str]] = field(default_factory=list)
    drop_columns: dict[str, tuple[str, ...]] = field(default_factory=dict)
    drop_tables: tuple[str, ...] = ()
    schema_version: str | None = None
    _next: int = 100

    def range(
        self,
        text,
        start,
        end,
        *,
        tid=1,
        pid=1,
        event=PUSH_POP,
        domain=0,
        registered=False,
        payload=None,
        end_tid=None,
    ):
        self.ranges.append(
            RangeRow(text, start, end, tid, pid, event, domain, registered, payload, end_tid)
        )

    def domain(self, number, name, *, pid=1):
        self.range(name, 0, None, pid=pid, event=DOMAIN, domain=number)

    def call(self, name, start, end, *, corr=None, tid=1, pid=1, result=0, event=0):
        if corr is None:
            self._next += 1
            corr = self._next
        self.calls.append(CallRow(name, start, end, corr, tid, pid, result, event))
        return corr

    def op(
        self,
        kind,
        start,
        end,
        corr,
        *,
        pid=1,
        device=0,
        stream=7,
        name="gemm",
        node=None,
        size=4,
        copy_kind=1,
        context=1,
        **size_of,
    ):
        named = name if kind == "kernel" else None
        self.ops.append(
            OpRow(
                kind,
                start,
                end,
                corr,
                pid,
                device,
                stream,
                named,
                node,
                size,
                copy_kind,
                context,
                **size_of,
            )
        )

    def launch(
        self,
        start,
        end,
        *,
        kernel=None,
        api="cudaLaunchKernel_v7000",
        tid=1,
        pid=1,
        corr=None,
        result=0,
        **op,
    ):
        """A launch call and, where given, its kernel ``(start, end)``."""
        corr = self.call(api, start, end, tid=tid, pid=pid, corr=corr, result=result)
        if kernel:
            self.op("kernel", *kernel, corr, pid=pid, **op)
        return corr

    def graph(self, start, end, *, nodes=(), span=None, api="cudaGraphLaunch_v10000", **where):
        """A graph launch with node-level kernels, a whole-graph span, or neither."""
        corr = self.call(api, start, end, **where)
        pid = where.get("pid", 1)
        for number, node in enumerate(nodes, start=1):
            self.op("kernel", *node, corr, pid=pid, node=(1 << 32) | number)
        if span:
            self.op("graph", *span, corr, pid=pid)
        return corr

    def copy(self, start, end, *, gpu=None, api="cudaMemcpyAsync_v3020", tid=1, pid=1, **op):
        corr = self.call(api, start, end, tid=tid, pid=pid)
        if gpu:
            self.op("memcpy", *gpu, corr, pid=pid, **op)
        return corr

    def memset(self, start, end, *, gpu=None, api="cudaMemsetAsync_v3020", tid=1, pid=1, **op):
        corr = self.call(api, start, end, tid=tid, pid=pid)
        if gpu:
            self.op("memset", *gpu, corr, pid=pid, **op)
        return corr

    def sync(self, start, end, *, api="cudaStreamSynchronize_v3020", tid=1, pid=1):
        return self.call(api, start, end, tid=tid, pid=pid)

    # Writing ---------------------------------------------------------------------------------

    def write(self, path: Path) -> Path:
        """Write the export; returns ``path``."""
        strings: dict[str, int] = {}

        def string(text):
            return None if text is None else strings.setdefault(text, len(strings) + 1)

        tables = {
            "NVTX_EVENTS": [self._range_row(r, string) for r in self.ranges],
            "CUPTI_ACTIVITY_KIND_RUNTIME": [
                (
                    c.start,
                    c.end,
                    c.event,
                    None if c.tid is None else global_tid(c.pid, c.tid),
                    c.corr,
                    string(c.name),
                    c.result,
                    None,
                )
                for c in self.calls
            ],
            "TARGET_INFO_GPU": list(self.gpus.items()),
            "TARGET_INFO_CUDA_DEVICE": self.cuda_devices,
            "TARGET_INFO_CUDA_CONTEXT_INFO": [
                (7, 0, 1, pid, device, context, 0, 0) for context, device, pid in self.contexts
            ],
            "TARGET_INFO_SYSTEM_ENV": [
                ("NvDriverVersion", "580.1"),
                ("CudaDriverVersion", "13000"),
            ],
            "PROCESSES": [
                (global_pid(p), p, f"python{p}") for p in sorted({c.pid for c in self.calls})
            ],
            "PROFILER_OVERHEAD": [(a, b, global_tid(1, 1), 1, 0) for a, b in self.overheads],
            "DIAGNOSTIC_EVENT": [(0, 1, 2, level, text, None) for level, text in self.diagnostics],
        }
        for kind, table in _OPS.items():
            tables[table] = [self._op_row(o, string) for o in self.ops if o.kind == kind]
        tables["StringIds"] = [(number, text) for text, number in strings.items()]
        path.unlink(missing_ok=True)
        db = sqlite3.connect(path)
        try:
            for table, rows in tables.items():
                self._write_table(db, table, rows)
            self._write_metadata(db)
            db.commit()
        finally:
            db.close()
        return path

    def _range_row(self, r, string):
        inline, text_id = (None, string(r.text)) if r.registered else (r.text, None)
        end_tid = None if r.end_tid is None else global_tid(r.pid, r.end_tid)
        head = (r.start, r.end, r.event, None, None, None, inline, global_tid(r.pid, r.tid))
        return (*head, end_tid, text_id, r.domain, None, r.payload, None, None, None, None)

    def _op_row(self, o, string):
        pid = None if o.pid is None else global_pid(o.pid)
        head = (o.start, o.end, o.device, o.context, o.stream, o.corr, pid)
        if o.kind == "kernel":
            sizes = (*o.grid, *o.block, 0, o.shared)
            return (*head, string(o.name), string(o.name), None, o.node, *sizes)
        if o.kind == "memcpy":
            return (*head, o.bytes, o.copy_kind, 0, 2, o.node)
        if o.kind == "memset":
            return (*head, 0, o.bytes, o.node, 2)
        return (*head, 1, 2)

    def _write_table(self, db, table, rows):
        always = ("StringIds",)
        if (not rows and table not in always) or table in self.drop_tables:
            return
        if self.version != "3.20.3":
            assert table != "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "older nsys exports no graph spans"
            if table == "DIAGNOSTIC_EVENT":
                return
        names = _COLUMNS[table].split()
        keep = [i for i, n in enumerate(names) if n not in self.drop_columns.get(table, ())]
        types = [
            "TEXT"
            if names[i] in ("value", "text", "name") and table != _OPS["memset"]
            else "INTEGER"
            for i in keep
        ]
        columns = ", ".join(f"{names[i]} {t}" for i, t in zip(keep, types, strict=True))
        if table == "StringIds":
            columns = columns.replace("id INTEGER", "id INTEGER NOT NULL PRIMARY KEY")
        db.execute(f"CREATE TABLE {table} ({columns})")
        marks = ", ".join("?" for _ in keep)
        db.executemany(
            f"INSERT INTO {table} VALUES ({marks})", [tuple(row[i] for i in keep) for row in rows]
        )

    def _write_metadata(self, db):
        export = [
            ("EXPORT_PRODUCT_VERSION", NSYS[self.version]),
            ("EXPORT_SCHEMA_VERSION", self.schema_version or self.version),
        ]
        # nsys 2022.4 calls the table otherwise and stores nothing of the recording.
        old = self.version == "3.0.0"
        table = "EXPORT_META_DATA" if old else "META_DATA_EXPORT"
        if table not in self.drop_tables:
            db.execute(f"CREATE TABLE {table} (name TEXT, value TEXT)")
            db.executemany(f"INSERT INTO {table} VALUES (?, ?)", export)
        if old:
            return
        prefix = "PROCESS_0:" if self.version == "3.7.2" else ""
        capture = [(f"{prefix}COLLECT_CUDA_TRACE", "true")]
        if self.graph_mode:
            capture.append((f"{prefix}CUDA_GRAPH_TRACE_OPTIONS:MODE", self.graph_mode))
        db.execute("CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT)")
        db.executemany("INSERT INTO META_DATA_CAPTURE VALUES (?, ?)", capture)
