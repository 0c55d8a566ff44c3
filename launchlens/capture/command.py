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
}
_OURS_ALONE = ("--output", "--force-overwrite", "--export", "--stats")

# With thresholds of 0 ns: the default of 80 µs would leave out short synchronizing calls.
_BACKTRACES = "memory:0,sync:0"


@dataclass(frozen=True, slots=True)
class Tracing:
    """What nsys is to trace.

    Attributes:
        cuda: CUDA and NVTX from cudaProfilerStart to cudaProfilerStop; otherwise NVTX alone, from
            the program's beginning to its end.
        graphs: CUDA graphs node by node or as whole spans; None where the program launches none.
        stacks: whether synchronizing and memory calls get their call stacks.
        extra: options of nsys from the user; they replace ours of the same name.
    """

    cuda: bool = True
    graphs: GraphTrace | None = None
    stacks: bool = False
    extra: Sequence[str] = ()


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
    if tracing.cuda:
        options |= {"--capture-range": "cudaProfilerApi", "--capture-range-end": "stop"}
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
