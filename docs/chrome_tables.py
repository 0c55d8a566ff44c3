"""A torch.profiler file's events as the tables of an nsys export, for the SQL on the cards.

Plain loops over plain JSON; shares no code with launchlens.
"""

from __future__ import annotations

import gzip
import json
import sqlite3
from decimal import Decimal
from pathlib import Path
from typing import Any

OPERATIONS = {
    "kernel": "CUPTI_ACTIVITY_KIND_KERNEL",
    "gpu_memcpy": "CUPTI_ACTIVITY_KIND_MEMCPY",
    "gpu_memset": "CUPTI_ACTIVITY_KIND_MEMSET",
}


def write_tables(packed: Path, plain: Path) -> None:
    """Write calls, operations and annotations as tables of an SQLite file."""
    content = json.loads(gzip.decompress(packed.read_bytes()), parse_float=Decimal)
    events = [e for e in content["traceEvents"] if e["ph"] == "X"]
    db = sqlite3.connect(plain)
    db.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT UNIQUE)")
    db.execute("CREATE TABLE NVTX_EVENTS (start, end, eventType, text, textId, globalTid)")
    db.execute(
        "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId)"
    )
    for table in OPERATIONS.values():
        db.execute(f"CREATE TABLE {table} (start, end, globalPid, correlationId)")
    (pid,) = {e["pid"] for e in events if e["cat"] == "user_annotation"}
    for event in events:
        _insert(db, event, pid)
    db.commit()
    db.close()


def _insert(db: sqlite3.Connection, event: dict[str, Any], pid: int) -> None:
    start = int(event["ts"] * 1000)
    times = start, start + int(event["dur"] * 1000)
    category, args = event["cat"], event.get("args", {})
    if category == "user_annotation":
        row = (*times, 59, event["name"], None, pid << 24 | event["tid"])
        db.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, ?, ?, ?, ?)", row)
    elif category in ("cuda_runtime", "cuda_driver"):
        db.execute("INSERT OR IGNORE INTO StringIds (value) VALUES (?)", (event["name"],))
        row = (*times, pid << 24 | event["tid"], args["correlation"], event["name"])
        db.execute(
            "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME "
            "SELECT ?, ?, ?, ?, id FROM StringIds WHERE value = ?",
            row,
        )
    elif category in OPERATIONS:
        row = (*times, pid << 24, args["correlation"])
        db.execute(f"INSERT INTO {OPERATIONS[category]} VALUES (?, ?, ?, ?)", row)
