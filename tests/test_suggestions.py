"""What a user may have meant."""

from __future__ import annotations

import pytest

from launchlens.suggestions import did_you_mean, near_files, near_names

NAMES = ("launches", "step_launches", "kernel_launches", "idle", "window_ns", "Idle_Kernels")


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("lauches", ["launches"]),
        ("LAUNCHES", ["launches", "step_launches", "kernel_launches"]),
        ("windw_ns", ["window_ns"]),
        ("idle_kernel", ["Idle_Kernels"]),
        ("step_l", ["step_launches"]),
        ("xyzzy", []),
        ("", []),
    ],
)
def test_names(word, near):
    assert near_names(word, NAMES) == near


def test_no_more_than_asked_for():
    assert near_names("launches", NAMES, 1) == ["launches"]


def test_files_of_the_suffixes(tmp_path):
    for name in ("eager.sqlite", "eager.json", "other.sqlite"):
        (tmp_path / name).touch()
    missing = tmp_path / "eagr.sqlite"
    assert near_files(missing, (".sqlite",)) == [str(tmp_path / "eager.sqlite")]
    assert near_files(tmp_path / "eagr.json", (".sqlite",)) == []
    assert near_files(tmp_path / "none" / "deeper" / "eager.sqlite") == []


def test_the_question():
    assert did_you_mean([]) is None
    assert did_you_mean(["a"]) == "Did you mean a?"
    assert did_you_mean(["a", "b"]) == "Did you mean a or b?"
    assert did_you_mean(["a", "b", "c"]) == "Did you mean a, b or c?"
