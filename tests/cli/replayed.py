"""A machine with an H200 that answers as the real one did: results and outputs of its runs.

What starts processes is replaced, so that all that launchlens makes of the answers runs where there
is no GPU. The parts of `benchmarks/gpu.sh` whose names begin with record- recorded the answers
(outputs as slices of the logits); traces are the shipped ones: those of the gemma runs are of the
same run, qwen3's of earlier ones. Nothing is made up: what was not recorded cannot be asked for.
"""

from __future__ import annotations

import json
import shutil
import statistics
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import profiled

from launchlens import capture
from launchlens.protocol.result import TimeResult, TraceResult, read_result, write_result
from launchlens.protocol.spec import HarnessSpec
from launchlens.protocol.timings import TracedSteps

RECORDED = Path(__file__).parent / "recorded"


class Machine:
    """Answers for the children, and in ``asked`` the order in which they were asked.

    Args:
        answers: folder of recorded answers, named as the harness was asked to name them.
        traces: shipped traces by variant and kind of graph tracing, ``eager.node``.
    """

    def __init__(self, answers, traces):
        self.asked = []
        self.answers, self._traces = RECORDED / answers, traces

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
        shutil.copy(self.answers / path.name, path)
        if spec.outputs_path:
            shutil.copy(self.answers / Path(spec.outputs_path).name, spec.outputs_path)
        return 0

    def medians_ms(self, variant):
        """Median step of each recorded process, from its own samples."""
        files = [self.answers / f"{variant}.time{turn}.json" for turn in ("", "-2", "-3")]
        steps = [json.loads(f.read_text())["steps"]["prefill"] for f in files if f.exists()]
        return [statistics.median(step["samples_ns"]) / 1e6 for step in steps]

    def outputs(self, variant):
        """Recorded logits by dtype and phase."""
        with np.load(self.answers / f"{variant}.outputs.npz") as archive:
            return {name: archive[name].astype(float) for name in archive.files}

    def _record(self, _nsys, program, tracing, *, output, log, **_):
        spec = HarnessSpec.from_json(Path(program[-1]).read_text())
        self.asked.append(output.name)
        sqlite = output.with_name(f"{output.name}.sqlite.xz")
        name = self._traces[output.name]
        shutil.copy(profiled.ROOT / "traces" / f"{name}.nsys2025.3.sqlite.xz", sqlite)
        variant = output.name.removesuffix(f".{tracing.graphs}")
        first = read_result(self.answers / f"{variant}.time.json", TimeResult)
        result = TraceResult(
            variant=spec.variant,
            spec=spec,
            environment=first.environment,
            model=first.model,
            steps={"prefill": TracedSteps(spec.steps)},
        )
        write_result(Path(spec.result_path), result)
        return SimpleNamespace(sqlite=sqlite, command=["nsys"], log=log)
