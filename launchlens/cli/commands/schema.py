"""``launchlens schema``: the JSON Schema of what a command prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from launchlens import serialize
from launchlens.cli.complete import complete_kind
from launchlens.cli.output import write


def schema(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help=f"{', '.join(serialize.KINDS)}.",
            autocompletion=complete_kind,
        ),
    ] = "analysis",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the schema to this file."),
    ] = None,
) -> None:
    """Print the JSON Schema of what --format json prints."""
    write(json.dumps(serialize.schema(kind), indent=1) + "\n", output)
