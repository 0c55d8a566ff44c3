"""What a machine lacks for profiling, as a document."""

from __future__ import annotations

from collections.abc import Sequence

from launchlens.plural import counted
from launchlens.records.doctor import Check, DoctorReport
from launchlens.report.document import Checks, Document, Section, Text


def doctor_document(report: DoctorReport) -> Document:
    """All checks, then whether the machine is ready."""
    blocks = (checks_block(report.checks), Text((readiness(report.checks),)))
    return Document(
        kind="doctor",
        title="launchlens: is this machine ready to profile?",
        sections=(Section("checks", "Checks", blocks),),
        record=report,
    )


def checks_block(checks: Sequence[Check]) -> Checks:
    """Each check with what to do about it."""
    return Checks(
        tuple(
            (c.status, f"{c.name}: {c.detail}", "" if c.status == "ok" else c.remedy)
            for c in checks
        )
    )


def readiness(checks: Sequence[Check]) -> str:
    """Whether the machine is ready to profile."""
    failed = sum(check.status == "fail" for check in checks)
    warned = sum(check.status == "warn" for check in checks)
    if failed:
        return f"Not ready to profile: {failed} of {counted(len(checks), 'check')} failed."
    return "Ready to profile" + (f", with {counted(warned, 'warning')}." if warned else ".")
