"""Indexing that copies host values to the GPU, or waits for the number of elements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from launchlens.harness.operators import Operator, is_pinned


def list_indexing(name: str, func: Any, args: Sequence[Any]) -> Operator | None:
    """``x[:, [0, 2]]``: each list becomes an index tensor, copied from the host."""
    import torch

    target, index = args[0], args[1]
    parts = index if isinstance(index, tuple) else (index,)
    lists = [part for part in parts if isinstance(part, list | range)]
    if not lists:
        return None

    def kept() -> list[Any]:
        return [
            torch.tensor(list(part), device=target.device)
            if isinstance(part, list | range)
            else part
            for part in parts
        ]

    return Operator(
        f"torch.Tensor.{name}",
        "htod",
        lambda: func(*args),
        copied=torch.empty_like(torch.tensor(list(lists[0])), device="meta"),
        pinned=False,
        rerun=lambda values: func(target, tuple(values), *args[2:]),
        kept=kept,
        nested=True,
    )


def indexing(
    name: str,
    func: Any,
    run: Callable[[], Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    accelerator: str,
) -> Operator | None:
    """Indexing with host indices copies them; with a boolean mask it waits for their number."""
    import torch

    target, indices = args[0], list(args[1])
    if target.device.type != accelerator:
        return None
    tensors = [index for index in indices if isinstance(index, torch.Tensor)]
    host = [index for index in tensors if index.device.type == "cpu" != accelerator]
    masks = [index for index in tensors if index.dtype in {torch.bool, torch.uint8}]
    if masks and len(args) > 2 and args[2].numel() == 1 and not any(args[3:4]):
        return None  # Writing one value through a mask is a masked_fill.
    if len(args) > 2 and args[2].device.type == "cpu" != accelerator:
        host.append(args[2])
    if not host and not masks:
        return None

    def kept() -> tuple[list[Any], list[Any]]:
        plain: list[Any] = []
        for index in indices:
            if index is not None and index.dtype in {torch.bool, torch.uint8}:
                plain.extend(index.nonzero(as_tuple=True))
            else:
                plain.append(index)
        moved = [None if index is None else index.to(target.device) for index in plain]
        return moved, [value.to(target.device) for value in args[2:3]]

    def rerun(values: tuple[list[Any], list[Any]]) -> Any:
        return func(target, values[0], *values[1], *args[3:], **kwargs)

    if host:
        return Operator(
            name, "htod", run, copied=host[0], pinned=is_pinned(host[0]), rerun=rerun, kept=kept
        )
    return Operator(name, "sync", run, rerun=rerun, kept=kept)
