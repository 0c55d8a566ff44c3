import numpy as np
import pytest

from launchlens.errors import HarnessError
from launchlens.harness.equivalence import compare_outputs, save_outputs

BASE = np.array([[0.0, 3.0, 1.0], [2.0, 0.5, 0.25]], dtype=np.float32)


def compare(tmp_path, first, second):
    save_outputs(tmp_path / "a.npz", first)
    save_outputs(tmp_path / "b.npz", second)
    return compare_outputs(tmp_path / "a.npz", tmp_path / "b.npz")


def test_equal_outputs_are_identical(tmp_path):
    (row,) = compare(tmp_path, {"bfloat16.prefill": BASE}, {"bfloat16.prefill": BASE.copy()})
    assert (row.dtype, row.phase) == ("bfloat16", "prefill")
    assert row.identical is True
    assert (row.max_abs_diff, row.top1_agreement) == (0.0, 1.0)


def test_a_difference_and_a_changed_token_are_measured(tmp_path):
    other = BASE.copy()
    other[1, 1] += 2.0  # 0.5 -> 2.5: now the largest of the second row
    (row,) = compare(tmp_path, {"float32.prefill": BASE}, {"float32.prefill": other})
    assert row.identical is False
    assert row.max_abs_diff == pytest.approx(2.0)
    assert row.top1_agreement == 0.5


def test_outputs_that_are_not_finite_have_no_distance(tmp_path):
    other = BASE.copy()
    other[0, 0] = np.nan
    (row,) = compare(tmp_path, {"float16.prefill": BASE}, {"float16.prefill": other})
    assert (row.baseline_finite, row.candidate_finite) == (True, False)
    assert row.max_abs_diff is None
    assert row.reason


def test_what_only_one_side_has_is_unknown_with_a_reason(tmp_path):
    rows = compare(
        tmp_path,
        {"float32.prefill": BASE, "float32.decode": BASE[None]},
        {"float32.prefill": BASE[:1], "float16.prefill": BASE},
    )
    reasons = {(row.dtype, row.phase): row.reason for row in rows}
    assert "shapes" in reasons["float32", "prefill"]
    assert "candidate" in reasons["float32", "decode"]
    assert "baseline" in reasons["float16", "prefill"]
    assert all(row.identical is None for row in rows)


def test_a_broken_file_is_one_sentence(tmp_path):
    (tmp_path / "a.npz").write_bytes(b"no archive")
    with pytest.raises(HarnessError, match="cannot be read"):
        compare_outputs(tmp_path / "a.npz", tmp_path / "a.npz")
