"""Variant ``cudagraph``: the whole step captured as one CUDA graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from launchlens.harness.variants.base import Context, Prepared, Variant, forward_call, settle


class CudaGraph(Variant):
    """Captures the forward call with static inputs and replays it."""

    name = "cudagraph"
    summary = "the step as one CUDA graph"
    order = 10
    default = True
    captures = True
    one_graph = True
    needs_gpu = True
    replays = True

    def prepare(self, model: Any, inputs: dict[str, Any], context: Context) -> Prepared:
        """Warms up and captures; see :class:`~launchlens.harness.variants.base.Variant`."""
        import torch

        forward = forward_call(model, inputs)
        step = capture(forward, context, torch.cuda.CUDAGraph(), torch.cuda.graph)
        return Prepared(step, "captured", {"graphs": 1, "eager": 0})


def capture(
    forward: Callable[[], Any], context: Context, graph: Any, capturing: Callable[[Any], Any]
) -> Callable[[], Any]:
    """Warms up and captures a step, inside ``capturing(graph)``; returns the graph's replay."""
    warm_up(forward, context)
    context.reset()
    with capturing(graph):
        logits = forward()

    def step() -> Any:
        graph.replay()
        return logits

    return step


def warm_up(forward: Callable[[], Any], context: Context) -> None:
    """Runs a step a few times on a side stream, as capture asks for."""
    import torch

    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        settle(forward, context)
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()


VARIANTS = (CudaGraph(),)
