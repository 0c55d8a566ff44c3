"""Which of torch's operators copy between host and device, or make the host wait."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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


@dataclass(frozen=True, slots=True)
class Operator:
    """A call that copies or waits, not run yet.

    Attributes:
        name: for example ``aten._to_copy``.
        kind: htod, dtoh or sync.
        run: runs it.
        copied: the tensor that is copied; None: the result (factories) or not known (sync).
        pinned: the host tensor is page-locked.
        non_blocking: asked for.
        rerun: runs it with kept values in place of the host's; None: the kept result serves.
        kept: makes these values; None: the result is kept.
        nested: it may run further operators that copy or wait.
    """

    name: str
    kind: CopyKind
    run: Callable[[], Any]
    copied: Any = None
    pinned: bool | None = None
    non_blocking: bool = False
    rerun: Callable[[Any], Any] | None = None
    kept: Callable[[], Any] | None = None
    nested: bool = False

    def tensor(self, result: Any) -> Any:
        """The tensor whose size an event reports when ``copied`` is not set."""
        import torch

        return result if self.kind != "sync" and isinstance(result, torch.Tensor) else None

    def keep(self, result: Any) -> Any:
        """What :meth:`replace` needs later: device copies, so that later writes cannot reach it."""
        return _cloned(self.kept() if self.kept is not None else result)

    def replace(self, kept: Any) -> Any:
        """Does without the copy or the wait, from what an earlier run kept."""
        return self.rerun(kept) if self.rerun is not None else _cloned(kept)


def classify_function(
    func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], accelerator: str
) -> Operator | None:
    """Recognizes a Python-level call whose copy is made below the dispatcher; None for others.

    These are tensors built on the accelerator from Python values, and indexing with lists.

    Args:
        func: the function the function mode got.
        args: its positional arguments.
        kwargs: its keyword arguments.
        accelerator: device type that stands for the GPU.
    """
    name = getattr(func, "__name__", "")
    if name in _FACTORIES and args and _builds_on(name, args, kwargs, accelerator):
        return Operator(f"torch.{name}", "htod", lambda: func(*args, **kwargs), pinned=False)
    if name in {"__getitem__", "__setitem__"} and _is_on(args[0], accelerator):
        return _list_indexing(name, func, args)
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


def _list_indexing(name: str, func: Any, args: Sequence[Any]) -> Operator | None:
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


def classify(
    func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], accelerator: str
) -> Operator | None:
    """Recognizes an ATen operator that copies or waits; None for all others.

    Args:
        func: the overload the dispatch mode got.
        args: its positional arguments.
        kwargs: its keyword arguments.
        accelerator: device type that stands for the GPU.
    """
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
        return _indexing(name, func, run, args, kwargs, accelerator)
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
        pinned=_is_pinned(source) if kind == "htod" else bool(kwargs.get("pin_memory")),
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
        pinned=_is_pinned(source if kind == "htod" else target),
        non_blocking=bool(non_blocking),
        rerun=lambda kept: func(target, kept),
        kept=lambda: source.to(target.device),
    )


def _indexing(
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
            name,
            "htod",
            run,
            copied=host[0],
            pinned=_is_pinned(host[0]),
            rerun=rerun,
            kept=kept,
        )
    return Operator(name, "sync", run, rerun=rerun, kept=kept)


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


def _is_pinned(tensor: Any) -> bool:
    return bool(tensor.device.type == "cpu" and tensor.is_pinned())


def _stand_in(dtype: Any) -> bool | int | float:
    import torch

    if dtype == torch.bool:
        return True
    return 1.0 if dtype.is_floating_point else 1


def _host_stand_in(source: Any, kwargs: Mapping[str, Any]) -> Any:
    """What a copy of a meta tensor, which has no values, gives the host: ones."""
    import torch

    return torch.ones(source.shape, dtype=kwargs.get("dtype") or source.dtype)


def _cloned(value: Any) -> Any:
    import torch

    if isinstance(value, torch.Tensor):
        return value.clone()
    if isinstance(value, list | tuple):
        return type(value)(_cloned(item) for item in value)
    return value
