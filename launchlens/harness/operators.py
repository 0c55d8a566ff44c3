"""An operator that copies between host and device or makes the host wait, not run yet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from launchlens.protocol.step import CopyKind


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


def _cloned(value: Any) -> Any:
    import torch

    if isinstance(value, torch.Tensor):
        return value.clone()
    if isinstance(value, list | tuple):
        return type(value)(_cloned(item) for item in value)
    return value


def is_pinned(tensor: Any) -> bool:
    """Whether a tensor lies in page-locked host memory."""
    return bool(tensor.device.type == "cpu" and tensor.is_pinned())
