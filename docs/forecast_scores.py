"""What cog writes into forecast.md: forecasts from shipped traces beside recorded outcomes."""

from __future__ import annotations

import json
import statistics
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
RECORDED = ROOT / "tests/cli/recorded"
PAIRS = (
    ("profile-qwen3-0.6b-eager.node", "qwen3_all", "cudagraph", "prefill"),
    ("profile-gemma-4-e4b-eager.node", "gemma4", "cudagraph", "prefill"),
    ("profile-gemma-4-e4b-osl5-eager.node", "gemma4_requests", "cudagraph", "prefill"),
    ("profile-gemma-4-e4b-osl5-eager.node", "gemma4_requests", "cudagraph", "decode"),
    ("profile-gemma-3n-e4b-both-fixes-eager.node", "gemma3n_fixed", "cudagraph", "prefill"),
    ("profile-qwen3-0.6b-compile.node", "qwen3_all", "compile-cudagraph", "prefill"),
    ("profile-qwen3-0.6b-eager.node", "qwen3_all", "breakable", "prefill"),
    ("profile-gemma-4-e4b-osl5-eager.node", "gemma4_requests", "breakable", "prefill"),
    ("profile-gemma-4-e4b-osl5-eager.node", "gemma4_requests", "breakable", "decode"),
)
_SAME = {"compile-cudagraph": "cudagraph"}


@cache
def _forecasts(trace: str) -> dict[tuple[str, str], object]:
    from launchlens.workflow.forecasting import forecast_trace
    from launchlens.workflow.load import Choices, load

    (file,) = (ROOT / "traces").glob(f"{trace}.nsys*.sqlite.xz")
    made = forecast_trace(load(file, Choices()))
    return {(f.variant, f.phase): f for f in made.forecasts}


def _measured(folder: str, variant: str, phase: str) -> float:
    files = (RECORDED / folder).glob(f"{variant}.time*.json")
    return statistics.median(
        json.loads(f.read_text("utf-8"))["steps"][phase]["median_ns"] for f in files
    )


def table() -> None:
    """Every pair of an eager trace and a measured captured step."""
    from generate import out

    lines = [
        "| eager trace | variant | step | forecast | 90% interval | measured | error |",
        "| :--- | :--- | :--- | ---: | ---: | ---: | ---: |",
    ]
    for trace, folder, variant, phase in PAIRS:
        f = _forecasts(trace)[_SAME.get(variant, variant), phase]
        outcome = _measured(folder, variant, phase)
        step, low, high = (ns / 1e6 for ns in (f.step_ns, f.low_ns, f.high_ns))  # type: ignore[attr-defined]
        error = 100 * (step * 1e6 / outcome - 1)
        sign = "−" if error < 0 else "+"
        lines.append(
            f"| {trace} | {variant} | {phase} | {step:.2f} ms | {low:.2f} to {high:.2f} "
            f"| {outcome / 1e6:.2f} ms | {sign}{abs(error):.1f}% |"
        )
    out("\n".join(lines))


def costs() -> None:
    """The shipped costs of each GPU."""
    from generate import out

    from launchlens.forecast.constants import COSTS, shipped

    for c in shipped():
        lines = [f"| {c.gpu}, driver {c.driver} | cost | spread |", "| :--- | ---: | ---: |"]
        for name in COSTS:
            cost = getattr(c, name)
            lines.append(f"| `{name}` | {cost.value / 1e3:.2f} µs | {cost.spread / 1e3:.2f} µs |")
        out("\n".join(lines))
