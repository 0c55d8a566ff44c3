"""torch.profiler: the Chrome trace JSON that Kineto writes (`export_chrome_trace`, handlers)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from launchlens.errors import TraceError
from launchlens.trace.interface import Excerpt, TraceFile, TraceFormat

if TYPE_CHECKING:
    from launchlens.records.columns import Trace
    from launchlens.records.launch_sizes import LaunchSizes
    from launchlens.records.stacks import Stacks

_LOOKED_THROUGH = 1 << 20
# A name of a key, not a word of a text: within a text its quotes would stand behind backslashes.
_OWN_KEY = re.compile(rb'"(?:traceEvents|schemaVersion)"\s*:')
_BEGIN = re.compile(rb"(?:\xef\xbb\xbf)?\s*\{")
_EXPORTED = b'{"displayTimeUnit":"ns","otherData":{"steps":[{"side":'
"""How `export --perfetto` begins, which draws a step and is no recording."""


class KinetoFormat(TraceFormat):
    """JSON of torch 2.1 and later, of NVIDIA's GPUs and AMD's."""

    name = "kineto"
    title = "torch.profiler"
    suffixes = (".json",)
    endings = (r"\.pt\.trace", r"\.torch\d[\d.]*")
    hint = "With torch.profiler: prof.export_chrome_trace(FILE) writes a trace."

    def sniff(self, file: TraceFile) -> bool:
        """A JSON object with ``traceEvents``, or that begins as Kineto's do; not our own export."""
        if not _BEGIN.match(file.head) or file.head.startswith(_EXPORTED):
            return False
        with file.path.open("rb") as source:
            return _OWN_KEY.search(source.read(_LOOKED_THROUGH)) is not None

    def read(self, file: TraceFile) -> Trace:
        """See `reader.read_json`."""
        from launchlens.trace.formats.kineto.reader import read_json

        return read_json(file)

    def stacks(self, file: TraceFile) -> Stacks:
        """See `stacks.read_call_stacks`."""
        from launchlens.trace.formats.kineto.stacks import read_call_stacks

        return read_call_stacks(file)

    def sizes(self, file: TraceFile) -> LaunchSizes:
        """See `sizes.read_launch_sizes`."""
        from launchlens.trace.formats.kineto.sizes import read_launch_sizes

        return read_launch_sizes(file)

    def scrub(self, file: TraceFile, out: Path, excerpt: Excerpt | None) -> None:
        """See `scrub.scrub_json`; steps cannot be cut out yet."""
        if excerpt is not None:
            raise TraceError(
                f"{file.named} is a trace of {self.title}, of which launchlens cuts out no steps.",
                hint="Scrub the whole trace, or record fewer steps.",
            )
        from launchlens.trace.formats.kineto.scrub import scrub_json

        scrub_json(file, out)

    def secrets(self, file: TraceFile) -> list[str]:
        """See `scrub.find_secrets`."""
        from launchlens.trace.formats.kineto.scrub import find_secrets

        return find_secrets(file)


FORMAT = KinetoFormat()
