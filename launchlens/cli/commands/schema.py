"""``launchlens schema``: the JSON Schema of what a command prints."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from launchlens import serialize
from launchlens.cli.options import OutputOption
from launchlens.cli.output import write


def schema(
    kind: Annotated[
        str, typer.Argument(metavar="KIND", help=f"{', '.join(serialize.KINDS)}.")
    ] = "analysis",
    output: OutputOption = None,
) -> None:
    """Print the JSON Schema of what a command prints with --format json."""
    write(json.dumps(serialize.schema(kind), indent=1) + "\n", output)
