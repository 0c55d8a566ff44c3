"""The replay check: does a captured step compute what the eager step does, on other inputs too?

The eager step runs on every input first, and twice on each: what Python keeps from step to step
shows as a difference of eager from itself. Then the replays run, in the same order: memory that a
graph reads and no longer writes then holds what the last eager step left there, not the answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from launchlens.harness.device import synchronize
from launchlens.harness.distances import (
    AS_NOISE,
    ROUNDINGS,
    Distances,
    distance,
    measure,
    tolerance_of,
)
from launchlens.harness.failures import first_line
from launchlens.harness.modules import Layer, find_first_difference, place_of_layer
from launchlens.protocol.replay import ReplayCheck, ReplayVerdict

INPUTS = 8
_SEED = 1234
_NO_LAYER = (
    "outputs differ by {:.3g}, but no layer does by more than its own rounding and that of the "
    "layers before it"
)

_Ran = TypeVar("_Ran")


@dataclass(frozen=True, slots=True)
class Subject:
    """A captured step and the same step eager, on the same buffers.

    Attributes:
        model: for the names of its layers, and its buffers.
        device: ``cuda`` or ``cpu``.
        dtype: in which the model computes.
        eager: runs the step and returns its logits, (batch, tokens, vocabulary).
        replay: replays it; returns the logits, which the next replay may overwrite.
        set_input: writes the values of the n-th input into the buffers, and rewinds the cache.
        varied: what differs between these inputs, in words.
        capture_again: captures the step once more, as it was; None where that cannot be.
    """

    model: Any
    device: str
    dtype: str
    eager: Callable[[], Any]
    replay: Callable[[], Any]
    set_input: Callable[[int], None]
    varied: tuple[str, ...]
    capture_again: Callable[[], Callable[[], Any]] | None = None

    def run(self, step: Callable[[], Any], index: int) -> Any:
        """The last token's logits of one step on an input, float32 on the host."""
        self.set_input(index)
        logits = step()
        synchronize(self.device)
        return _last(logits).float().cpu().clone()


def check_replays(subject: Subject) -> ReplayCheck:
    """Compares replays with the eager step; whatever goes wrong meanwhile is part of the answer."""
    try:
        return _check(subject)
    except Exception as error:
        return unknown_replay(f"the comparison failed: {first_line(error)}", subject.varied)


def unknown_replay(reason: str, varied: tuple[str, ...] = ()) -> ReplayCheck:
    """The answer where nothing was compared."""
    return ReplayCheck("unknown", 0, varied, None, None, None, None, reason=reason)


def _check(subject: Subject) -> ReplayCheck:
    state = _buffers(subject.model)
    eager = [_twice(subject, subject.eager, i) for i in range(INPUTS)]
    drawn = _drawn_spread(subject)
    _restore(state)  # replays begin where the eager steps did
    try:
        replayed = [_twice(subject, subject.replay, i) for i in range(INPUTS)]
    except Exception as error:
        said = f"the replay fails: {first_line(error)}"
        return replace(unknown_replay(said, subject.varied), verdict="wrong-replay")
    known = measure(eager, replayed)
    tolerance = tolerance_of(known, subject.dtype)
    verdict, reason = _judge(known, drawn, tolerance)
    layer = None
    if verdict == "frozen-value" or (verdict in ("right", "wrong-replay") and any(known.apart)):
        worst = max(range(INPUTS), key=known.apart.__getitem__)
        layer, failed = _first_layer(subject, worst, state)
        if layer is not None and verdict == "right":
            verdict = "wrong-replay"  # a layer alone shows more than the logits behind it
        if failed is not None:
            reason = "; ".join(filter(None, (reason, failed)))
        elif layer is None and verdict == "wrong-replay":
            verdict, reason = "unknown", _NO_LAYER.format(max(known.apart))
    return ReplayCheck(
        verdict=verdict,
        inputs=INPUTS,
        varied=subject.varied,
        differing=sum(apart > tolerance for apart in known.apart),
        max_abs_diff=_finite(max(known.apart)),
        eager_spread=_finite(known.spread),
        tolerance=_finite(tolerance),
        reason=reason,
        **place_of_layer(layer),
    )


def _judge(
    known: Distances, drawn: float | None, tolerance: float
) -> tuple[ReplayVerdict, str | None]:
    """The verdict and, where it needs one, its reason."""
    if not math.isfinite(known.scale):
        return "unknown", "the eager step's outputs are not finite"
    if known.moves == 0:
        return "unknown", "the eager step's outputs are the same for every input"
    wrong = max(known.apart) > tolerance
    verdict: ReplayVerdict = "wrong-replay" if wrong else "right"
    # Noise of kernels is not kept from replays: eager that always differs from itself beside
    # replays that never do has a state that they have not.
    if known.spread <= tolerance and not (known.always and known.repeat == 0):
        return verdict, None
    differs = f"eager differs from itself by {known.spread:.3g} on the same input"
    if drawn is not None and drawn < known.spread / AS_NOISE:
        return "unknown", f"the step draws random numbers: {differs}"
    if known.repeat == 0:
        said = "and replays do not: what Python changes from step to step stays as captured"
        return "frozen-value", f"{differs}, {said}"
    return ("unknown", f"{differs}, and so do replays") if wrong else (verdict, None)


def _twice(subject: Subject, step: Callable[[], Any], index: int) -> tuple[Any, Any]:
    return subject.run(step, index), subject.run(step, index)


def _drawn_spread(subject: Subject) -> float | None:
    """How far eager is from itself with the same random numbers; None where it draws none."""
    import torch

    generator = torch.cuda if subject.device == "cuda" else torch

    def seeded() -> Any:
        generator.manual_seed(_SEED)
        return subject.run(subject.eager, INPUTS - 1)

    first = seeded()
    drawn = generator.get_rng_state()
    generator.manual_seed(_SEED)
    if torch.equal(drawn, generator.get_rng_state()):
        return None
    return distance(first, seeded())


def _first_layer(
    subject: Subject, index: int, state: list[tuple[Any, Any]]
) -> tuple[Layer | None, str | None]:
    """The first layer whose output differs on an input, or why it could not be looked for."""
    if subject.capture_again is None:
        return None, "its layers were not looked at"
    other = (index + 1) % INPUTS

    def run(step: Callable[[], Any], which: int) -> Any:
        _restore(state)
        return subject.run(step, which)

    try:
        layer = find_first_difference(
            subject.model,
            eager=lambda: run(subject.eager, index),
            between=lambda: run(subject.eager, other),
            capture=subject.capture_again,
            replay=lambda step: run(step, index),
            allowed=lambda dtype: ROUNDINGS.get(dtype, 0),
        )
    except Exception as error:  # the difference is known without it
        return None, f"its layers could not be looked at: {first_line(error)}"
    return layer, None


def _buffers(model: Any) -> list[tuple[Any, Any]]:
    """A model's buffers, and copies of them."""
    return [(buffer, buffer.clone()) for buffer in model.buffers()]


def _restore(state: list[tuple[Any, Any]]) -> None:
    for buffer, kept in state:
        buffer.copy_(kept)


def _last(logits: Any) -> Any:
    return logits[:, -1] if logits.dim() > 2 else logits


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
