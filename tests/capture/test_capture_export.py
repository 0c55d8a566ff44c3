from __future__ import annotations

import shlex

import pytest
from capture_fakes import write_script

from launchlens.capture import export_sqlite, find_nsys
from launchlens.errors import CaptureError


@pytest.fixture
def report(tmp_path):
    path = tmp_path / "theirs/run 1.nsys-rep"
    path.parent.mkdir()
    path.write_text("report")
    path.parent.chmod(0o555)
    yield path
    path.parent.chmod(0o755)


def test_the_reports_folder_is_left_alone(make_nsys, report, tmp_path):
    out = tmp_path / "cache/new/x.sqlite"
    assert export_sqlite(report, out, find_nsys(make_nsys())) == out
    assert out.read_text() == "report"
    assert [path.name for path in report.parent.iterdir()] == ["run 1.nsys-rep"]
    assert [path.name for path in out.parent.iterdir()] == ["x.sqlite"]


def test_without_nsys_the_exact_command_is_given(report, tmp_path):
    with pytest.raises(CaptureError) as caught:
        export_sqlite(report, tmp_path / "x.sqlite", None)
    _, _, command = (caught.value.hint or "").partition("run: ")
    target = str(report.with_suffix(".sqlite"))
    assert shlex.split(command) == [
        *("nsys", "export", "--type", "sqlite", "--output", target, str(report)),
    ]


@pytest.mark.parametrize("export", ["exit 1", "exit 0", ': >"$out"', 'echo x >"$out"; exit 1'])
def test_a_failed_export_leaves_nothing(make_nsys, report, tmp_path, export):
    out = tmp_path / "cache/x.sqlite"
    with pytest.raises(CaptureError, match="could not export"):
        export_sqlite(report, out, find_nsys(make_nsys(export=export)))
    assert list(out.parent.iterdir()) == []


def test_an_export_that_hangs(make_nsys, report, tmp_path):
    nsys = find_nsys(make_nsys(export="sleep 60"))
    with pytest.raises(CaptureError, match=r"did not end within 0\.5 s"):
        export_sqlite(report, tmp_path / "x.sqlite", nsys, timeout_s=0.5)


@pytest.mark.parametrize("known", [True, False])
def test_blobs_are_kept_where_that_can_be_asked_for(make_nsys, report, tmp_path, known):
    nsys = make_nsys(
        export='echo "$@" >"$out"', export_help="--output= --include-blobs=" if known else "--type="
    )
    out = export_sqlite(report, tmp_path / "x.sqlite", find_nsys(nsys), include_blobs=True)
    assert ("--include-blobs=true" in out.read_text()) is known


def test_a_raw_recording(make_nsys, tmp_path):
    nsys = make_nsys("target-linux-x64/nsys")
    importer = '#!/bin/sh\n[ "$1$3$5" = -i-o-f ] && sed s/raw/imported/ "$2" >"$4"\n'
    write_script(tmp_path / "host-linux-x64/QdstrmImporter", importer)
    raw = tmp_path / "a.qdstrm"
    raw.write_text("raw")
    out = export_sqlite(raw, tmp_path / "out/x.sqlite", find_nsys(nsys))
    assert out.read_text() == "imported"
    assert not (tmp_path / "a.nsys-rep").exists()


def test_no_such_report(make_nsys, tmp_path):
    with pytest.raises(CaptureError, match="There is no report"):
        export_sqlite(tmp_path / "x.nsys-rep", tmp_path / "x.sqlite", find_nsys(make_nsys()))


def test_an_unwritable_target(make_nsys, report, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CaptureError, match="cannot be written to"):
        export_sqlite(report, tmp_path / "file/x.sqlite", find_nsys(make_nsys()))
