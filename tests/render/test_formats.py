"""Formats: found by their files, light to list, for any kind of document; they compute nothing."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import handmade
import pytest
from written import document_of

from launchlens.records.doctor import Check, DoctorReport
from launchlens.records.models import ModelList, ModelRow
from launchlens.render import all_formats, names_for, write
from launchlens.report.cells import Name, Value
from launchlens.report.doctor import doctor_document
from launchlens.report.document import Column, Document, Row, Section, Table, Text
from launchlens.report.models import models_document

RENDER = Path(__file__).parents[2] / "launchlens/render"
WRITERS = ("formats", "terminal", "markdown", "html")
KNOWN = (
    "launchlens.plural",
    "launchlens.render",
    "launchlens.report.cells",
    "launchlens.report.document",
    "launchlens.report.pictures",
    "launchlens.report.changes",
    "launchlens.report.words",
)
ALSO = {
    "html/palette.py": {"launchlens.catalogue"},  # which causes need a colour
    "formats/json.py": {"launchlens.serialize"},
    "html/timelines.py": {"launchlens.kernel_names", "launchlens.records.timeline"},
}


def test_every_file_is_a_format_and_the_terminal_comes_first():
    files = {path.stem for path in (RENDER / "formats").glob("[!_]*.py")}
    names = [one.name for one in all_formats()]
    assert set(names) == files
    assert len(names) == len(files)
    assert names[0] == "terminal"


def test_data_formats_serve_what_has_data():
    assert "csv" in names_for("comparison")
    assert "csv" in names_for("analysis")
    assert "csv" not in names_for("blockers")
    assert {"terminal", "markdown", "html", "json"} <= set(names_for("a kind of tomorrow"))


def test_listing_them_is_light():
    heavy = ("rich", "jinja2", "plotly", "numpy", "pydantic", "pandas")
    script = (
        "import sys; from launchlens.render import names_for; names_for('comparison'); "
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "document",
    [
        document_of(handmade.comparison()),
        document_of(handmade.analysis()),
        models_document(ModelList(models=(ModelRow("tiny", "acme/tiny", 2, 0.5, "TinyConfig"),))),
        doctor_document(DoctorReport(ready=False, checks=(Check("GPU", "fail", "none", "buy"),))),
    ],
    ids=lambda document: document.kind,
)
def test_every_format_writes_what_it_serves(document):
    for name in names_for(document.kind):
        assert write(document, name).strip(), name


def test_a_document_nobody_thought_of_is_written_with_its_bounds():
    table = Table(
        "Beads",
        (Column("bead", "text"), Column("weight"), Column("share")),
        (Row((Name("<red|bead>"), Value(1_500_000, "ns"), Value(0.028, "fraction", "lower"))),),
    )
    document = Document(
        kind="beads",
        title="Beads",
        answers=("One bead was found.",),
        sections=(Section("beads", "All beads", (table, Text(("Mind the thread.",), "caution"))),),
        record={"beads": 1},
    )
    for name in ("terminal", "markdown", "html"):
        text = write(document, name)
        for words in ("One bead was found.", "1.50 ms", "≥ 2.8%", "Mind the thread."):
            assert words in text, (name, words)
    assert json.loads(write(document, "json")) == {"beads": 1}


def test_writers_know_documents_and_words_and_no_records():
    """What they cannot reach, they cannot compute from: formats lay out."""
    for folder in WRITERS:
        for path in (RENDER / folder).rglob("*.py"):
            allowed = ALSO.get(str(path.relative_to(RENDER)), set())
            for module in imported(path):
                if module.startswith("launchlens") and module not in allowed:
                    assert module.startswith(KNOWN), f"{path.name} imports {module}"


def imported(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if node.module in ("launchlens", "launchlens.report") else node.module
