"""Nsight Systems: the SQLite file that ``nsys export`` writes. Owner of every SQL on one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from launchlens.errors import CaptureError, TraceError
from launchlens.trace.formats.nsys.damage import undamaged
from launchlens.trace.formats.nsys.left import find_secrets
from launchlens.trace.formats.nsys.schema import has_nsys_tables
from launchlens.trace.formats.nsys.scrub import scrub_export
from launchlens.trace.formats.nsys.sizes import read_sizes
from launchlens.trace.formats.nsys.source import (
    EXPORT_HINT,
    REPORT_SUFFIXES,
    SQLITE_MAGIC,
    check_header,
)
from launchlens.trace.formats.nsys.stacks import read_stacks
from launchlens.trace.interface import Excerpt, TraceFile, TraceFormat

if TYPE_CHECKING:
    from launchlens.records.columns import Trace
    from launchlens.records.launch_sizes import LaunchSizes
    from launchlens.records.stacks import Stacks


class NsysFormat(TraceFormat):
    """SQLite exports of nsys, any version with export schema 3; reports are exported first."""

    name = "nsys"
    title = "Nsight Systems"
    suffixes = (".sqlite", ".sqlite3")
    endings = (r"\.db", r"\.nsys\d[\d.]*", r"\.(?:node|graph)")
    reports = REPORT_SUFFIXES
    signature = SQLITE_MAGIC
    hint = EXPORT_HINT

    def sniff(self, file: TraceFile) -> bool:
        """SQLite with any of nsys's tables; a report too, which reading refuses in its words."""
        if file.path.suffix not in REPORT_SUFFIXES and not file.head.startswith(SQLITE_MAGIC):
            return False
        try:
            check_header(file)
        except TraceError:
            return True
        return has_nsys_tables(file.path)

    def read(self, file: TraceFile) -> Trace:
        """See `reader.read_export`."""
        from launchlens.trace.formats.nsys.reader import read_export

        with undamaged(file):
            return read_export(file)

    def stacks(self, file: TraceFile) -> Stacks:
        """See `stacks.read_stacks`."""
        return read_stacks(file)

    def sizes(self, file: TraceFile) -> LaunchSizes:
        """See `sizes.read_sizes`."""
        return read_sizes(file)

    def scrub(self, file: TraceFile, out: Path, excerpt: Excerpt | None) -> None:
        """See `scrub.scrub_export`."""
        with undamaged(file, tables=None):
            scrub_export(file, out, excerpt)

    def secrets(self, file: TraceFile) -> list[str]:
        """See `left.find_secrets`."""
        return find_secrets(file)

    def export(self, report: Path, folder: Path, tool: Path | None, timeout_s: float) -> Path:
        """Export a report with nsys, which ``tool`` names or which is searched for."""
        from launchlens.capture import NSYS_VARIABLE, export_sqlite, find_nsys

        try:
            nsys = find_nsys(tool)
        except CaptureError:
            if tool is not None or os.environ.get(NSYS_VARIABLE):
                raise
            nsys = None
        return export_sqlite(report, folder / "trace.sqlite", nsys, timeout_s=timeout_s)


FORMAT = NsysFormat()
