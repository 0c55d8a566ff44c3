"""A format that nobody uses: a JSON file of ranges, and of calls with what they ran on the GPU."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from launchlens.errors import TraceError
from launchlens.trace.interface import TraceFile, TraceFormat, describe

if TYPE_CHECKING:
    from launchlens.records.columns import Trace


class Beads(TraceFormat):
    """One process with one thread on one GPU; a bead is [name, start, end] in nanoseconds."""

    name = "beads"
    title = "Beads"
    suffixes = (".beads",)

    def sniff(self, file: TraceFile) -> bool:
        return file.head.startswith(b'{"beads"')

    def read(self, file: TraceFile) -> Trace:
        from launchlens.trace.formats.beads.columns import columns

        from launchlens.records.recorder import Need, Recorder

        try:
            content = json.loads(file.path.read_bytes())
        except ValueError as error:
            raise TraceError(f"{file.named} is a damaged Beads file: {error}.") from error
        return columns(
            content,
            describe(version=content["beads"], gpu="Abacus 9"),
            Recorder({Need.CALLS: "thread it again with all beads"}),
        )


FORMAT = Beads()
