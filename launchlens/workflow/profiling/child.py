"""One child process: its spec is written, its program run, its answer read."""

from __future__ import annotations

import sys
from pathlib import Path

from launchlens import capture
from launchlens.protocol.result import AnyResult, read_result
from launchlens.protocol.spec import HarnessSpec
from launchlens.store import RunFolder


def child_command(spec: HarnessSpec) -> list[str]:
    """Write a spec beside its result; returns the command that runs it."""
    path = Path(spec.result_path).with_suffix(".spec.json")
    path.write_text(spec.to_json(), "utf-8")
    return [sys.executable, "-m", "launchlens.harness", str(path)]


def run_child(
    spec: HarnessSpec, kind: type[AnyResult], run: RunFolder, title: str, log: Path, limit_s: float
) -> tuple[AnyResult | None, int]:
    """Run a spec with no profiler: the answer, None where there is none, and the exit code.

    Raises:
        CaptureError: it took longer than the limit.
        HarnessError: what it wrote is no answer.
    """
    command = child_command(spec)
    run.record_command(title, command)
    code = capture.run_plain(command, log=log, timeout_s=limit_s)
    return read_result(Path(spec.result_path), kind), code
