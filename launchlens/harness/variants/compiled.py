"""Variants ``compile``, ``compile-cudagraph`` and ``compile-cudagraphs-backend``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from launchlens.harness.variants.base import Context, Prepared, Variant, settle

RECOMPILE_LIMIT = 64


@dataclass
class Compiled(Variant):
    """torch.compile of the forward call, for one shape; ``graphs``: it replays CUDA graphs."""

    name: str
    summary: str
    order: int
    backend: str = "inductor"
    mode: str | None = None
    graphs: bool = False

    def __post_init__(self) -> None:
        # Not one that replays: Dynamo guards on the cache's Python lengths and compiles again.
        self.compiles = True
        self.captures = self.needs_gpu = self.graphs

    def prepare(self, model: Any, inputs: dict[str, Any], context: Context) -> Prepared:
        """Compiles by running; see :class:`~launchlens.harness.variants.base.Variant`."""
        import torch

        allow_recompilation()
        skips = _graph_skips()
        how = {"backend": self.backend, "mode": self.mode}
        compiled = torch.compile(model.forward, **how, dynamic=False)
        begin = torch.compiler.cudagraph_mark_step_begin if self.captures else None

        def step() -> Any:
            if begin is not None:
                begin()
            return compiled(**inputs).logits

        # The first run compiles, the second records (with CUDA graphs), the third replays.
        settle(step, context)
        skipped = self.captures and _graph_skips() > skips
        note = (
            f"torch used no CUDA graphs for the compiled {context.phase} step." if skipped else None
        )
        return Prepared(step, "compiled", note=note)


def allow_recompilation() -> None:
    """Lets every phase and batch size have a compiled form; past its limit Dynamo runs eagerly."""
    import torch

    torch._dynamo.config.recompile_limit = max(
        RECOMPILE_LIMIT, torch._dynamo.config.recompile_limit
    )


def _graph_skips() -> int:
    """How often torch has declined to use CUDA graphs for a compiled function."""
    from torch._dynamo.utils import counters

    return int(counters["inductor"]["cudagraph_skips"])


_REDUCED = "torch.compile, reduce-overhead"
_BACKEND = "compile-cudagraphs-backend"
VARIANTS = (
    Compiled("compile", "torch.compile", 40),
    Compiled("compile-cudagraph", _REDUCED, 50, mode="reduce-overhead", graphs=True),
    Compiled(_BACKEND, "torch.compile, backend cudagraphs", 60, backend="cudagraphs", graphs=True),
)
