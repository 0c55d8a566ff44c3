"""What cog writes into vllm.md: figures of shipped traces beside vLLM's own benchmark."""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cog
import generate

if TYPE_CHECKING:
    from launchlens.records.figures import Analysis

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
BENCH = Path("docs/examples/vllm")
MODELS = {"qwen3-0.6b": "qwen3-0.6b", "gemma-4-e4b": "gemma-4-E4B", "gemma-3n-e4b": "gemma-3n-E4B"}
MODES = ("eager", "default", "breakable", "full")


def trace(model: str, mode: str) -> str:
    """Path of the shipped trace of a model and a mode, from the root of the project."""
    return f"traces/vllm024-run-{model}-{mode}.node.nsys2025.3.sqlite.xz"


def bench(model: str, mode: str, concurrency: int) -> str:
    """Path of the file that vLLM's benchmark wrote, from the root of the project."""
    return str(BENCH / f"{model}-{mode}-c{concurrency}.json")


@cache
def _analysis(file: str) -> Analysis:
    import launchlens

    return launchlens.summarize(launchlens.read_trace(ROOT / file))


def _launches(file: str, phase: str) -> str:
    (group,) = [group for group in _analysis(file).summary if group.phase == phase]
    launches, graphs = (group.metrics[name].median for name in ("launches", "graph_launches"))
    assert launches is not None
    assert graphs is not None
    return f"{launches - graphs:,.0f} + {graphs:.0f}" if graphs else f"{launches:,.0f}"


def _measured(model: str, mode: str, concurrency: int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / bench(model, mode, concurrency)).read_text())
    return found


def _modes(model: str) -> list[str]:
    return [mode for mode in MODES if (ROOT / bench(model, mode, 1)).exists()]


def launches() -> None:
    """A row for every recorded engine: calls that launch, and graph launches among them."""
    rows = []
    for model, title in MODELS.items():
        for mode in _modes(model):
            file = trace(model, mode)
            rows.append((title, mode, _launches(file, "prefill"), _launches(file, "decode")))
    cog.outl(generate.table(("model", "mode", "launches, prefill", "launches, decode"), rows))


def note(model: str, mode: str) -> None:
    """The notes on a shipped trace, as a quotation."""
    for said in _analysis(trace(model, mode)).notes:
        cog.outl(f"> {said}")


def served() -> None:
    """A row for every engine and concurrency, as vLLM's benchmark measured it untraced."""
    rows = []
    for model, title in MODELS.items():
        for concurrency in (1, 4):
            base = _measured(model, "eager", concurrency)["median_ttft_ms"]
            for mode in _modes(model):
                found = _measured(model, mode, concurrency)
                ttft = found["median_ttft_ms"]
                rows.append(
                    (
                        title,
                        str(concurrency),
                        mode,
                        f"{ttft:.1f} ms" + ("" if mode == "eager" else f" ({base / ttft:.1f}×)"),
                        f"{found['median_itl_ms']:.2f} ms",
                        f"{found['output_throughput']:,.0f}/s",
                    )
                )
    head = ("model", "concurrency", "mode", "TTFT, median", "ITL, median", "output tokens")
    cog.outl(generate.table(head, rows))


def compared(model: str, *modes: str) -> None:
    """`launchlens diff` of shipped traces, with the benchmark's files at concurrency 1."""
    words = [trace(model, mode) for mode in modes]
    for mode in modes:
        words += ["--bench", bench(model, mode, 1)]
    generate.example("diff", *words)
