"""A metric of a side is a field of `SideFigures` and one function, as a step's is.

The metric is invented for this test: GPU busy time over the step's time without a profiler. The
run's untraced times are made up, as in tests/cli/stored_runs.py; busy is that of a shipped trace.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EAGER = ROOT / "traces/qwen3-0.6b-eager.nsys2025.3.sqlite.xz"
WALL = 40_000_000
FIELD = '''
    fed: Annotated[float | None, Metric("GPU fed, untraced", "fraction", "more", "headline")]
    """Part of the untraced step in which the GPU has work."""
'''
FUNCTION = '''

@side_figure
def fed(side: SideInput, group: Group | None, phase: Phase) -> Stat | None:
    """Busy over untraced wall."""
    wall = untraced_ns(side, group, phase)
    if wall is None or wall.median is None or group is None:
        return None
    busy = group.metrics["busy_ns"].median
    if busy is None:
        return None
    fed = busy / wall.median
    return Stat(fed, None, None, None, fed, fed, wall.n)
'''
STORE = f"""
import shutil, sys
from datetime import datetime, timedelta
from pathlib import Path
sys.path.insert(0, {str(ROOT / "tests")!r})
import handmade
from launchlens import read_trace, store, summarize
from launchlens.comparison import side_figures
from launchlens.records.comparison import SideInput
from launchlens.records.variant import Untraced, VariantFacts

for day, wall in (1, {WALL}), (2, {WALL // 2}):
    facts = VariantFacts(
        model="m", variant="eager", untraced=(Untraced("prefill", handmade.stat(wall)),)
    )
    day = datetime(2026, 11, day).astimezone()
    settings = dict(model="m", arguments={{}}, environment={{}}, now=day)
    with store.create_run(Path("runs"), **settings) as run:
        run.save_variant("eager", "ok", facts)
        trace = run.traces / "eager.sqlite.xz"
        shutil.copy(sys.argv[1], trace)
        analysis = summarize(read_trace(trace))
        run.save_steps("eager", "node", trace, analysis)
        run.save_side_figures("eager", side_figures(SideInput("eager", analysis, facts=facts)))
    print(run.id)
"""


@pytest.fixture
def stored(house):
    house.insert(
        "records/variant.py",
        FIELD,
        after='"""1 − busy_ns / untraced wall: device time barely suffers from tracing, '
        'wall time does."""',
    )
    file = house.root / "launchlens/comparison/figures.py"
    file.write_text(file.read_text() + FUNCTION)
    made = house.python("-c", STORE, EAGER)
    assert made.returncode == 0, made.stderr
    return house, made.stdout.split()


def test_it_is_seen_everywhere(stored):
    house, (first, second) = stored
    sides = (f"{first}:eager", f"{second}:eager")
    for name in ("terminal", "markdown", "html"):
        assert "GPU fed, untraced" in house.run("diff", *sides, "-f", name), name
    analysis = json.loads(house.run("analyze", EAGER, "-f", "json"))
    busy = analysis["summary"][0]["metrics"]["busy_ns"]["median"]
    comparison = json.loads(house.run("diff", *sides, "-f", "json"))
    (row,) = [r for r in comparison["phases"][0]["rows"] if r["metric"] == "fed"]
    assert row["cells"][0]["value"] == pytest.approx(busy / WALL)
    assert row["cells"][1]["value"] == pytest.approx(2 * busy / WALL)
    assert row["cells"][1]["verdict"] == "better"
    assert "fed>+1pp" in house.fails("diff", *sides, "--fail-on", "fed>+1pp", code=3)
    budget = house.write("budget.toml", '[models."*"]\nfed = {min = "50%"}\n')
    checked = house.start("check", budget, f"{first}:eager")
    assert checked.returncode == 3
    assert "FAILED: *: fed >= 50%" in checked.stdout
    assert f"): {100 * busy / WALL:.1f}%" in checked.stdout
    house.write("budget.toml", '[models."*"]\nfed = {min = "1%"}\n')
    assert "1 limit held" in house.run("check", budget, f"{first}:eager")
    trend = json.loads(house.run("runs", "trend", "fed", "-f", "json"))
    values = [point["value"] for point in trend["series"][0]["points"]]
    assert values == [pytest.approx(busy / WALL), pytest.approx(2 * busy / WALL)]
    script = f"import sys; sys.path.insert(0, {str(ROOT / 'docs')!r}); import generate; "
    listed = house.python("-c", script + "generate.out = print; generate.metric_table()")
    assert "| `fed` | GPU fed, untraced | 0 to 1 | more |" in listed.stdout, listed.stderr
