"""A two-layer model in a folder, and the harness as the child process it is."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tiny_model import make_model

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def tiny_model(tmp_path):
    """A folder with the configuration of a two-layer Qwen3."""
    return make_model(tmp_path)


@pytest.fixture
def run_harness(tmp_path):
    """Runs ``python -m launchlens.harness`` on a spec; returns (process, result or None)."""

    def run(**spec):
        result_path = tmp_path / "result.json"
        spec = {"device": "cpu", "dtype": "float32", "isl": 8, "steps": 2, "warmup": 1} | spec
        spec = {"result_path": str(result_path)} | spec
        spec_path = tmp_path / "spec.json"
        spec_path.write_text(json.dumps(spec))
        process = subprocess.run(
            [sys.executable, "-m", "launchlens.harness", str(spec_path)],
            cwd=tmp_path,
            env=os.environ
            | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), "HF_HUB_OFFLINE": "1"},
            capture_output=True,
            text=True,
            timeout=400,
            check=False,
        )
        result = json.loads(result_path.read_text()) if result_path.exists() else None
        return process, result

    return run
