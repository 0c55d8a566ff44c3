"""A machine with an H200 that answers as the real one did, with the results and traces of its runs.

What starts processes is replaced, so that all that launchlens makes of the answers runs where there
is no GPU.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import profiled

from launchlens import capture
from launchlens.harness.equivalence import save_outputs

RECORDED = Path(__file__).parent / "recorded"


class Machine:
    """Answers for the children, and in ``asked`` the order in which they were asked.

    Args:
        answers: folder of recorded results, ``VARIANT.time.json`` and ``attempt_0.json``.
        traces: shipped traces by variant and kind of graph tracing, ``eager.node``.
        again: medians of the processes of later rounds, in ms, by variant.
    """

    def __init__(self, answers, traces, again=None):
        self.asked = []
        self._answers, self._traces, self._again = RECORDED / answers, traces, again or {}

    def replace_processes(self, monkeypatch):
        gpu = SimpleNamespace(name="NVIDIA H200", driver="580.159.04")
        nsys = SimpleNamespace(version_text="2025.3.1.0")
        monkeypatch.setattr(capture, "gpu_facts", lambda: (gpu,))
        monkeypatch.setattr(capture, "find_nsys", lambda _: nsys)
        monkeypatch.setattr(capture, "run_plain", self._run_plain)
        monkeypatch.setattr(capture, "record", self._record)

    def _run_plain(self, program, *, log, timeout_s):
        spec = json.loads(Path(program[-1]).read_text())
        which = _name(spec)
        stem = Path(spec["result_path"]).stem
        self.asked.append(stem)
        log.write_text("")
        if spec["mode"] == "attempt":
            name = "attempt-patched_0" if spec["patch"] else "attempt_0"
            shutil.copy(self._answers / f"{name}.json", spec["result_path"])
            return 0
        result = json.loads((self._answers / f"{which}.time.json").read_text())
        if "time-" in stem:
            turn = int(stem.rpartition("-")[2])
            ns = round(self._again[which][turn - 2] * 1e6)
            result["steps"]["prefill"]["samples_ns"] = [ns] * 20
        Path(spec["result_path"]).write_text(json.dumps(result))
        if spec["outputs_path"]:
            logits = np.arange(6, dtype=np.float32).reshape(2, 3)
            dtypes = spec["equivalence_dtypes"] or [spec["dtype"]]
            save_outputs(Path(spec["outputs_path"]), {f"{d}.prefill": logits for d in dtypes})
        return 0

    def _record(self, _nsys, program, tracing, *, output, log, **_):
        spec = json.loads(Path(program[-1]).read_text())
        self.asked.append(output.name)
        sqlite = output.with_name(f"{output.name}.sqlite.xz")
        name = self._traces[f"{_name(spec)}.{tracing.graphs}"]
        shutil.copy(profiled.ROOT / "traces" / f"{name}.nsys2025.3.sqlite.xz", sqlite)
        Path(spec["result_path"]).write_text(json.dumps({"status": "ok"}))
        return SimpleNamespace(sqlite=sqlite, command=["nsys"], log=log)


def _name(spec):
    return spec["variant"] + ("-patched" if spec["patch"] else "")
