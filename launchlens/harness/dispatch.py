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
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from launchlens.harness.classify import classify, classify_function
from launchlens.harness.failures import MAX_STACK, Location, current_frames, fold_frames
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


class Handler(Protocol):
    """Decides what happens at an operator that copies or waits."""

    def __call__(self, operator: Operator, place: Place) -> Any:
        """Runs the operator, or something in its stead, and returns the result."""
        ...


class Recorder:
    """A handler that runs every operator and writes down the event.

    Attributes:
        events: what was seen, in order.
        results: source -> what to use in the operators' stead (see operators.Operator.keep),
            in order; filled only with ``keep_results``.
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

    class Dispatch(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            del types
            kwargs = kwargs or {}
            operator = None if inside else classify(func, args, kwargs, accelerator)
            return func(*args, **kwargs) if operator is None else handle(operator)

    class Function(TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            del types
            kwargs = kwargs or {}
            operator = None if inside else classify_function(func, args, kwargs, accelerator)
            return func(*args, **kwargs) if operator is None else handle(operator)

    with ExitStack() as stack:
        stack.enter_context(_explicit_syncs(handle))
        stack.enter_context(Dispatch())
        stack.enter_context(Function())
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
    own = place.frames[0] if place.frames else None
    return CopyEvent(
        op=operator.name,
        kind=operator.kind,
        bytes=None if copied is None else copied.numel() * copied.element_size(),
        dtype=None if copied is None else str(copied.dtype).removeprefix("torch."),
        shape=None if copied is None else tuple(copied.shape),
        pinned=operator.pinned,
        non_blocking=operator.non_blocking,
        source=place.source,
        path=own.path if own else None,
        line=own.line if own else None,
        function=own.function if own else None,
        module=place.module,
        stack=tuple(f"{f.path}:{f.line} {f.function}" for f in place.frames[:MAX_STACK]),
        phase=phase,
    )
