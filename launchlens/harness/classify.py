"""Which of torch's operators copy between host and device, or make the host wait."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from launchlens.harness.indexing import indexing, list_indexing
from launchlens.harness.operators import Operator, is_pinned
from launchlens.protocol.step import CopyKind

# Their result's size, or the result itself, is known to the host only after a wait. The
# bytes they copy are torch's own business, so the events have none.
_WAITING = frozenset(
    {
        "nonzero",
        "masked_select",
        "_unique",
        "_unique2",
        "unique_dim",
        "unique_consecutive",
        "unique_dim_consecutive",
        "equal",
        "bincount",
        "repeat_interleave",
        "is_nonzero",
    }
)
_INDEXING = frozenset({"index", "index_put", "index_put_", "_unsafe_index"})
_FACTORIES = frozenset({"tensor", "as_tensor", "asarray", "new_tensor"})


def classify_function(
    func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], accelerator: str
) -> Operator | None:
    """Recognizes a Python-level call whose copy is made below the dispatcher; None for others.

    These are tensors built on the accelerator from Python values, and indexing with lists. The
    call is as the function mode got it; ``accelerator`` is the device type that stands for the GPU.
    """
    name = getattr(func, "__name__", "")
    if name in _FACTORIES and args and _builds_on(name, args, kwargs, accelerator):
        return Operator(f"torch.{name}", "htod", lambda: func(*args, **kwargs), pinned=False)
    if name in {"__getitem__", "__setitem__"} and _is_on(args[0], accelerator):
        return list_indexing(name, func, args)
    return None


def _is_on(value: Any, accelerator: str) -> bool:
    import torch

    return isinstance(value, torch.Tensor) and value.device.type == accelerator != "cpu"


def _builds_on(name: str, args: Sequence[Any], kwargs: Mapping[str, Any], accelerator: str) -> bool:
    """Whether a factory call brings host values to the accelerator."""
    import torch

    is_method = name == "new_tensor"
    data = args[1] if is_method and len(args) > 1 else kwargs.get("data", args[0])
    device = kwargs.get("device")
    if device is None:
        if is_method:
            device = args[0].device
        elif isinstance(data, torch.Tensor):
            device = data.device
        else:
            device = torch.get_default_device()
    if isinstance(device, int):
        device = torch.device("cuda", device)
    if torch.device(device).type != accelerator:
        return False
    return not (isinstance(data, torch.Tensor) and data.device.type == accelerator)


def classify(
    func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], accelerator: str
) -> Operator | None:
    """Recognizes an ATen operator that copies or waits, as the dispatch mode got it, or None."""
    packet = func.overloadpacket.__name__
    name = f"aten.{packet}" if func.namespace == "aten" else f"{func.namespace}.{packet}"

    def run() -> Any:
        return func(*args, **kwargs)

    if packet == "_to_copy":
        return _copy(name, run, args[0], kwargs, accelerator)
    if packet == "copy_":
        return _copy_into(name, func, run, args, kwargs, accelerator)
    if packet == "_local_scalar_dense" and args[0].device.type == accelerator:
        value = run if accelerator != "meta" else lambda: _stand_in(args[0].dtype)
        return Operator(name, "dtoh", value, copied=args[0], pinned=False)
    if packet in _INDEXING:
        return indexing(name, func, run, args, kwargs, accelerator)
    if packet in _WAITING and _waits(func, args, kwargs, accelerator):
        value = run if accelerator != "meta" or packet != "equal" else lambda: True
        return Operator(name, "sync", value)
    return None


def _copy(
    name: str, run: Callable[[], Any], source: Any, kwargs: Mapping[str, Any], accelerator: str
) -> Operator | None:
    device = kwargs.get("device")
    kind = _direction(source.device.type, device.type if device else None, accelerator)
    if kind is None:
        return None
    return Operator(
        name,
        kind,
        run if (kind, accelerator) != ("dtoh", "meta") else lambda: _host_stand_in(source, kwargs),
        copied=source,
        pinned=is_pinned(source) if kind == "htod" else bool(kwargs.get("pin_memory")),
        non_blocking=bool(kwargs.get("non_blocking", False)),
    )


def _copy_into(
    name: str,
    func: Any,
    run: Callable[[], Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    accelerator: str,
) -> Operator | None:
    target, source = args[0], args[1]
    kind = _direction(source.device.type, target.device.type, accelerator)
    if kind is None:
        return None
    non_blocking = args[2] if len(args) > 2 else kwargs.get("non_blocking", False)
    return Operator(
        name,
        kind,
        run,
        copied=source,
        pinned=is_pinned(source if kind == "htod" else target),
        non_blocking=bool(non_blocking),
        rerun=lambda kept: func(target, kept),
        kept=lambda: source.to(target.device),
    )


def _waits(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], accelerator: str) -> bool:
    import torch

    if func.overloadpacket.__name__ == "repeat_interleave" and (
        kwargs.get("output_size") is not None or "Tensor" not in func._overloadname
    ):
        return False
    return any(isinstance(arg, torch.Tensor) and arg.device.type == accelerator for arg in args)


def _direction(source: str, target: str | None, accelerator: str) -> CopyKind | None:
    if source == "cpu" and target == accelerator != "cpu":
        return "htod"
    if source == accelerator != "cpu" and target == "cpu":
        return "dtoh"
    return None


def _stand_in(dtype: Any) -> bool | int | float:
    import torch

    return True if dtype == torch.bool else 1.0 if dtype.is_floating_point else 1


def _host_stand_in(source: Any, kwargs: Mapping[str, Any]) -> Any:
    """What a copy of a meta tensor, which has no values, gives the host: ones."""
    import torch

    return torch.ones(source.shape, dtype=kwargs.get("dtype") or source.dtype)
