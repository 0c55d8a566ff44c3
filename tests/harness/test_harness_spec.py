import json

import pytest

from launchlens.errors import HarnessError
from launchlens.harness.spec import write_result
from launchlens.protocol.spec import HarnessSpec

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
    write_result(path, {"a": 1})
    assert json.loads(path.read_text()) == {"a": 1}
    assert [item.name for item in tmp_path.iterdir()] == ["r.json"]


def test_a_result_in_a_missing_folder_is_one_sentence(tmp_path):
    with pytest.raises(HarnessError, match="Cannot write"):
        write_result(tmp_path / "no" / "r.json", {})
