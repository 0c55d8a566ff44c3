"""Grow a shipped trace to any size, for benchmarks: the same steps again and again, later in time.

usage: python benchmarks/grow_trace.py SRC.sqlite[.xz] OUT.sqlite [--kernels 3000000] [--api-rows N]

Each copy shifts every time stamp by the length of the capture and every correlation id by
their span, so that no row of one copy belongs to another. Names and metadata stay as they are.
When --api-rows asks for more API rows than the copies bring, cudaStreamIsCapturing and
cudaEventQuery calls (which frameworks make in great numbers) fill the rest.
"""

from __future__ import annotations

import argparse
import lzma
import shutil
import sqlite3
from pathlib import Path

SHIFTED = {
    "CUPTI_ACTIVITY_KIND_KERNEL": ("start", "end"),
    "CUPTI_ACTIVITY_KIND_MEMCPY": ("start", "end"),
    "CUPTI_ACTIVITY_KIND_MEMSET": ("start", "end"),
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": ("start", "end"),
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": ("start", "end"),
    "CUPTI_ACTIVITY_KIND_RUNTIME": ("start", "end"),
    "NVTX_EVENTS": ("start", "end"),
}


def grow(src: Path, out: Path, kernels: int, api_rows: int) -> tuple[int, int]:
    """Write a copy of ``src`` with at least ``kernels`` kernel rows; returns its row counts."""
    if src.suffix == ".xz":
        with lzma.open(src) as compressed, out.open("wb") as plain:
            shutil.copyfileobj(compressed, plain)
    else:
        shutil.copyfile(src, out)
    db = sqlite3.connect(out)
    db.execute("PRAGMA journal_mode=OFF")
    db.execute("PRAGMA synchronous=OFF")
    have = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type='table'")}
    kernel, runtime = "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME"
    base = db.execute(f"SELECT count(*) FROM {kernel}").fetchone()[0]
    copies = -(-kernels // base)
    low, high = db.execute(f"SELECT min(start), max(end) FROM {runtime}").fetchone()
    stride = high - low + 10_000_000
    span = db.execute(f"SELECT max(correlationId) FROM {runtime}").fetchone()[0] + 1
    for table, times in SHIFTED.items():
        if table not in have:
            continue
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        shifted = {c: f"{c} + i.n * {stride}" for c in times}
        shifted["correlationId"] = f"correlationId + i.n * {span}"
        values = [shifted.get(c, c) for c in columns]
        where = "WHERE eventType IN (59, 60)" if table == "NVTX_EVENTS" else ""
        db.execute(
            "WITH RECURSIVE i(n) AS "
            f"(SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < {copies - 1}) "
            f"INSERT INTO {table} SELECT {', '.join(values)} FROM i CROSS JOIN "
            f"(SELECT * FROM {table} {where})"
        )
    rows = db.execute(f"SELECT count(*) FROM {runtime}").fetchone()[0]
    if rows < api_rows:
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({runtime})")]
        filler = db.execute("SELECT max(id) + 1 FROM StringIds").fetchone()[0]
        db.execute("INSERT INTO StringIds VALUES (?, 'cudaStreamIsCapturing_v10000')", (filler,))
        other = {
            "start": "start - 900",
            "end": "start - 600",
            "correlationId": f"correlationId + {copies * span}",
            "nameId": str(filler),
        }
        values = [other.get(c, c) for c in columns]
        db.execute(
            f"INSERT INTO {runtime} SELECT {', '.join(values)} "
            f"FROM {runtime} LIMIT {api_rows - rows}"
        )
    db.commit()
    counts = [db.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in (kernel, runtime)]
    db.close()
    return counts[0], counts[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("src", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--kernels", type=int, default=3_000_000)
    parser.add_argument("--api-rows", type=int, default=6_500_000)
    args = parser.parse_args()
    kernels, rows = grow(args.src, args.out, args.kernels, args.api_rows)
    print(f"{args.out}: {kernels} kernels, {rows} API rows, {args.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
