"""A trace format is one folder with a `sniff` and a `read`; nothing else asks which it was.

The format is invented for this test (tests/house/beads): a small JSON of ranges and calls.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent / "beads"

STEP_NS = 1000
"""One step: a range of 1,000 ns; two kernels of 100 ns each, drawn below; nothing else busy."""


def bead_string(steps=4, *, copy=False, calls=True):
    """Steps of two launches each: kernels at 110–210 and 310–410 of the step, 200 ns busy.

    With ``copy`` each step ends with a blocking read of 4 bytes, on the GPU at 610–620.
    """
    ranges, beads = [], []
    for at in range(0, steps * STEP_NS, STEP_NS):
        ranges.append(["prefill", at, at + 900])
        beads.append(["cudaLaunchKernel", at + 10, at + 20, ["gemm", at + 110, at + 210]])
        beads.append(["cudaLaunchKernel", at + 210, at + 220, ["norm", at + 310, at + 410]])
        if copy:
            beads.append(["cudaMemcpy", at + 500, at + 700, ["copy", at + 610, at + 620, 4]])
    return {"beads": "7.1", "ranges": ranges, "calls": beads if calls else []}


@pytest.fixture
def with_beads(house):
    for file in SOURCE.glob("*.py"):
        house.add(f"trace/formats/beads/{file.name}", file.read_text())
    assert {path.rpartition("/")[0] for path in house.touched} == {"trace/formats/beads"}
    return house


def test_figures_in_json_and_csv(with_beads):
    file = with_beads.write("one.beads", bead_string())
    analysis = json.loads(with_beads.run("analyze", file, "-f", "json"))
    trace = analysis["trace"]
    assert (trace["label"], trace["format"], trace["gpu"]) == ("one", "beads", "Abacus 9")
    assert (trace["api_calls"], trace["ops"], trace["unlinked_ops"]) == (8, 8, 0)
    assert len(trace["sha256"]) == 64
    drawn = {"launches": 2, "kernels": 2, "busy_ns": 200, "pid": 41, "tid": 42}
    for step in analysis["steps"]:
        assert {key: step[key] for key in drawn} == drawn
    rows = list(csv.DictReader(io.StringIO(with_beads.run("analyze", file, "-f", "csv"))))
    assert [(row["launches"], row["busy_ns"]) for row in rows] == [("2", "200")] * 4


def test_reports_for_people(with_beads):
    file = with_beads.write("one.beads", bead_string())
    terminal, markdown, html = (
        with_beads.run("analyze", file, "-f", name) for name in ("terminal", "markdown", "html")
    )
    for report in (terminal, markdown, html):
        assert "gemm" in report
        assert "GPU busy" in report
        assert "Nsight" not in report
    assert "Abacus 9" in markdown
    assert "Abacus 9" in html
    assert html.startswith("<!doctype html>")


def test_a_comparison_with_a_threshold(with_beads):
    a, b = (with_beads.write(n, bead_string(copy=n == "b.beads")) for n in ("a.beads", "b.beads"))
    comparison = json.loads(with_beads.run("diff", a, b, "-f", "json"))
    (phase,) = comparison["phases"]
    cells = {row["metric"]: [cell["value"] for cell in row["cells"]] for row in phase["rows"]}
    assert (cells["launches"], cells["memcpy_calls"]) == ([2, 2], [0, 1])
    assert cells["busy_ns"] == [200, 210]
    assert "memcpy_calls" in with_beads.fails("diff", a, b, "--fail-on", "memcpy_calls>+0", code=3)


def test_what_differs_between_recordings_names_their_own_recorders(with_beads):
    a, b = (with_beads.write(f"{n}.beads", bead_string() | {"beads": n}) for n in ("7.1", "7.2"))
    told = json.loads(with_beads.run("diff", a, b, "-f", "json"))["differences"]
    assert [(d["what"], d["values"]) for d in told] == [("beads", ["7.1", "7.2"])]


def test_blockers(with_beads):
    file = with_beads.write("copying.beads", bead_string(copy=True))
    report = json.loads(with_beads.run("blockers", file, "-f", "json"))
    (found,) = [f for f in report["findings"] if f["rule"] == "dtoh-sync"]
    assert (found["bytes"], found["count_per_step"]) == (4, 1)
    assert "dtoh-sync" in with_beads.run("blockers", file)


def test_a_budget(with_beads):
    file = with_beads.write("copying.beads", bead_string(copy=True))
    limits = '[models."*"]\nbusy_ns = {{ max = "{}ns" }}\n'
    with_beads.run("check", with_beads.write("fits.toml", limits.format(210)), file)
    with_beads.run("check", with_beads.write("tight.toml", limits.format(209)), file, code=3)


def test_what_the_format_does_not_offer_is_refused_in_a_sentence(with_beads):
    file = with_beads.write("one.beads", bead_string())
    assert "Beads, which launchlens cannot scrub" in with_beads.fails("scrub", file, "out.beads")
    assert not (with_beads.work / "out.beads").exists()


def test_remedies_are_the_formats_own(with_beads):
    file = with_beads.write("empty.beads", bead_string(calls=False))
    said = with_beads.run("analyze", file)
    assert "Thread it again with all beads." in " ".join(said.split())
    assert "nsys" not in said
    assert "thread it again" in with_beads.fails("blockers", file).lower()


def test_compression_and_names_are_the_doors_business(with_beads):
    packed = gzip.compress(json.dumps(bead_string()).encode())
    file = with_beads.write("packed.beads.gz", packed)
    assert json.loads(with_beads.run("analyze", file, "-f", "json"))["trace"]["label"] == "packed"
    misspelt = with_beads.work / "packed.bead"
    assert f"Did you mean {file}?" in with_beads.fails("diff", file, misspelt)
    assert "is a trace" in with_beads.fails("analyze", file, "-o", file)


def test_an_unknown_file_is_told_what_is_known(with_beads):
    text = with_beads.write("notes.txt", "steps: 5\n")
    assert "(Beads, torch.profiler, Nsight Systems)" in with_beads.fails("analyze", text)
    damaged = with_beads.write("damaged.beads", '{"beads": ')
    assert "is a damaged Beads file" in with_beads.fails("analyze", damaged)
