"""Untraced steps of one model before and after patches, each in several processes, in turn.

    python benchmarks/repeated_steps.py --model gemma-3n-E4B-it --rounds 3 \
        --case eager --case eager:FIX.py --case cudagraph:FIX.py

A launch-bound step's time differs from process to process by more than its spread within one, so
small gains are only seen when cases take turns over several processes. Prints one line of JSON for
each case: medians in ms, one for each process.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--case", action="append", required=True, help="VARIANT or VARIANT:PATCH")
    parser.add_argument("--device", default="cuda")
    asked = parser.parse_args()
    found = {case: [] for case in asked.case}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(asked.rounds):
            for case in asked.case:
                found[case].append(run(Path(folder), asked.model, asked.device, case))
                print(case, found[case][-1], file=sys.stderr, flush=True)
    for case, medians in found.items():
        print(json.dumps({"case": case, "untraced_ms": medians}))


def run(folder: Path, model: str, device: str, case: str) -> float:
    """The median of one process's untraced prefill steps, in ms."""
    variant, _, patch = case.partition(":")
    result = folder / "result.json"
    result.unlink(missing_ok=True)
    spec = {"model": model, "variant": variant, "patch": patch or None, "device": device}
    (folder / "spec.json").write_text(
        json.dumps(spec | {"mode": "time", "steps": 40, "result_path": str(result)})
    )
    subprocess.run(
        [sys.executable, "-m", "launchlens.harness", folder / "spec.json"],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    steps = json.loads(result.read_text())["steps"]["prefill"]
    return round(statistics.median(steps["samples_ns"]) / 1e6, 2)


if __name__ == "__main__":
    main()
