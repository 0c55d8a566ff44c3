"""The command line of `nsys profile`, for every version of nsys."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from launchlens.capture.find import Nsys
from launchlens.errors import CaptureError, UsageError

GraphTrace = Literal["node", "graph"]

# Our own options in the spelling users may pass through --nsys-arg.
_LONG = {
    "-t": "--trace",
    "-s": "--sample",
    "-c": "--capture-range",
    "-o": "--output",
    "-f": "--force-overwrite",
    "-d": "--duration",
    "-y": "--delay",
    "-p": "--nvtx-capture",
    "-e": "--env-var",
}
_OURS_ALONE = ("--output", "--force-overwrite", "--export", "--stats")

CUDA_PROFILER = "cudaProfilerApi"

# With thresholds of 0 ns: the default of 80 µs would leave out short synchronizing calls.
_BACKTRACES = "memory:0,sync:0"


@dataclass(frozen=True, slots=True)
class Window:
    """When a recording begins and ends.

    Attributes:
        range: "cudaProfilerApi" or "nvtx": it begins and ends with such a range; None: it does not
            wait for any.
        nvtx: text of the NVTX range, in any domain.
        delay_s: seconds from the program's start to the recording's.
        duration_s: seconds after which it ends, while the program goes on; None: with the program.
    """

    range: str | None = None
    nvtx: str = ""
    delay_s: float = 0.0
    duration_s: float | None = None

    @property
    def environment(self) -> dict[str, str]:
        """Variables without which nsys never sees its beginning.

        nsys compares registered strings alone unless told otherwise; torch registers none.
        """
        return {"NSYS_NVTX_PROFILER_REGISTER_ONLY": "0"} if self.range == "nvtx" else {}


@dataclass(frozen=True, slots=True)
class Tracing:
    """What nsys is to trace.

    Attributes:
        cuda: CUDA and NVTX; otherwise NVTX alone.
        graphs: CUDA graphs node by node or as whole spans; None where the program launches none.
        stacks: whether synchronizing and memory calls get their call stacks.
        extra: options of nsys from the user; they replace ours of the same name.
        window: what begins and ends the recording; None is from cudaProfilerStart to
            cudaProfilerStop with CUDA, and the whole program without.
    """

    cuda: bool = True
    graphs: GraphTrace | None = None
    stacks: bool = False
    extra: Sequence[str] = ()
    window: Window | None = None

    @property
    def range(self) -> str | None:
        """The range whose start begins the recording, as nsys calls its kind; None: none does."""
        if self.window is None:
            return CUDA_PROFILER if self.cuda else None
        return self.window.range


def profile_arguments(
    nsys: Nsys, tracing: Tracing, *, output: Path, program: Sequence[str]
) -> list[str]:
    """The arguments that record a program, nsys itself first.

    Options that this nsys lacks are left out, but never the graph mode: where the default mode
    exports no graph work, node-level tracing is asked for. ``output`` has no suffix.

    Raises:
        CaptureError: this nsys cannot trace graphs in the mode asked for.
        UsageError: an extra option belongs to launchlens.
    """
    taken = _option_names(tracing.extra)
    for name in taken & set(_OURS_ALONE):
        raise UsageError(
            f"nsys's {name} cannot be passed on: launchlens chooses the files itself.",
            hint="Leave it out of --nsys-arg.",
        )
    options = {
        "--trace": "cuda,nvtx" if tracing.cuda else "nvtx",
        "--sample": "process-tree" if tracing.stacks else "none",
        "--cpuctxsw": "none",
        "--trace-fork-before-exec": "true",
        # Left to itself nsys waits for whatever the program leaves behind, compile workers say.
        "--wait": "primary",
    }
    options |= _window_options(tracing)
    if tracing.cuda:
        if mode := _graph_mode(nsys, tracing):
            options["--cuda-graph-trace"] = mode
        if tracing.stacks:
            options |= {"--cudabacktrace": _BACKTRACES, "--python-backtrace": "cuda"}
    optional = {"--cpuctxsw", "--trace-fork-before-exec", "--wait", "--python-backtrace"}
    ours = [
        f"{name}={value}"
        for name, value in options.items()
        if name not in taken and (name not in optional or nsys.offers(name))
    ]
    escaped = str(output).replace("%", "%%")  # nsys expands %p, %h and %q{NAME} in file names
    return [
        *(str(nsys.path), "profile"),
        *ours,
        *tracing.extra,
        *("--force-overwrite=true", f"--output={escaped}"),
        *program,
    ]


def _window_options(tracing: Tracing) -> dict[str, str]:
    """What makes nsys begin and end the recording; the program always goes on after it."""
    options: dict[str, str] = {}
    if tracing.range is not None:
        options |= {"--capture-range": tracing.range, "--capture-range-end": "stop"}
    window = tracing.window
    if window is None:
        return options
    if window.range == "nvtx":
        options["--nvtx-capture"] = f"{window.nvtx}@*"
    if window.delay_s:
        options["--delay"] = _seconds(window.delay_s)
    if window.duration_s is not None:
        options |= {"--duration": _seconds(window.duration_s), "--kill": "none"}
    return options


def _seconds(number: float) -> str:
    """Nsys takes whole seconds."""
    return str(max(1, round(number)))


def _graph_mode(nsys: Nsys, tracing: Tracing) -> str | None:
    """The value of --cuda-graph-trace, None to leave nsys's default."""
    passed = _value_of("--cuda-graph-trace", tracing.extra)
    asked = passed.split(":")[0] if passed else tracing.graphs
    if not nsys.default_graph_mode_loses_work:
        return tracing.graphs
    if asked == "graph":
        raise CaptureError(
            f"nsys {nsys.version_text} ({nsys.path}) traces whole graphs but exports nothing of "
            "them, so the GPU would look idle.",
            hint="Trace graphs node by node (--graph-trace node), or use nsys 2024.1 or newer.",
        )
    if passed or nsys.offers("--cuda-graph-trace"):
        return "node"
    if asked:
        raise CaptureError(
            f"nsys {nsys.version_text} ({nsys.path}) has no option --cuda-graph-trace, so graph "
            "work cannot be traced.",
            hint="Use nsys 2022.4 or newer.",
        )
    return None


def _option_names(extra: Iterable[str]) -> set[str]:
    """Long names of the options among nsys arguments: "-s", "--sample=none" -> "--sample"."""
    names = set()
    for word in extra:
        if re.match(r"--[a-z]", word):
            names.add(word.split("=", 1)[0])
        elif re.match(r"-[a-z]", word):
            names.add(_LONG.get(word[:2], word[:2]))
    return names


def _value_of(option: str, extra: Sequence[str]) -> str | None:
    """What an option among nsys arguments was given, after "=" or as the next word."""
    for word, following in itertools.pairwise([*extra, ""]):
        name, _, value = word.partition("=")
        if name == option:
            return value or following
    return None
