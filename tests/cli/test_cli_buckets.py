"""``launchlens buckets``: files in, sizes and options out (all numbers are made up)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

(VLLM,) = (Path(__file__).parents[2] / "traces").glob("vllm024-qwen3-0.6b-eager.*.sqlite.xz")
CURVES = "size,captured_ms,eager_ms,memory_mib,capture_s\n1,5,30,10,0.2\n64,9,31,30,0.3\n"


@pytest.fixture
def files(tmp_path):
    steps, curves = tmp_path / "steps.csv", tmp_path / "curves.csv"
    steps.write_text("size,count\n3,1000\n33,4000\n")
    curves.write_text(CURVES)
    return steps, "--curves", curves


def test_the_best_sizes_and_how_engines_are_told(cli, files):
    code, out, _ = cli("buckets", *files, "--beside", "1,64")
    assert code == 0
    assert out.startswith("capture 3, 33: −")
    assert "--cuda-graph-bs 3 33" in out
    assert "cudagraph_capture_sizes" in out


def test_the_default_is_fine_and_by_how_much(cli, files):
    _, out, _ = cli("buckets", *files, "--beside", "3,34", "--format", "json")
    said = json.loads(out)
    assert (said["schema"], said["worth_it"]) == ("launchlens.buckets/1", False)
    assert 0 < said["saved"] < 0.01
    _, out, _ = cli("buckets", *files, "--beside", "3,34")
    assert out.startswith("the given choice is fine: ")
    assert "--cuda-graph-bs" not in out


def test_limits_hold(cli, files):
    _, out, _ = cli("buckets", *files, "--most", "1", "--format", "json")
    assert json.loads(out)["best"]["sizes"] == [33]
    _, out, _ = cli("buckets", *files, "--memory-mib", "5", "--format", "json")
    assert json.loads(out)["best"]["sizes"] == []


def test_sizes_of_a_servers_trace(cli, files):
    _, out, _ = cli("buckets", VLLM, *files[1:], "--format", "json")
    said = json.loads(out)
    assert said["steps"] == 40
    assert said["sizes"] >= 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("size\n1\n", "columns size,captured_ms,eager_ms"),
        ("size,captured_ms,eager_ms\n1,x,2\n", "captured_ms is 'x'"),
        ("size,captured_ms,eager_ms\n1.5,1,2\n", "not a whole number"),
        ("size,captured_ms,eager_ms\n1,1,2\n1,1,2\n", "a size twice"),
        ("size,captured_ms,eager_ms\n1,1,2\n2,1,2\n", "outside of the sizes measured"),
    ],
)
def test_bad_files_end_in_a_sentence(fails, files, text, said):
    files[2].write_text(text)
    assert said in fails("buckets", *files)


def test_a_bad_list_of_sizes(fails, files):
    assert "no list of sizes" in fails("buckets", *files, "--beside", "1,x", code=2)
