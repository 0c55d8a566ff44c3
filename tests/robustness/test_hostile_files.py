"""Files that would fill the disk, wait for ever, or nest without end: refused in a sentence."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
import zstandard

from launchlens.errors import LaunchlensError, TraceError, UsageError
from launchlens.limits import parse_condition
from launchlens.limits.budget import read_budget
from launchlens.serialize import from_json
from launchlens.text_files import MOST_BYTES
from launchlens.trace import read_trace, unpack
from launchlens.workflow.comparisons import read_comparison


def test_a_file_that_only_fills_the_disk_is_refused_at_its_limit(tmp_path, monkeypatch):
    """50 GB of zeros make 1.6 MB; the limit is the same for a small one, and so is the code."""
    monkeypatch.setattr(unpack, "ALWAYS_BYTES", 8 << 20)
    bomb = tmp_path / "bomb.sqlite.zst"
    with zstandard.open(bomb, "wb") as out:
        for _ in range(256):
            out.write(bytes(1 << 20))
    free = tmp_path / "tmp"
    free.mkdir()
    monkeypatch.setattr(unpack.tempfile, "tempdir", str(free))
    written = []
    real = unpack._copy

    def copy(packed, out, path):
        try:
            real(packed, out, path)
        finally:
            written.append(out.tell())

    monkeypatch.setattr(unpack, "_copy", copy)
    with pytest.raises(TraceError, match=r"more than 100 times its own size"):
        read_trace(bomb)
    assert written[0] <= 8 << 20
    assert list(free.iterdir()) == []


def test_the_limits_are_as_documented():
    page = (Path(__file__).parents[2] / "docs/security.md").read_text()
    assert (unpack.MOST_RATIO, unpack.ALWAYS_BYTES) == (100, 2**30)
    assert "100 times its own size and 1 GiB" in page


def test_pipes_sockets_and_devices_are_no_traces(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe.sqlite")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.sqlite")
        for name, what in (
            ("pipe.sqlite", "a pipe"),
            ("socket.sqlite", "a socket"),
            ("/dev/zero", "a device"),
        ):
            with pytest.raises(TraceError, match=f"{name} is {what}, not a trace"):
                read_trace(name)


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * 100_000,
        "[models.a]\nlaunches = nan",
        "[models.a]\nlaunches = inf",
        "[models.a]\nlaunches = { min = -inf }",
        "[models.a]\nlaunches = " + "9" * 5000,
        "[models.a]\nlaunches = " + "9" * 400,
        '[models.a]\nwindow_ns = "' + "9" * 400 + 'ms"',
        "[models.a]\nidle = nan",
        "[models.a]\nlaunches = 1e400",
        "\ufffd" * 9 + "\0",
    ],
)
def test_odd_budgets_are_one_sentence(tmp_path, text):
    path = tmp_path / "budget.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_budget(path)
    assert len(str(caught.value)) < 6000
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("number", ["nan", "inf", "9" * 5000, "9" * 400, "1e5", "0." + "1" * 400])
@pytest.mark.parametrize("form", ["launches>{}", "idle>+{}pp", "window_ns>{}ms", "blockers>{}"])
def test_odd_numbers_in_thresholds_are_one_sentence(form, number):
    with pytest.raises(UsageError, match="is no threshold"):
        parse_condition(form.format(number))


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"schema": ' + "[" * 100_000,
        '{"schema": "launchlens.comparison/1", "title": ' + "[" * 5000 + "]" * 5000 + "}",
        '{"schema": NaN}',
        '{"schema": ' + "9" * 5000 + "}",
        "\0",
    ],
)
def test_odd_reports_are_one_sentence(text):
    with pytest.raises(LaunchlensError) as caught:
        from_json(text, named="report.json")
    assert str(caught.value).startswith("report.json")
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("what", ["pipe", "device", "large"])
def test_budgets_and_reports_that_never_end_are_refused_unread(tmp_path, what):
    path = tmp_path / "report.json"
    if what == "pipe":
        os.mkfifo(path)
    elif what == "device":
        path.symlink_to("/dev/zero")
    else:
        with path.open("wb") as out:
            out.truncate(MOST_BYTES + 1)
    said = "it is larger than 64 mib" if what == "large" else "it is a pipe or a device"
    with pytest.raises(LaunchlensError, match=rf"report\.json cannot be read: {said}\."):
        read_comparison(path)
    with pytest.raises(UsageError, match=rf"report\.json cannot be read: {said}\."):
        read_budget(path)
