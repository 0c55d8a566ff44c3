"""Measure ways to parse a trace of torch.profiler, and launchlens on one of 1.6 GB.

usage: python benchmarks/kineto.py [-o benchmarks/kineto.json] [--repeats 3]

All ways of json_parsers.py on 1.5 million events; the fastest of them and launchlens on fifteen
million. Everything runs in a process of its own, with the file in the page cache.
"""

from __future__ import annotations

import argparse
import datetime
import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from grow_kineto import grow
from json_parsers import WAYS
from run import machine, measure, run_child

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "traces" / "qwen3-0.6b-eager.torch2.11.json.gz"
PARSERS = Path(__file__).with_name("json_parsers.py")
FEW, MANY = 1_500_000, 15_000_000
ON_MANY = ("pysimdjson", "pysimdjson-pieces", "structs-pieces", "launchlens")
PACKAGES = ("pysimdjson", "cysimdjson", "orjson", "msgspec", "ijson", "duckdb", "polars")


def measure_way(way: str, trace: Path, repeats: int) -> dict[str, Any]:
    """Seconds of one way (median, best, all), of the processor too, and its largest peak."""
    runs = []
    for _ in range(repeats):
        _, peak, out = run_child([sys.executable, str(PARSERS), way, str(trace)])
        answer = json.loads(out)
        if "failed" in answer:
            return {"failed": answer["failed"]}
        runs.append((answer["seconds"], answer["cpu_seconds"], peak))
        print(f"  {way}: {answer['seconds']:.2f} s, {peak / 1e6:,.0f} MB", flush=True)
    return {
        "median_s": round(statistics.median(s for s, _, _ in runs), 3),
        "best_s": round(min(s for s, _, _ in runs), 3),
        "samples_s": [round(s, 3) for s, _, _ in runs],
        "cpu_s": round(min(s for _, s, _ in runs), 3),
        "peak_bytes": max(peak for _, _, peak in runs),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "benchmarks" / "kineto.json")
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    result: dict[str, Any] = {
        "schema": "launchlens.benchmark-kineto/1",
        "date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        "machine": machine(("launchlens", "numpy", "pyarrow", *PACKAGES)),
    }
    with tempfile.TemporaryDirectory(prefix="launchlens-bench-") as folder:
        trace = Path(folder) / "grown.json"
        for name, events, ways in (("few", FEW, tuple(WAYS)), ("many", MANY, ON_MANY)):
            count = grow(SOURCE, trace, events)
            print(f"{count:,} events, {trace.stat().st_size:,} bytes")
            with trace.open("rb") as source:  # into the page cache, not into this process
                while source.read(1 << 24):
                    pass
            measured = {way: measure_way(way, trace, args.repeats) for way in ways}
            result[name] = {"events": count, "bytes": trace.stat().st_size, "ways": measured}
        command = [sys.executable, "-m", "launchlens", "analyze", str(trace)]
        result["analyze"] = measure(command, args.repeats)
    args.output.write_text(json.dumps(result, indent=1) + "\n")
    print(f"wrote {args.output}")


if __name__ == "__main__":
    main()
