"""Help of the commands that have much behind them loads nothing of it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from test_light_door import HEAVY, PROBE


@pytest.mark.parametrize(
    "command", ["check", "comment", "doctor", "export", "models", "runs", "runs trend"]
)
def test_help_is_light(command):
    arguments = [*command.split(), "--help"]
    done = subprocess.run(
        [sys.executable, "-c", PROBE.format(args=arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    code, modules = json.loads(done.stdout.rpartition("@")[2])
    assert code == 0, done.stderr
    loaded = {name.partition(".")[0] for name in modules}
    assert sorted((HEAVY | {"github", "jinja2"}) & loaded) == []
