import json
from pathlib import Path

import pytest

from launchlens.errors import HarnessError
from launchlens.protocol.result import (
    AttemptResult,
    TimeResult,
    TraceResult,
    make_result,
    read_result,
    write_result,
)
from launchlens.protocol.spec import HarnessSpec

RECORDED = Path(__file__).parents[1] / "cli" / "recorded"
MINIMAL = {"model": "gpt2", "result_path": "r.json"}


def test_a_spec_survives_the_way_to_the_child():
    spec = HarnessSpec(
        model="qwen3-0.6b",
        result_path="/tmp/r.json",
        variant="cudagraph",
        osl=5,
        concurrency=(1, 4),
        equivalence_dtypes=("float32", "float16"),
        patched_sources=("a.py:1",),
    )
    assert HarnessSpec.from_json(spec.to_json()) == spec


def test_a_minimal_spec_has_the_documented_defaults():
    spec = HarnessSpec.from_json(json.dumps(MINIMAL))
    assert (spec.variant, spec.mode, spec.weights) == ("eager", "time", "random")
    assert (spec.isl, spec.osl, spec.batch, spec.dtype) == (25, None, 1, "bfloat16")
    assert spec.steps >= 20


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"islet": 3}, "islet"),
        ({"isl": "25"}, "isl"),
        ({"isl": True}, "isl"),
        ({"isl": 0}, "isl"),
        ({"isl": None}, "isl"),
        ({"layers": 0}, "layers"),
        ({"mode": "profile"}, "profile"),
        ({"dtype": "int8"}, "int8"),
        ({"equivalence_dtypes": ["int8"]}, "int8"),
        ({"device": "tpu"}, "tpu"),
        ({"concurrency": [0], "osl": 2}, "concurrency"),
        ({"concurrency": ["1"], "osl": 2}, "concurrency"),
        ({"concurrency": [1]}, "decode"),
    ],
)
def test_a_wrong_spec_is_refused_by_name(change, word):
    with pytest.raises(HarnessError) as caught:
        HarnessSpec.from_json(json.dumps(MINIMAL | change))
    assert word in caught.value.message


@pytest.mark.parametrize("text", ["{", "[]", '"x"', '{"model": "gpt2"}'])
def test_what_is_no_spec_is_refused(text):
    with pytest.raises(HarnessError):
        HarnessSpec.from_json(text)


def test_a_result_replaces_an_older_one_and_leaves_nothing_beside_it(tmp_path):
    path = tmp_path / "r.json"
    path.write_text("old")
    result = make_result(HarnessSpec(**MINIMAL))
    write_result(path, result)
    assert read_result(path, TimeResult) == result
    assert [item.name for item in tmp_path.iterdir()] == ["r.json"]


def test_a_result_in_a_missing_folder_is_one_sentence(tmp_path):
    with pytest.raises(HarnessError, match="Cannot write"):
        write_result(tmp_path / "no" / "r.json", make_result(HarnessSpec(**MINIMAL)))


def test_a_child_that_wrote_nothing_has_no_result(tmp_path):
    assert read_result(tmp_path / "r.json", TimeResult) is None


@pytest.mark.parametrize(
    ("mode", "change", "word"),
    [
        ("time", {"weather": "fine"}, "weather"),
        ("time", {"status": "captured"}, "status"),
        ("time", {"steps": {"prefill": {"samples_ns": [1.5], "median_ns": 1}}}, "samples_ns"),
        ("trace", {}, "mode"),
    ],
)
def test_what_the_harness_does_not_send_is_refused_by_name(tmp_path, mode, change, word):
    path = tmp_path / "r.json"
    write_result(path, make_result(HarnessSpec(**MINIMAL, mode=mode)))
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(HarnessError, match=word):
        read_result(path, TimeResult)


def test_recorded_answers_are_read_as_they_were_written():
    """Answers of an H200 that an older harness wrote; what is new has its default."""
    for path in RECORDED.glob("*/*.json"):
        traced = TraceResult if ".trace." in path.name else TimeResult
        kind = AttemptResult if "attempt" in path.name else traced
        result = read_result(path, kind)
        raw = json.loads(path.read_text())
        assert result.model.class_name == raw["model"]["class"]
        if kind is TimeResult:
            assert list(result.steps["prefill"].samples_ns) == raw["steps"]["prefill"]["samples_ns"]
        elif kind is AttemptResult:
            assert len(result.attempt.events) == len(raw["attempt"]["events"])
