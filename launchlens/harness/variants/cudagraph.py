"""Variant ``cudagraph``: the whole step captured as one CUDA graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from launchlens.harness.variants.base import CAPTURE_WARMUP_STEPS, Context, Prepared, Variant


class CudaGraph(Variant):
    """Captures the forward call with static inputs and replays it."""

    name = "cudagraph"
    summary = "the step as one CUDA graph"
    order = 10
    default = True
    captures = True
    needs_gpu = True
    replays = True

    def prepare(self, model: Any, inputs: dict[str, Any], context: Context) -> Prepared:
        """Warms up and captures; see :class:`~launchlens.harness.variants.base.Variant`."""
        import torch

        def forward() -> Any:
            return model(**inputs).logits

        warm_up(forward, context)
        context.reset()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            logits = forward()

        def step() -> Any:
            graph.replay()
            return logits

        return Prepared(step, "captured", {"graphs": 1, "eager": 0})


def warm_up(forward: Callable[[], Any], context: Context) -> None:
    """Runs a step a few times on a side stream, as capture asks for."""
    import torch

    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(CAPTURE_WARMUP_STEPS):
            context.reset()
            forward()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()


VARIANTS = (CudaGraph(),)
