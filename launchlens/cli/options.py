"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from launchlens.render import names_for

TERMINAL = "terminal"
"""The format that is written if none is named."""


PhaseChoice = StrEnum("PhaseChoice", ["prefill", "decode", "mixed", "unknown", "all"])
DeviceChoice = StrEnum("DeviceChoice", ["auto", "cuda", "cpu"])
GraphTrace = StrEnum("GraphTrace", ["node", "graph", "both"])


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
    """``--format`` of a command: the formats that can write its kind of document."""
    names = names_for(kind)

    def check(name: str) -> str:
        if name not in names:
            raise typer.BadParameter(f"{name!r} is not one of {', '.join(map(repr, names))}.")
        return name

    *others, last = names
    return typer.Option(
        "--format",
        "-f",
        help=f"{', '.join(others)} or {last}." if others else f"{last}.",
        metavar=f"<{'|'.join(names)}>",
        parser=check,
    )


OutputOption = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write the report to this file.")
]
PhaseOption = Annotated[PhaseChoice, typer.Option("--phase", help="Only steps of this phase.")]
StepOption = Annotated[
    str | None,
    typer.Option(
        "--step",
        metavar="REGEX",
        help="Ranges that are steps, instead of the known engines' names; "
        "a group (?P<phase>…) states the phase.",
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
FailOnOption = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-on",
        metavar="CONDITION",
        help="Exit with 3 if it holds: 'launches>+0', 'idle>+2pp', 'window_ns>+5%', blockers. "
        "May be given several times.",
    ),
]
NsysOption = Annotated[
    Path | None, typer.Option("--nsys", help="The nsys to use, instead of the newest found.")
]
RunsOption = Annotated[
    Path | None, typer.Option("--runs", help="Folder of stored runs.", envvar="LAUNCHLENS_RUNS")
]

ModelOption = Annotated[
    str, typer.Option("--model", "-m", help="A preset, a Hugging Face hub id, or a local folder.")
]
WeightsOption = Annotated[
    Weights,
    typer.Option("--weights", help="Random weights of the true architecture, or real ones."),
]
TextOnlyOption = Annotated[
    bool, typer.Option("--text-only", help="Build only the language model of a multimodal one.")
]
LayersOption = Annotated[
    int | None, typer.Option("--layers", min=1, help="Shorten the model to N layers, and say so.")
]
IslOption = Annotated[int, typer.Option("--isl", min=1, help="Input tokens of a request.")]
BatchOption = Annotated[int, typer.Option("--batch", min=1, help="Sequences in a step.")]
DtypeOption = Annotated[Dtype, typer.Option("--dtype", help="Precision.")]
PatchOption = Annotated[
    Path | None,
    typer.Option("--patch", help="A Python file applied before the model is built."),
]
DeviceOption = Annotated[
    DeviceChoice, typer.Option("--device", help="cpu traces NVTX ranges only.")
]
RoundsOption = Annotated[
    int,
    typer.Option(
        "--rounds", min=1, help="Processes in which each variant is timed untraced, in turns."
    ),
]
TimeoutOption = Annotated[
    float, typer.Option("--timeout", min=1, help="Seconds for each child process.")
]
