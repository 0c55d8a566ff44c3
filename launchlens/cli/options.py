"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from launchlens.cli.complete import complete_condition, complete_format, complete_model
from launchlens.render import format_named, names_for

PhaseChoice = StrEnum("PhaseChoice", ["prefill", "decode", "mixed", "unknown", "all"])
DeviceChoice = StrEnum("DeviceChoice", ["auto", "cuda", "cpu"])
GraphTrace = StrEnum("GraphTrace", ["node", "graph", "both"])
RunGraphTrace = StrEnum("RunGraphTrace", ["node", "graph"])


class Weights(StrEnum):
    """Where weights come from."""

    random = "random"
    pretrained = "pretrained"


class Dtype(StrEnum):
    """Precision of weights and activations."""

    bfloat16 = "bfloat16"
    float16 = "float16"
    float32 = "float32"


def format_option(kind: str) -> Any:
    """``--format`` of a command: the formats that can write its kind of document.

    None where it is not given: `launchlens.cli.output.choose_format` finds one.
    """
    names = names_for(kind)

    def check(name: str) -> str:
        found = format_named(name, kind)
        if found is None:
            raise typer.BadParameter(f"{name!r} is not one of {', '.join(map(repr, names))}.")
        return found.name

    *others, last = names
    return typer.Option(
        "--format",
        "-f",
        help=f"{', '.join(others)} or {last}; else what the suffix of --output says.",
        metavar="FORMAT",
        parser=check,
        autocompletion=complete_format(names),
    )


OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the report to this file; its suffix chooses the format.",
    ),
]
PhaseOption = Annotated[
    PhaseChoice,
    typer.Option(
        "--phase",
        metavar="PHASE",
        help=f"Only steps of this phase: {', '.join(PhaseChoice)}.",
    ),
]
StepOption = Annotated[
    str | None,
    typer.Option(
        "--step",
        metavar="REGEX",
        help="Ranges that are steps, instead of the known engines' names. Their text tells the "
        "phase, as in '^prefill', or a group (?P<phase>…).",
    ),
]
SkipOption = Annotated[
    int, typer.Option("--skip", metavar="N", min=0, help="Drop the first N steps of each group.")
]
WholeOption = Annotated[
    bool, typer.Option("--whole", help="Read the trace as one window: for traces without ranges.")
]
VerboseOption = Annotated[
    bool, typer.Option("--verbose", "-v", help="All metrics, tables and provenance.")
]
QuietOption = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", help="Only the report and errors: no progress, no notes of files written."
    ),
]
FailOnOption = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-on",
        metavar="CONDITION",
        help="Exit with 3 if it holds: 'launches>+0', 'idle>+2pp', 'window_ns>+5%', blockers. "
        "May be given several times.",
        autocompletion=complete_condition,
    ),
]
NsysOption = Annotated[
    Path | None,
    typer.Option("--nsys", metavar="FILE", help="The nsys to use, instead of the newest found."),
]
RunsOption = Annotated[
    Path | None,
    typer.Option(
        "--runs", metavar="FOLDER", help="Folder of stored runs.", envvar="LAUNCHLENS_RUNS"
    ),
]

ModelOption = Annotated[
    str,
    typer.Option(
        "--model",
        "-m",
        metavar="MODEL",
        help="A preset, a Hugging Face hub id, or a local folder.",
        autocompletion=complete_model,
    ),
]
WeightsOption = Annotated[
    Weights,
    typer.Option(
        "--weights",
        metavar="KIND",
        help="random, of the true architecture, or pretrained.",
    ),
]
TextOnlyOption = Annotated[
    bool, typer.Option("--text-only", help="Build only the language model of a multimodal one.")
]
LayersOption = Annotated[
    int | None,
    typer.Option("--layers", metavar="N", min=1, help="Shorten the model to N layers, and say so."),
]
IslOption = Annotated[
    int, typer.Option("--isl", metavar="N", min=1, help="Input tokens of a request.")
]
BatchOption = Annotated[
    int, typer.Option("--batch", metavar="N", min=1, help="Sequences in a step.")
]
DtypeOption = Annotated[
    Dtype, typer.Option("--dtype", metavar="DTYPE", help=f"Precision: {', '.join(Dtype)}.")
]
PatchOption = Annotated[
    Path | None,
    typer.Option(
        "--patch", metavar="FILE", help="A Python file applied before the model is built."
    ),
]
DeviceOption = Annotated[
    DeviceChoice,
    typer.Option(
        "--device", metavar="DEVICE", help="auto, cuda, or cpu, which traces NVTX ranges only."
    ),
]
RoundsOption = Annotated[
    int,
    typer.Option(
        "--rounds",
        metavar="N",
        min=1,
        help="Processes in which each variant is timed untraced, in turns.",
    ),
]
TimeoutOption = Annotated[
    float,
    typer.Option("--timeout", metavar="SECONDS", min=1, help="Seconds for each child process."),
]
ExportTimeoutOption = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        min=1,
        help="Seconds for nsys to export a .nsys-rep (600).",
    ),
]
