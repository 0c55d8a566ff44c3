"""What a trace format offers to the door. A format is a folder of `launchlens.trace.formats`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from launchlens.errors import TraceError

if TYPE_CHECKING:
    from launchlens.records.columns import Trace
    from launchlens.records.figures import Diagnostic, TraceInfo
    from launchlens.records.launch_sizes import LaunchSizes
    from launchlens.records.stacks import Stacks

HEAD_BYTES = 100


@dataclass(frozen=True, slots=True)
class TraceFile:
    """A trace as a format sees it: uncompressed, never to be written to."""

    path: Path
    """Where its plain bytes lie: the user's own file, or a temporary copy of a compressed one."""
    named: Path
    """What the user named; messages speak of it."""
    head: bytes
    """Its first `HEAD_BYTES` bytes, fewer if it is shorter."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Some steps of a trace; all times on the trace's clock, in nanoseconds."""

    start_ns: int
    """Start of the first of them."""
    end_ns: int
    """End of the last window of them."""
    steps: tuple[tuple[int, int, int], ...]
    """Start and end of each step's range, and its `Thread.key`."""


class TraceFormat(ABC):
    """A trace format. Its folder's ``__init__`` holds an instance named ``FORMAT``.

    That module is imported whenever any trace is looked for: heavy imports belong into functions.
    """

    name: ClassVar[str]
    """One word, such as "nsys"; `TraceInfo.format`."""
    title: ClassVar[str]
    """What people call it, such as "Nsight Systems"."""
    suffixes: ClassVar[tuple[str, ...]]
    """Ends of its files' names, such as ".sqlite". They suggest a file; `sniff` decides."""
    endings: ClassVar[tuple[str, ...]] = ()
    """Regular expressions of what else a label leaves out at the end of a file name."""
    reports: ClassVar[tuple[str, ...]] = ()
    """Suffixes of files that `export` turns into a trace, such as ".nsys-rep"."""
    signature: ClassVar[bytes | None] = None
    """First bytes of its files. No report of launchlens replaces a file that begins so."""
    hint: ClassVar[str | None] = None
    """How to make a file of this format, in a sentence, for those whose file is none."""

    @abstractmethod
    def sniff(self, file: TraceFile) -> bool:
        """Whether a file has this format, by its contents; also true where it is damaged."""

    @abstractmethod
    def read(self, file: TraceFile) -> Trace:
        """Read a file into columns (see `describe` and `link.link_operations`).

        Raises:
            TraceError: it is damaged, incomplete, or of a version that is not known.
        """

    def stacks(self, file: TraceFile) -> Stacks:
        """Read the call stacks, which `ApiTable.callchain_id` and `Thread.key` refer to.

        Raises:
            TraceError: they cannot be read.
        """
        from launchlens.records.stacks import Stacks

        return Stacks()

    def sizes(self, file: TraceFile) -> LaunchSizes:
        """Read how large each launch, copy and memset was; empty where the format does not tell.

        Raises:
            TraceError: they cannot be read.
        """
        return {}

    def scrub(self, file: TraceFile, out: Path, excerpt: Excerpt | None) -> None:
        """Write a copy without what identifies machine, user or environment.

        With an ``excerpt`` it holds nothing but these steps and what their figures need.

        Raises:
            TraceError: the format cannot do that, or the file cannot be read.
        """
        raise TraceError(
            f"{file.named} is a trace of {self.title}, which launchlens cannot scrub.",
            hint="Look through it by hand before sharing it.",
        )

    def secrets(self, file: TraceFile) -> list[str]:
        """What still looks as if it should not be shared: a line for each suspicious value.

        Raises:
            TraceError: the format cannot tell, or the file cannot be read.
        """
        raise TraceError(f"{file.named} is a trace of {self.title}, which cannot be searched.")

    def export(self, report: Path, folder: Path, tool: Path | None, timeout_s: float) -> Path:
        """Turn a report (a file whose suffix is one of `reports`) into a trace within ``folder``.

        ``tool`` is the recorder's own program, where the user names one; it may take ``timeout_s``
        seconds.

        Raises:
            LaunchlensError: the program is missing or fails.
        """
        raise NotImplementedError


def describe(
    *,
    version: str | None = None,
    export_schema: str | None = None,
    gpu: str | None = None,
    driver: str | None = None,
    cuda_driver: str | None = None,
    graph_tracing: str | None = None,
    cuda_traced: bool | None = None,
    overhead_ns: int | None = None,
    diagnostics: tuple[Diagnostic, ...] = (),
    warnings: tuple[str, ...] = (),
) -> TraceInfo:
    """What a file tells of its recording; the door adds the file's own facts and the row counts.

    The arguments are fields of `TraceInfo`: ``version`` is the recorder's, ``overhead_ns`` the
    time that it spent on itself.
    """
    from launchlens.records.figures import TraceInfo

    return TraceInfo(
        file="",
        label="",
        sha256=None,
        nsys_version=version,
        export_schema=export_schema,
        gpu=gpu,
        driver=driver,
        cuda_driver=cuda_driver,
        graph_tracing=graph_tracing,
        cuda_traced=cuda_traced,
        api_calls=0,
        ops=0,
        unlinked_ops=0,
        profiler_overhead_ns=overhead_ns,
        diagnostics=diagnostics,
        warnings=warnings,
    )
