"""From an nsys report to the SQLite file that launchlens reads."""

from __future__ import annotations

import shlex
import tempfile
from pathlib import Path

from launchlens.capture.find import Nsys
from launchlens.capture.importer import run_importer
from launchlens.capture.process import read_output
from launchlens.errors import CaptureError, reason_of

EXPORT_TIMEOUT_S = 600.0


def export_sqlite(
    report: Path,
    out: Path,
    nsys: Nsys | None,
    *,
    include_blobs: bool = False,
    timeout_s: float = EXPORT_TIMEOUT_S,
) -> Path:
    """Exports a report to SQLite, and returns ``out``, which appears only once it is whole.

    The report's folder is not written to, unless ``out`` lies in it.

    Args:
        report: a .nsys-rep, or a .qdstrm, which is imported in a temporary folder first.
        out: the SQLite file to write; an older one is replaced.
        nsys: what `find_nsys` returned; None when there is none.
        include_blobs: whether NVTX payloads are kept; ignored by versions that always or never
            keep them.
        timeout_s: limit in seconds.

    Raises:
        CaptureError: no nsys, no such report, or the export failed.
    """
    if not report.is_file():
        raise CaptureError(f"There is no report {report}.")
    if nsys is None:
        raise CaptureError(
            f"{report} has to be exported to SQLite first, and there is no nsys here.",
            hint=f"Where nsys is installed, run: {export_command_line(report)}",
        )
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".launchlens-", dir=out.parent) as folder:
            if report.suffix == ".qdstrm":
                imported = Path(folder, f"{report.stem}.nsys-rep")
                report = run_importer(nsys.importer, report, imported, timeout_s=timeout_s)
            partial = Path(folder, "export.sqlite")
            command = ["export", "--type=sqlite", "--force-overwrite=true", f"--output={partial}"]
            if include_blobs and nsys.offers("--include-blobs"):
                command.append("--include-blobs=true")
            said = read_output([nsys.path, *command, report.absolute()], timeout_s=timeout_s)
            if said.exit_code != 0 or not partial.is_file() or partial.stat().st_size == 0:
                raise CaptureError(
                    f"nsys {nsys.version_text} could not export {report}: {said.last_line}",
                    hint="A report needs an nsys at least as new as the one that recorded it.",
                )
            return partial.replace(out)
    except OSError as error:
        raise CaptureError(
            f"{out.parent} cannot be written to: {reason_of(error)}.",
            hint="Free space there or choose another folder.",
        ) from error


def export_command_line(report: Path) -> str:
    """The command that exports a report by hand, to be run where nsys is."""
    target = report.with_suffix(".sqlite")
    return shlex.join(["nsys", "export", "--type", "sqlite", "--output", str(target), str(report)])
