"""What a variant is: it says what it does, and prepares a step once for each phase."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from launchlens.protocol.step import PreparedKind, StepPhase  # whose pydantic is slow to import

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

    phase: StepPhase
    device: str
    reset: Callable[[], None]
    pool: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A step that is ready to run.

    Attributes:
        step: runs one step on the inputs' buffers, returns the logits (batch, tokens,
            vocabulary) on the device; the next call may overwrite them.
        kind: what became of the phase.
        pieces: counts for the report, for example {"graphs": 43, "eager": 42}.
        note: a sentence for the report.
    """

    step: Callable[[], Any]
    kind: PreparedKind
    pieces: dict[str, int] = field(default_factory=dict)
    note: str | None = None


def forward_call(model: Any, inputs: dict[str, Any]) -> Callable[[], Any]:
    """A step as it is: the model on its inputs' buffers; returns the logits."""

    def forward() -> Any:
        return model(**inputs).logits

    return forward


def settle(step: Callable[[], Any], context: Context) -> None:
    """Runs a step as often as compilation and capture ask for, the cache reset before each."""
    for _ in range(CAPTURE_WARMUP_STEPS):
        context.reset()
        step()


class Variant(ABC):
    """One way to run a step, and all that others need to know of it.

    A file of this folder that has ``VARIANTS`` adds them to the program. Listing them imports
    neither torch nor anything else that is heavy, so a file imports that where it prepares.
    """

    name: str
    """As on the command line."""
    summary: str = ""
    """What it is, in a few words, for the command line's help."""
    order: int = 100
    """Place among the others."""
    default: bool = False
    """It runs when no variant is named, on a GPU if it needs one."""
    captures: bool | None = False
    """Its steps launch CUDA graphs, which spend memory and are worth a whole-graph trace; None:
    not known before it runs.
    """
    prepares: bool | None = True
    """Making a step ready takes time that a report shows; None: not known."""
    needs_gpu: bool = False
    """It makes no sense on a CPU."""
    compiles: bool = False
    """torch.compile may be at work."""
    as_it_is: bool = False
    """It runs the step as it is: the one to find blockers in, and to leave a phase to."""
    one_graph: bool = False
    """Its step is one CUDA graph: if it fails, a capture attempt finds out why."""
    replays: bool = False
    """Python does not run in a step, so a decode step needs a cache whose lengths are all on the
    device.
    """

    @abstractmethod
    def prepare(self, model: Any, inputs: dict[str, Any], context: Context) -> Prepared:
        """Prepares one phase's step; whatever it raises is reported as a failed variant.

        Args:
            model: the transformers model, in evaluation mode.
            inputs: its keyword arguments; the tensors stay at their addresses, and new
                tokens are written into them before each step.
            context: the phase, and how to reset the cache.
        """
