"""What a variant is: it prepares a step, once for each phase."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

# torch's advice for capture: a few runs on a side stream, so that lazy initialization,
# autotuning and the allocator have settled.
CAPTURE_WARMUP_STEPS = 3


@dataclass(frozen=True, slots=True)
class Context:
    """What a variant may need beside the model and its inputs.

    Attributes:
        phase: ``prefill`` or ``decode``.
        device: ``cuda`` or ``cpu``.
        reset: sets the cache back to where the phase's first step finds it; call it before
            every run of the model while preparing.
        pool: a dictionary that lives as long as the process, for what the phases share.
    """

    phase: str
    device: str
    reset: Callable[[], None]
    pool: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A step that is ready to run.

    Attributes:
        step: runs one step on the inputs' buffers, returns the logits (batch, tokens,
            vocabulary) on the device; the next call may overwrite them.
        kind: what became of the phase: "eager", "captured", "compiled" or "custom".
        pieces: counts for the report, for example {"graphs": 43, "eager": 42}.
    """

    step: Callable[[], Any]
    kind: str
    pieces: dict[str, int] = field(default_factory=dict)


class Variant(Protocol):
    """One way to run a step.

    Attributes:
        name: as on the command line.
        needs_gpu: the variant makes no sense on a CPU.
        replays: Python does not run in a step, so a decode step needs a cache whose lengths
            are all on the device.
    """

    name: str
    needs_gpu: bool
    replays: bool

    def prepare(self, model: Any, inputs: dict[str, Any], context: Context) -> Prepared:
        """Prepares one phase's step.

        Args:
            model: the transformers model, in evaluation mode.
            inputs: its keyword arguments; the tensors stay at their addresses, and new
                tokens are written into them before each step.
            context: the phase, and how to reset the cache.

        Returns:
            The prepared step. Whatever it raises is reported as a failed variant.
        """
        ...
