"""Variant ``breakable``: captured, but capture pauses around attention, which stays eager."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

from launchlens.errors import HarnessError
from launchlens.harness.variants.attention import output_like, use_attention
from launchlens.harness.variants.base import Context, Prepared, Variant, forward_call
from launchlens.harness.variants.cudagraph import capture

ATTENTION = "launchlens_breakable"


class Breakable(Variant):
    """Uses the breakable-cuda-graphs package."""

    name = "breakable"
    summary = "graphs broken at attention"
    order = 20
    captures = True
    needs_gpu = True
    replays = True

    def prepare(self, model: Any, inputs: dict[str, Any], context: Context) -> Prepared:
        """Warms up and captures; see :class:`~launchlens.harness.variants.base.Variant`."""
        if importlib.util.find_spec("breakable_cuda_graphs") is None:
            raise HarnessError(
                "The breakable variant needs the package breakable-cuda-graphs.",
                hint="pip install breakable-cuda-graphs",
            )
        import torch
        from breakable_cuda_graphs import BreakableCUDAGraph, breakable_graph

        use_attention(model, ATTENTION, _attention_function())
        graph = BreakableCUDAGraph()
        step = capture(forward_call(model, inputs), context, graph, breakable_graph)
        segments = graph._segments  # the package counts them nowhere
        graphs = sum(isinstance(segment, torch.cuda.CUDAGraph) for segment in segments)
        return Prepared(step, "captured", {"graphs": graphs, "eager": len(segments) - graphs})


def _attention_function() -> Callable[..., Any]:
    from breakable_cuda_graphs import no_graph
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    # An eager function must not return GPU tensors: it fills a buffer that the graph segment
    # before it allocated.
    @no_graph  # type: ignore[untyped-decorator]
    def attend(
        output: Any, module: Any, query: Any, key: Any, value: Any, mask: Any, options: Any
    ) -> None:
        result, _ = sdpa_attention_forward(module, query, key, value, mask, **options)
        output.copy_(result)

    def attention(
        module: Any, query: Any, key: Any, value: Any, attention_mask: Any, **options: Any
    ) -> tuple[Any, None]:
        output = output_like(query, value)
        attend(output, module, query, key, value, attention_mask, options)
        return output, None

    return attention


VARIANTS = (Breakable(),)
