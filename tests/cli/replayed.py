"""A machine with an H200 that answers as the real one did, with the results and traces of its runs.

What starts processes is replaced, so that all that launchlens makes of the answers runs where there
is no GPU. What no run has left is made up by the tests, which then name it so: answers of further
rounds, and outputs. `benchmarks/gpu.sh OUT record-qwen3 record-gemma3n` records both; files it
leaves in a folder of `recorded` are taken in place of what is made up.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import profiled

from launchlens import capture
from launchlens.harness.equivalence import save_outputs
from launchlens.protocol.measured import TimedSteps, TracedSteps
from launchlens.protocol.result import TimeResult, TraceResult, read_result, write_result
from launchlens.protocol.spec import HarnessSpec

RECORDED = Path(__file__).parent / "recorded"


class Machine:
    """Answers for the children, and in ``asked`` the order in which they were asked.

    Args:
        answers: folder of recorded results, ``VARIANT.time.json`` and ``attempt_0.json``.
        traces: shipped traces by variant and kind of graph tracing, ``eager.node``.
        made_up_ms: step times of later rounds by variant, all of a round alike.
        made_up_outputs: logits by variant, for every dtype that is asked for.
    """

    def __init__(self, answers, traces, *, made_up_ms=None, made_up_outputs=None):
        self.asked = []
        self._answers, self._traces = RECORDED / answers, traces
        self._made_up_ms, self._made_up_outputs = made_up_ms or {}, made_up_outputs or {}

    def replace_processes(self, monkeypatch):
        gpu = SimpleNamespace(name="NVIDIA H200", driver="580.159.04")
        nsys = SimpleNamespace(version_text="2025.3.1.0")
        monkeypatch.setattr(capture, "gpu_facts", lambda: (gpu,))
        monkeypatch.setattr(capture, "find_nsys", lambda _: nsys)
        monkeypatch.setattr(capture, "run_plain", self._run_plain)
        monkeypatch.setattr(capture, "record", self._record)

    def _run_plain(self, program, *, log, timeout_s):
        spec = HarnessSpec.from_json(Path(program[-1]).read_text())
        path = Path(spec.result_path)
        self.asked.append(path.stem)
        log.write_text("")
        recorded = self._answers / path.name
        if recorded.exists():
            shutil.copy(recorded, path)
        else:
            write_result(path, self._later_round(spec, path.stem))
        if spec.outputs_path:
            self._save_outputs(spec, Path(spec.outputs_path))
        return 0

    def _later_round(self, spec, stem):
        first, turn = self._first(spec), int(stem.rpartition("-")[2])
        ns = round(self._made_up_ms[_name(spec)][turn - 2] * 1e6)
        return replace(first, spec=spec, steps={"prefill": TimedSteps((ns,) * 20, ns)})

    def _first(self, spec):
        return read_result(self._answers / f"{_name(spec)}.time.json", TimeResult)

    def _save_outputs(self, spec, path):
        recorded = self._answers / path.name
        if recorded.exists():
            shutil.copy(recorded, path)
        elif (logits := self._made_up_outputs.get(_name(spec))) is not None:
            dtypes = spec.equivalence_dtypes or (spec.dtype,)
            save_outputs(path, {f"{d}.prefill": np.float32(logits) for d in dtypes})

    def _record(self, _nsys, program, tracing, *, output, log, **_):
        spec = HarnessSpec.from_json(Path(program[-1]).read_text())
        self.asked.append(output.name)
        sqlite = output.with_name(f"{output.name}.sqlite.xz")
        name = self._traces[f"{_name(spec)}.{tracing.graphs}"]
        shutil.copy(profiled.ROOT / "traces" / f"{name}.nsys2025.3.sqlite.xz", sqlite)
        first = self._first(spec)
        result = TraceResult(
            variant=spec.variant,
            spec=spec,
            environment=first.environment,
            model=first.model,
            steps={"prefill": TracedSteps(spec.steps)},
        )
        write_result(Path(spec.result_path), result)
        return SimpleNamespace(sqlite=sqlite, command=["nsys"], log=log)


def _name(spec):
    return spec.variant + ("-patched" if spec.patch else "")
