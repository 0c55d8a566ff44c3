"""Keeps what the children of one run answered, small and without paths, for tests to replay.

usage: record_answers.py RUNS OUT

RUNS is a folder of runs, of which the newest is taken. OUT receives every result JSON of the
harness (times of each round, traced children, capture attempts) and of each variant's outputs a
slice: the same columns of the logits for all variants, the likeliest tokens of each among them.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

COLUMNS = 256
_PATH = re.compile(r"(?<![\w.])/[^\s:'\"]+/[^\s:'\"]+")


def main(runs: Path, out: Path) -> None:
    run = max(runs.glob("*/run.json"), key=lambda file: file.stat().st_mtime).parent
    out.mkdir(parents=True, exist_ok=True)
    for file in sorted((run / "results").glob("*.json")):
        answer = json.loads(file.read_text("utf-8"))
        if isinstance(answer, dict) and answer.get("schema") == "launchlens.harness/1":
            text = json.dumps(without_paths(answer), indent=1)
            (out / file.name).write_text(text + "\n", "utf-8")
    keep_slices(sorted((run / "results").glob("*.outputs.npz")), out)


def without_paths(value: Any, key: str = "") -> Any:
    """The value with files by their names, packages' files from site-packages on, no tracebacks."""
    if key == "traceback":
        return None
    if isinstance(value, dict):
        return {name: without_paths(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [without_paths(item) for item in value]
    return _PATH.sub(_neutral, value) if isinstance(value, str) else value


def _neutral(match: re.Match[str]) -> str:
    path = match[0]
    packages = path.find("site-packages/")
    return path[packages:] if packages >= 0 else path.rpartition("/")[2]


def keep_slices(files: list[Path], out: Path) -> None:
    outputs = {file.name: dict(np.load(file)) for file in files}
    columns: dict[str, set[int]] = {}
    for arrays in outputs.values():
        for name, array in arrays.items():
            kept = columns.setdefault(name, set(range(COLUMNS)))
            kept.update(array.argmax(-1).ravel().tolist())
    for file, arrays in outputs.items():
        sliced: dict[str, Any] = {n: a[..., sorted(columns[n])] for n, a in arrays.items()}
        np.savez_compressed(out / file, **sliced)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
