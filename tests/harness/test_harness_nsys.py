"""What a real nsys records of the harness on a CPU, read by SQL of its own."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("transformers", reason="needs transformers")

NSYS = shutil.which("nsys")
pytestmark = [
    pytest.mark.nsys,
    pytest.mark.torch,
    pytest.mark.skipif(NSYS is None, reason="needs nsys on PATH"),
]
ROOT = Path(__file__).resolve().parents[2]
RANGES = """
    SELECT COALESCE(e.text, s.value) AS name, count(*), min(e.int64Value), max(e.int64Value),
           max(e.end IS NULL)
    FROM NVTX_EVENTS e LEFT JOIN StringIds s ON s.id = e.textId
    WHERE e.eventType = 59 AND e.domainId IN (
        SELECT domainId FROM NVTX_EVENTS WHERE eventType = 75 AND text = 'launchlens')
    GROUP BY 1
"""


def record(folder, spec):
    """Records the harness, and converts by hand where nsys cannot find its own importer."""
    (folder / "spec.json").write_text(json.dumps(spec))
    options = ["-t", "nvtx", "-s", "none", "--cpuctxsw=none", "-f", "true"]
    program = [sys.executable, "-m", "launchlens.harness", str(folder / "spec.json")]
    subprocess.run(
        [NSYS, "profile", *options, "-o", str(folder / "t"), *program],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
        capture_output=True,
        check=True,
        timeout=300,
    )
    report = folder / "t.nsys-rep"
    if not report.exists():
        home = Path(NSYS).resolve().parents[1]
        importer = next(home.glob("**/QdstrmImporter"), None) or next(
            Path("/usr/lib/nsight-systems").glob("**/QdstrmImporter"), None
        )
        if importer is None:
            pytest.skip("this nsys has no importer")
        command = [str(importer), "-i", str(folder / "t.qdstrm")]
        subprocess.run(command, capture_output=True, check=True, timeout=300)
    export = [NSYS, "export", "-t", "sqlite", "-o", str(folder / "t.sqlite"), str(report)]
    subprocess.run(export, capture_output=True, check=True, timeout=300)
    with sqlite3.connect(folder / "t.sqlite") as database:
        return {name: row for name, *row in database.execute(RANGES)}


def test_steps_and_modules_are_ranges_of_our_domain(tiny_model, tmp_path):
    ranges = record(
        tmp_path,
        {
            "model": str(tiny_model),
            "result_path": str(tmp_path / "r.json"),
            "device": "cpu",
            "dtype": "float32",
            "mode": "trace",
            "isl": 8,
            "osl": 3,
            "steps": 3,
            "warmup": 1,
            "modules": True,
        },
    )
    # Three rounds of a prefill and two decode steps; the payload counts within the phase.
    assert ranges["prefill"] == [3, 0, 2, 0]
    assert ranges["decode"] == [6, 0, 5, 0]
    # Warm-up steps are not marked, modules are marked in each of the nine steps.
    assert ranges["module:model.layers.1.self_attn"][0] == 9
    assert ranges["module:Qwen3ForCausalLM"][0] == 9
