"""Variant ``piecewise``: torch.compile's graph cut at attention, the pieces captured.

The pieces run the same kernels as the eager model; no code is generated. What differs from
eager is only that the pieces are replayed.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from launchlens.harness.variants.attention import output_like, use_attention
from launchlens.harness.variants.base import Context, Prepared, Variant, settle
from launchlens.harness.variants.compiled import allow_recompilation

ATTENTION = "launchlens_piecewise"
OPERATOR = "launchlens::attend"
# How the operator is written as a node's target: as a packet and as its overload.
_TARGETS = {"launchlens.attend", "launchlens.attend.default"}

# A piece's calls: run, capture, check which inputs moved; from then on replay.
_RUN, _CAPTURE, _SETTLE, _REPLAY = range(4)


class Piecewise(Variant):
    """Cuts the traced graph at attention and captures each piece in one memory pool."""

    # Not one that replays: Dynamo guards on the cache's Python lengths and traces again.
    name = "piecewise"
    summary = "torch.compile's graph cut at attention"
    order = 30
    captures = True
    needs_gpu = True
    compiles = True

    def prepare(self, model: Any, inputs: dict[str, Any], context: Context) -> Prepared:
        """Traces, cuts and captures; see :class:`~launchlens.harness.variants.base.Variant`."""
        import torch

        allow_recompilation()
        _register_operator()
        use_attention(model, ATTENTION, _attention)
        backend = PiecewiseBackend(capture=context.device == "cuda")
        compiled = torch.compile(model.forward, backend=backend, dynamic=False)

        def step() -> Any:
            return compiled(**inputs).logits

        settle(step, context)
        return Prepared(step, "captured", {"graphs": backend.graphs, "eager": backend.eager})


class PiecewiseBackend:
    """A torch.compile backend that cuts at attention.

    Args:
        capture: capture the pieces; without, they run as they are (on a CPU).

    Attributes:
        graphs: pieces that are replayed as CUDA graphs.
        eager: attention calls between them.
    """

    def __init__(self, *, capture: bool) -> None:
        self.graphs = 0
        self.eager = 0
        self._capture = capture
        self._pool: Any = None

    def __call__(self, graph_module: Any, example_inputs: Any) -> Callable[..., Any]:
        """Cuts one traced graph; called by Dynamo."""
        from torch.fx.passes.split_module import split_module

        del example_inputs
        partition_of, cut = _partition(graph_module)
        split = split_module(
            graph_module, graph_module, partition_of.__getitem__, keep_original_order=True
        )
        for name, piece in list(split.named_children()):
            number = name.removeprefix("submod_")
            if number.isdigit() and int(number) in cut:
                self.eager += 1
            elif number.isdigit() and _launches(piece):
                self.graphs += 1
                if self._capture:
                    setattr(split, name, self._captured(piece))
        forward: Callable[..., Any] = split.forward
        return forward

    def _captured(self, piece: Any) -> Any:
        import torch

        if self._pool is None:
            self._pool = torch.cuda.graph_pool_handle()
        return _captured_piece(piece, self._pool)


def _partition(graph_module: Any) -> tuple[dict[Any, int], set[int]]:
    """Numbers the nodes so that every attention call has a part of its own."""
    numbers: dict[Any, int] = {}
    cut: set[int] = set()
    number = 0
    for node in graph_module.graph.nodes:
        if node.op in {"placeholder", "output"}:
            continue
        is_cut = node.op == "call_function" and str(node.target) in _TARGETS
        number += is_cut
        numbers[node] = number
        if is_cut:
            cut.add(number)
            number += 1
    return numbers, cut


def _launches(piece: Any) -> bool:
    """Whether a piece does any work; one that only hands values on would be an empty graph."""
    return any(
        node.op in {"call_function", "call_method", "call_module"} for node in piece.graph.nodes
    )


def _captured_piece(piece: Any, pool: Any) -> Any:
    """Wraps a piece in a module that captures it on its second call."""
    import torch

    class CapturedPiece(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.stage = _RUN
            self.graph: Any = None
            self.outputs: Any = None
            self.static: list[Any] = []
            self.moving: list[int] = []

        def forward(self, *arguments: Any) -> Any:
            if self.stage == _RUN:
                self.stage = _CAPTURE
                return piece(*arguments)
            if self.stage == _CAPTURE:
                self.stage = _SETTLE
                return self.capture(arguments)
            if self.stage == _SETTLE:
                # Buffers that another piece or the caller keeps stay where they are; what
                # moved once is copied from now on.
                self.moving = [
                    index
                    for index, (old, new) in enumerate(zip(self.static, arguments, strict=True))
                    if isinstance(new, torch.Tensor) and old.data_ptr() != new.data_ptr()
                ]
                self.stage = _REPLAY
            for index in self.moving:
                self.static[index].copy_(arguments[index])
            self.graph.replay()
            return self.outputs

        def capture(self, arguments: tuple[Any, ...]) -> Any:
            self.static = list(arguments)
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph, pool=pool):
                self.outputs = piece(*arguments)
            self.graph.replay()  # Capturing runs nothing: the next piece needs the values.
            return self.outputs

    return CapturedPiece()


def _register_operator() -> None:
    """Makes attention one opaque operator that writes into a buffer it is given."""
    import torch
    from torch import Tensor
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    if hasattr(torch.ops.launchlens, "attend"):
        return

    def attend(
        output: Tensor,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None,
        scaling: float | None,
        is_causal: bool,
        groups: int,
    ) -> None:
        layer = SimpleNamespace(num_key_value_groups=groups, is_causal=is_causal)
        result, _ = sdpa_attention_forward(
            layer, query, key, value, mask, scaling=scaling, is_causal=is_causal
        )
        output.copy_(result)

    # The schema is written out: annotations are strings in this file.
    schema = (
        "(Tensor(a!) output, Tensor query, Tensor key, Tensor value, Tensor? mask, "
        "float? scaling, bool is_causal, int groups) -> ()"
    )
    operator = torch.library.custom_op(OPERATOR, attend, mutates_args=("output",), schema=schema)
    operator.register_fake(lambda *_: None)


def _attention(
    module: Any,
    query: Any,
    key: Any,
    value: Any,
    attention_mask: Any,
    scaling: float | None = None,
    is_causal: bool | None = None,
    **options: Any,
) -> tuple[Any, None]:
    import torch

    del options
    causal = is_causal if is_causal is not None else bool(getattr(module, "is_causal", True))
    output = output_like(query, value)
    torch.ops.launchlens.attend(
        output,
        query,
        key,
        value,
        attention_mask,
        scaling,
        causal,
        int(getattr(module, "num_key_value_groups", 1)),
    )
    return output, None


VARIANTS = (Piecewise(),)
