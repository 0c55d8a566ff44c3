"""Records, in order, every operator of a step that copies between devices or waits.

Two of torch's modes are needed. A TorchDispatchMode sees the operators (``_to_copy``,
``_local_scalar_dense``, ``nonzero``, …); a TorchFunctionMode sees ``torch.tensor(value,
device=…)`` and its kin, whose copy is made below the dispatcher. Explicit synchronizations
are seen by replacing torch.cuda's functions for the time of the recording.

On meta tensors, which hold no values, reading one gives 1, so that a whole model can be
followed on a machine without a GPU and without memory for its weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from launchlens.harness.classify import classify, classify_function
from launchlens.harness.failures import Location, current_frames, fold_frames, place_of
from launchlens.harness.operators import Operator
from launchlens.protocol.step import CopyEvent, StepPhase


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the model an operator was called."""

    frames: tuple[Location, ...]
    module: str | None

    @property
    def source(self) -> str | None:
        """File name and line of the model's own frame."""
        return self.frames[0].source if self.frames else None


Handler = Callable[[Operator, Place], Any]
"""Runs an operator that copies or waits, or something in its stead, and returns the result."""


class Recorder:
    """A handler that runs every operator and writes down the event.

    With ``keep_results``, ``results`` gets by source line, in order, what to use in the
    operators' stead (see :meth:`Operator.keep`).
    """

    def __init__(self, *, keep_results: bool = False, phase: StepPhase | None = None) -> None:
        self.events: list[CopyEvent] = []
        self.results: dict[str, list[Any]] = {}
        self._keep = keep_results
        self._phase = phase

    def __call__(self, operator: Operator, place: Place) -> Any:
        """Runs the operator and records it."""
        # An operator may run others; it comes before them, in the order they were started.
        kept = self.results.setdefault(place.source, []) if place.source else []
        event_position, kept_position = len(self.events), len(kept)
        result = operator.run()
        self.events.insert(event_position, _event(operator, place, result, self._phase))
        if self._keep:
            kept.insert(kept_position, operator.keep(result))
        return result


@contextmanager
def observe(model: Any, handler: Handler, *, accelerator: str = "cuda") -> Iterator[None]:
    """Calls a handler at every operator that copies or waits.

    Args:
        model: its modules' names are used to say where; None for plain code.
        handler: gets the operator and its place.
        accelerator: the device type that stands for the GPU ("cuda"; "meta" without one).
    """
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    names = {id(module): name for name, module in model.named_modules()} if model else {}
    inside = False

    def handle(operator: Operator) -> Any:
        nonlocal inside
        inside = not operator.nested
        try:
            return handler(operator, _place(names))
        finally:
            inside = False

    def watch(recognize: Callable[..., Operator | None]) -> Callable[..., Any]:
        def call(_mode: Any, func: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            operator = None if inside else recognize(func, args, kwargs, accelerator)
            return func(*args, **kwargs) if operator is None else handle(operator)

        return call

    class Dispatch(TorchDispatchMode):  # type: ignore[misc]
        __torch_dispatch__ = watch(classify)

    class Function(TorchFunctionMode):  # type: ignore[misc]
        __torch_function__ = watch(classify_function)

    with _explicit_syncs(handle), Dispatch(), Function():
        yield


@contextmanager
def _explicit_syncs(handle: Callable[[Operator], Any]) -> Iterator[None]:
    """Makes torch.cuda's own synchronizations visible, which no mode sees."""
    import torch

    places = (
        (torch.cuda, "synchronize"),
        (torch.cuda.Stream, "synchronize"),
        (torch.cuda.Event, "synchronize"),
        (torch.cuda.Event, "query"),
    )
    originals = [(owner, name, getattr(owner, name)) for owner, name in places]

    def seen(label: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            return handle(Operator(label, "sync", lambda: original(*args, **kwargs)))

        return call

    for owner, name, original in originals:
        label = f"torch.cuda.{name}" if owner is torch.cuda else f"{owner.__name__}.{name}"
        setattr(owner, name, seen(label, original))
    try:
        yield
    finally:
        for owner, name, original in originals:
            setattr(owner, name, original)


def _place(names: dict[int, str]) -> Place:
    module = None
    frames = []
    for location, frame in current_frames(skip=2):
        frames.append(location)
        if module is None:
            module = names.get(id(frame.f_locals.get("self")))
    return Place(tuple(fold_frames(frames)), module or None)


def _event(operator: Operator, place: Place, result: Any, phase: StepPhase | None) -> CopyEvent:
    copied = operator.copied if operator.copied is not None else operator.tensor(result)
    return CopyEvent(
        op=operator.name,
        kind=operator.kind,
        bytes=None if copied is None else copied.numel() * copied.element_size(),
        dtype=None if copied is None else str(copied.dtype).removeprefix("torch."),
        shape=None if copied is None else tuple(copied.shape),
        pinned=operator.pinned,
        non_blocking=operator.non_blocking,
        **place_of(place.frames),
        module=place.module,
        phase=phase,
    )
