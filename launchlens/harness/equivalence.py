"""Compares the outputs that two variants saved. NumPy alone, no torch."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from launchlens.errors import HarnessError
from launchlens.harness.distances import ROUNDINGS

_EPSILON = {"bfloat16": 2.0**-7, "float16": 2.0**-10, "float32": 2.0**-23}
"""Distance of 1 from the next larger number of a dtype; NumPy has no bfloat16."""


@dataclass(frozen=True, slots=True)
class OutputDifference:
    """How far one output of a candidate is from the baseline's.

    Attributes:
        dtype: the dtype the model ran in; outputs are compared as float32.
        phase: prefill (last token's logits) or decode (each step's logits, teacher-forced).
        identical: equal bit for bit (NaN equals NaN); None when it cannot be known.
        max_abs_diff: largest absolute difference; None when either side is not finite.
        baseline_finite: no infinity and no NaN on the baseline's side.
        candidate_finite: the same for the candidate.
        top1_agreement: fraction of rows whose largest logit is the same token.
        tolerance: difference that the dtype's rounding explains, by the baseline's largest output;
            None when that cannot be known.
        reason: why the values are unknown, else None.
    """

    dtype: str
    phase: str
    identical: bool | None
    max_abs_diff: float | None
    baseline_finite: bool | None
    candidate_finite: bool | None
    top1_agreement: float | None
    reason: str | None = None
    tolerance: float | None = None


def save_outputs(path: Path, outputs: Mapping[str, np.ndarray[Any, Any]]) -> None:
    """Saves outputs named ``dtype.phase`` as a compressed .npz, all or nothing.

    They are float32 arrays of shape (…, vocabulary).

    Raises:
        HarnessError: the file cannot be written.
    """
    temporary = path.with_name(f".{path.name}.part.npz")
    arrays: dict[str, Any] = dict(outputs)
    try:
        np.savez_compressed(temporary, **arrays)
        temporary.replace(path)
    except OSError as error:
        raise HarnessError(f"Cannot write the outputs {path}: {error.strerror}.") from error


def compare_outputs(baseline: Path, candidate: Path) -> tuple[OutputDifference, ...]:
    """Compares two saved outputs of the same seed and inputs: each dtype and phase of either side.

    Raises:
        HarnessError: a file cannot be read.
    """
    first, second = _load(baseline), _load(candidate)
    names = [*first, *(name for name in second if name not in first)]
    return tuple(_difference(name, first.get(name), second.get(name)) for name in names)


def _load(path: Path) -> dict[str, np.ndarray[Any, Any]]:
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise HarnessError(f"The outputs {path} cannot be read: {error}.") from error


def _difference(
    name: str, first: np.ndarray[Any, Any] | None, second: np.ndarray[Any, Any] | None
) -> OutputDifference:
    dtype, _, phase = name.partition(".")
    if first is None or second is None:
        side = "baseline" if first is None else "candidate"
        return _unknown(dtype, phase, f"The {side} has no {phase} output in {dtype}.")
    if first.shape != second.shape:
        return _unknown(dtype, phase, f"The shapes differ: {first.shape} and {second.shape}.")
    finite = bool(np.isfinite(first).all()), bool(np.isfinite(second).all())
    distance = None
    if all(finite):
        distance = float(np.abs(first.astype(np.float64) - second.astype(np.float64)).max())
    return OutputDifference(
        dtype=dtype,
        phase=phase,
        identical=bool(np.array_equal(first, second, equal_nan=True)),
        max_abs_diff=distance,
        baseline_finite=finite[0],
        candidate_finite=finite[1],
        top1_agreement=float(np.mean(first.argmax(-1) == second.argmax(-1))),
        reason=None if all(finite) else "Some outputs are not finite.",
        tolerance=_tolerance(dtype, first) if all(finite) else None,
    )


def _tolerance(dtype: str, baseline: np.ndarray[Any, Any]) -> float | None:
    """Difference that other kernels for the same step explain, as that of replays from eager."""
    if dtype not in _EPSILON or not baseline.size:
        return None
    return float(ROUNDINGS[dtype] * _EPSILON[dtype] * np.abs(baseline).max())


def _unknown(dtype: str, phase: str, reason: str) -> OutputDifference:
    return OutputDifference(dtype, phase, None, None, None, None, None, reason)
