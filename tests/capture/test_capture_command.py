from __future__ import annotations

from pathlib import Path

import pytest

from launchlens.capture import Nsys, Tracing
from launchlens.capture.command import profile_arguments
from launchlens.errors import CaptureError, UsageError

DEBIAN = Nsys(Path("/usr/bin/nsys"), (2022, 4, 2), "2022.4.2.1-df9881f")
TRIXIE = Nsys(Path("/usr/bin/nsys"), (2023, 4, 4), "2023.4.4.54")
NEW = Nsys(Path("/opt/nsys"), (2025, 3, 1), "2025.3.1.90")
ANCIENT = Nsys(Path("/old/nsys"), (2020, 1, 1), "2020.1.1")


def arguments(nsys, **options):
    tracing = Tracing(**options)
    return profile_arguments(nsys, tracing, output=Path("/runs/a"), program=["python", "m.py"])


def test_whole_command():
    assert arguments(NEW, graphs="graph") == [
        "/opt/nsys",
        "profile",
        "--trace=cuda,nvtx",
        "--sample=none",
        "--cpuctxsw=none",
        "--trace-fork-before-exec=true",
        "--wait=primary",
        "--capture-range=cudaProfilerApi",
        "--capture-range-end=stop",
        "--cuda-graph-trace=graph",
        "--force-overwrite=true",
        "--output=/runs/a",
        "python",
        "m.py",
    ]


@pytest.mark.parametrize("nsys", [DEBIAN, TRIXIE])
def test_whole_graphs_are_refused_where_they_would_be_lost(nsys):
    with pytest.raises(CaptureError, match="exports nothing of them") as caught:
        arguments(nsys, graphs="graph")
    assert "--graph-trace node" in str(caught.value)


@pytest.mark.parametrize("nsys", [DEBIAN, TRIXIE])
@pytest.mark.parametrize("mode", [None, "node"])
def test_the_losing_default_is_never_left(nsys, mode):
    assert "--cuda-graph-trace=node" in arguments(nsys, graphs=mode)


@pytest.mark.parametrize(
    "extra", [["--cuda-graph-trace=graph"], ["--cuda-graph-trace", "graph:host-only"]]
)
def test_the_user_cannot_ask_for_the_losing_mode_either(extra):
    with pytest.raises(CaptureError, match="exports nothing of them"):
        arguments(DEBIAN, graphs="node", extra=extra)


def test_a_version_without_the_option_is_refused():
    with pytest.raises(CaptureError, match="no option --cuda-graph-trace"):
        arguments(ANCIENT, graphs="node")
    assert not [word for word in arguments(ANCIENT) if "graph" in word]


def test_new_versions_keep_their_default_without_graphs():
    assert not [word for word in arguments(NEW) if word.startswith("--cuda-graph-trace")]


def test_stacks():
    words = arguments(NEW, stacks=True)
    assert "--sample=process-tree" in words
    assert "--cudabacktrace=memory:0,sync:0" in words
    assert "--python-backtrace=cuda" in words
    assert "--python-backtrace=cuda" not in arguments(DEBIAN, stacks=True)


def test_nvtx_only():
    words = arguments(NEW, cuda=False)
    assert "--trace=nvtx" in words
    assert not [word for word in words if "capture" in word or "cuda" in word]


def test_extra_options_replace_ours():
    words = arguments(NEW, graphs="node", extra=["-t", "cuda,nvtx,osrt", "--wait=all"])
    assert words[2:].index("-t") < words.index("python")
    assert not [word for word in words if word.startswith("--trace=")]
    assert [word for word in words if "wait" in word] == ["--wait=all"]


@pytest.mark.parametrize("extra", [["-o", "x"], ["--output=x"], ["-f", "false"], ["--stats=true"]])
def test_file_names_are_ours(extra):
    with pytest.raises(UsageError, match="cannot be passed on"):
        arguments(NEW, extra=extra)


def test_per_cent_in_a_folder_is_not_expanded():
    words = profile_arguments(NEW, Tracing(), output=Path("/r/50%p/a"), program=["x"])
    assert "--output=/r/50%%p/a" in words
