"""What a replay check says of a captured step, as a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from launchlens.blockers.hits import source_text
from launchlens.blockers.rules import rules
from launchlens.records.figures import Finding

if TYPE_CHECKING:
    from launchlens.protocol.replay import ReplayCheck
    from launchlens.protocol.step import StepPhase


def find_in_replays(check: ReplayCheck, phase: StepPhase | None = None) -> tuple[Finding, ...]:
    """The finding of the rule that a check's verdict means; none where replays are right."""
    rule = next((rule for rule in rules() if rule.replays == check.verdict), None)
    if rule is None:
        return ()
    name = check.source.rpartition(":")[0] if check.source else None
    lines = (check.line,) if name and check.line is not None else ()
    title = f"replays {rule.on_replay}"
    return (
        Finding(
            rule=rule.id,
            confidence="confirmed",
            title=f"{title}, from {check.module} on" if check.module else title,
            count_per_step=1.0,
            stable=True,
            bytes=None,
            kinds=None,
            source=source_text(name, lines),
            stack=(),
            host_ns=None,
            idle_ns=None,
            position=None,
            remedy=rule.remedy,
            note=_note(check),
            phase=phase,
            silent=rule.silent,
            file=name if lines else None,
            lines=lines,
        ),
    )


def _note(check: ReplayCheck) -> str:
    """How far replays are off, on how many inputs, and in which layer first."""
    parts = []
    if check.differing is not None:
        apart = "" if check.max_abs_diff is None else f": by up to {check.max_abs_diff:.3g}"
        allowed = "" if check.tolerance is None else f" (rounding explains {check.tolerance:.3g})"
        varied = ", ".join(check.varied)
        parts.append(
            f"On {check.differing} of {check.inputs} inputs ({varied}) the last logits differ by "
            f"more than rounding{apart}{allowed}."
        )
    if check.module is not None:
        kind = f" ({check.module_class})" if check.module_class else ""
        parts.append(f"The first layer whose output differs is {check.module}{kind}.")
    if check.reason is not None:
        parts.append(f"{check.reason[0].upper()}{check.reason[1:]}.")
    return " ".join(parts)
