"""The replay checks of a capture attempt and of a prepared variant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from launchlens.harness.attempt import PatchableStep, capture_graph, make_step
from launchlens.harness.failures import first_line
from launchlens.harness.inputs import DECODE, PREFILL, StepInputs
from launchlens.harness.other_inputs import varied_parts, with_masks, write_input
from launchlens.harness.replay import Subject, check_replays
from launchlens.harness.session import Session
from launchlens.harness.variants.base import forward_call
from launchlens.protocol.replay import ReplayCheck
from launchlens.protocol.step import StepPhase

_WRONG = ("wrong-replay", "frozen-value")


def check_attempt(
    step: PatchableStep,
    inputs: StepInputs,
    dtype: str,
    patched: tuple[str, ...],
    replay: Callable[[], Any],
) -> ReplayCheck:
    """Replays of a captured prefill step beside the eager one, both with the same lines patched.

    If they are right, the step is captured once more with a mask and positions, so that lengths
    change too; where that cannot be captured, the answer holds for tokens alone and says so.
    """

    def check(
        one: PatchableStep, arguments: dict[str, Any], replayed: Callable[[], Any]
    ) -> ReplayCheck:
        lines = set(patched)
        vocabulary = _vocabulary(one.model)
        return check_replays(
            Subject(
                model=one.model,
                device=one.context.device,
                dtype=dtype,
                eager=lambda: one.run(lines),
                replay=replayed,
                set_input=lambda i: write_input(inputs, arguments, PREFILL, vocabulary, i),
                varied=varied_parts(arguments, PREFILL),
                capture_again=lambda: one.capture(lines, mode="relaxed")[0],
            )
        )

    plain = check(step, inputs.prefill, replay)
    masked = with_masks(step.model, inputs.prefill)
    if plain.verdict != "right" or masked is None:
        return plain
    try:
        forward = forward_call(step.model, masked)
        other = make_step(step.model, forward, step.context, step.capture_with)
        beside = check(other, masked, other.capture(set(patched))[0])
    except Exception as error:
        reason = f"with a mask and positions the step was not captured: {first_line(error)}"
        return replace(plain, reason=reason)
    if beside.verdict in _WRONG:
        return beside
    if beside.verdict == "unknown":
        return replace(plain, reason=f"with a mask and positions {beside.reason}")
    return replace(
        beside,
        inputs=plain.inputs + beside.inputs,
        max_abs_diff=max(plain.max_abs_diff or 0.0, beside.max_abs_diff or 0.0),
        eager_spread=max(plain.eager_spread or 0.0, beside.eager_spread or 0.0),
        tolerance=max(plain.tolerance or 0.0, beside.tolerance or 0.0),
    )


def check_prepared(session: Session) -> dict[StepPhase, ReplayCheck]:
    """The same for the phases that a variant captured, beside the plain forward call."""
    checks: dict[StepPhase, ReplayCheck] = {}
    vocabulary = _vocabulary(session.model)
    for phase, prepared in session.prepared.items():
        if prepared.kind != "eager":
            checks[phase] = check_replays(_prepared_subject(session, phase, vocabulary))
    return checks


def _prepared_subject(session: Session, phase: StepPhase, vocabulary: int) -> Subject:
    inputs = session.inputs
    arguments = inputs.decode if phase == DECODE else inputs.prefill
    assert arguments is not None
    forward = forward_call(session.model, arguments)
    last = not session.spec.equivalence_dtypes

    def capture_again() -> Callable[[], Any]:
        return capture_graph(forward, mode="relaxed")

    return Subject(
        model=session.model,
        device=session.device,
        dtype=session.spec.dtype,
        eager=forward,
        replay=session.prepared[phase].step,
        set_input=lambda i: write_input(inputs, arguments, phase, vocabulary, i),
        varied=varied_parts(arguments, phase),
        # A second capture that fails may leave torch's generator broken, which further models need.
        capture_again=capture_again if last and session.variant.one_graph else None,
    )


def _vocabulary(model: Any) -> int:
    return int(model.config.get_text_config(decoder=True).vocab_size)
