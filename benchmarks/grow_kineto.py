"""Grow a trace of torch.profiler to any size, for benchmarks: the same events, later in time.

usage: python benchmarks/grow_kineto.py SRC.json.gz OUT.json [--events 15000000]

Each copy shifts every time by the length of the recording, and every correlation id by their span.
Events are written without blanks, with names of at most 12 letters and only the arguments that
figures need, so that fifteen million of them fill 1.5 GB: more events for each byte than real ones
have, which costs any parser of events more.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

KEPT = ("correlation", "device", "stream", "bytes")
MOST_LETTERS = 12
Template = tuple[str, int, str, int | None, str]


def grow(src: Path, out: Path, events: int) -> int:
    """Write at least so many events; returns how many."""
    content = json.loads(gzip.decompress(src.read_bytes()), parse_float=Decimal)
    timed = [e for e in content["traceEvents"] if e.get("cat") and e["ph"] in "Xsf"]
    rest = [e for e in content["traceEvents"] if e["ph"] == "M"]
    begin = min(e["ts"] for e in timed if e["pid"] != "Spans")
    timed = [e for e in timed if e["pid"] != "Spans"]
    stride = _ns(max(e["ts"] + e.get("dur", 0) for e in timed) - begin) + 1_000_000
    span = max(_correlation(e) or 0 for e in timed) + 1
    templates = [_template(e, begin) for e in timed]
    copies = -(-events // len(timed))
    head = {k: v for k, v in content.items() if k not in ("traceEvents", "traceName")}
    with out.open("w", encoding="utf-8") as target:
        target.write(json.dumps(head, separators=(",", ":"))[:-1] + ',"traceEvents":[')
        for copy in range(copies):
            target.write(",".join(_written(templates, copy * stride, copy * span)) + ",")
        target.write(",".join(json.dumps(e, default=float, separators=(",", ":")) for e in rest))
        target.write('],"traceName":"grown.json"}\n')
    return copies * len(timed) + len(rest)


def _ns(us: Decimal) -> int:
    return int(us * 1000)


def _correlation(event: dict[str, Any]) -> int | None:
    found: int | None = event.get("args", {}).get("correlation", event.get("id"))
    return found


def _template(event: dict[str, Any], begin: Decimal) -> Template:
    """An event as text around its time and its correlation id."""
    args = {k: v for k, v in event.get("args", {}).items() if k in KEPT and k != "correlation"}
    parts: dict[str, Any] = {k: event[k] for k in ("ph", "cat", "name", "pid", "tid")}
    parts["name"] = parts["name"][:MOST_LETTERS]
    head = json.dumps(parts, separators=(",", ":"))[:-1] + ',"ts":'
    tail = f',"dur":{event["dur"]}' if "dur" in event else ""
    number = _correlation(event)
    if event["ph"] in "sf":
        return head, _ns(event["ts"] - begin), ',"id":', number, "}"
    if number is None:
        return head, _ns(event["ts"] - begin), tail, None, "}"
    more = "".join(f',"{k}":{v}' for k, v in args.items())
    return head, _ns(event["ts"] - begin), tail + ',"args":{"correlation":', number, more + "}}"


def _written(templates: list[Template], shift: int, by: int) -> Iterator[str]:
    for head, start, middle, number, tail in templates:
        at = start + shift
        told = "" if number is None else number + by
        yield f"{head}{at // 1000}.{at % 1000:03d}{middle}{told}{tail}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("src", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--events", type=int, default=15_000_000)
    args = parser.parse_args()
    events = grow(args.src, args.out, args.events)
    size = args.out.stat().st_size
    print(f"{events:,} events, {size:,} bytes, {size / events:.0f} for each")


if __name__ == "__main__":
    main()
