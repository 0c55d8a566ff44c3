"""An engine's step names are one file; ``analyze`` then knows its steps.

The engine is invented for this test: the ranges of a real trace are renamed as it would name them.
"""

from __future__ import annotations

import json
import lzma
import sqlite3
from pathlib import Path

ROOT = Path(__file__).parents[2]
TRACE = ROOT / "traces/qwen3-0.6b-eager.nsys2025.3.sqlite.xz"
LAUNCHES = 1569
"""Launches in each step of that trace, as its card has them from SQL."""

ENGINE = '''
"""Acme serves models: ``acme/run [prompt=25 tokens]``."""

import re

from launchlens.metrics.engines.base import StepPattern, Tier

PATTERNS = (
    StepPattern(
        "Acme",
        re.compile(r"^acme/run .(?P<what>prompt|token)=(?P<t>\\d+) tokens.$"),
        lambda match: "prefill" if match["what"] == "prompt" else "decode",
        Tier.STEP,
    ),
)
'''


def test_steps_are_found_by_its_names(house):
    house.add("metrics/engines/acme.py", ENGINE.lstrip())
    assert house.touched == ["metrics/engines/acme.py"]
    file = house.work / "acme.sqlite"
    file.write_bytes(lzma.decompress(TRACE.read_bytes()))
    renamed = "acme/run [prompt=25 tokens]"
    with sqlite3.connect(file) as db:
        db.execute("UPDATE StringIds SET value = ? WHERE value LIKE 'prefill%'", [renamed])
        db.execute("UPDATE NVTX_EVENTS SET text = ? WHERE text LIKE 'prefill%'", [renamed])
    analysis = json.loads(house.run("analyze", file, "-f", "json"))
    told = {(s["engine"], s["phase"], s["tokens"], s["launches"]) for s in analysis["steps"]}
    assert told == {("Acme", "prefill", 25, LAUNCHES)}
    assert "steps named by Acme" in house.run("analyze", file)
    script = f"import sys; sys.path.insert(0, {str(ROOT / 'docs')!r}); import generate; "
    listed = house.python("-c", script + "generate.out = print; generate.engines()")
    assert "| Acme |" in listed.stdout, listed.stderr


def test_without_the_file_it_is_unknown(house):
    file = house.work / "acme.sqlite"
    file.write_bytes(lzma.decompress(TRACE.read_bytes()))
    with sqlite3.connect(file) as db:
        db.execute("UPDATE StringIds SET value = 'acme/run' WHERE value LIKE 'prefill%'")
        db.execute("UPDATE NVTX_EVENTS SET text = 'acme/run' WHERE text LIKE 'prefill%'")
    assert "no NVTX range marks a forward step" in house.fails("analyze", file)
