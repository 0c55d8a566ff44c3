"""``launchlens scrub`` as a user runs it."""

import lzma
import sqlite3
import subprocess
import sys
from pathlib import Path

from typed import run

TRACES = Path(__file__).parents[2] / "traces"
TRACE = TRACES / "qwen3-0.6b-cudagraph.graph.nsys2025.3.sqlite.xz"


def with_secret(path):
    path.write_bytes(lzma.decompress(TRACE.read_bytes()))
    db = sqlite3.connect(path)
    db.execute(
        "INSERT INTO META_DATA_CAPTURE VALUES (?, ?)",
        ("PROCESS_0:ENVIRONMENT_VARIABLE", "TOKEN=s3cr3tvalue"),
    )
    db.commit()
    db.close()
    return path


def test_a_secret_goes_and_the_figures_stay(tmp_path):
    trace, out = with_secret(tmp_path / "t.sqlite"), tmp_path / "shared.sqlite.xz"
    before = trace.read_bytes()
    done = run("scrub", trace, out)
    assert done.returncode == 0, done.stderr
    assert b"s3cr3tvalue" in before
    assert b"s3cr3tvalue" not in lzma.decompress(out.read_bytes())
    assert trace.read_bytes() == before
    first = [run("analyze", p, "--format", "csv").stdout for p in (trace, out)]
    assert first[0] == first[1]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["shared.sqlite.xz", "t.sqlite"]


def test_an_existing_file_is_kept(tmp_path):
    out = tmp_path / "there.sqlite"
    out.write_text("mine")
    done = run("scrub", TRACE, out)
    assert done.returncode == 2
    assert "exists already" in done.stderr
    assert out.read_text() == "mine"


def test_what_is_no_trace_is_refused(tmp_path):
    done = run("scrub", __file__, tmp_path / "out.sqlite")
    assert done.returncode == 1
    assert "not a trace in a format" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_written_a_sentence_says_so(tmp_path):
    (tmp_path / "folder").mkdir()
    for out in (tmp_path / "missing" / "x.sqlite", tmp_path / "folder"):
        done = run("scrub", TRACE, out, "--force")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"launchlens: {out} cannot be written")
        assert done.stderr.count("\n") == 1


def test_a_full_disk_is_not_laid_to_the_trace(tmp_path):
    limit = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    limit += "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)); "
    done = subprocess.run(
        [
            *(sys.executable, "-c", limit + "from launchlens.cli.main import main; main()"),
            *("scrub", str(with_secret(tmp_path / "t.sqlite")), str(tmp_path / "out.sqlite")),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "written" in done.stderr
    assert "read as" not in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["t.sqlite"]
