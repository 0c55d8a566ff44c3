"""``launchlens scrub TRACE OUT``: a copy of a trace without secrets, fit to be shared."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from launchlens.cli.options import StepOption
from launchlens.cli.standard_input import received_file
from launchlens.errors import LaunchlensError, UsageError, reason_of
from launchlens.streams import note
from launchlens.workflow.sharing import StepNumbers


def _step_numbers(text: str) -> StepNumbers:
    match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", text)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
    if last < first:
        raise typer.BadParameter(f"{text!r} is not of the form A-B, such as 0-4.")
    return StepNumbers(first, last)


def scrub(
    trace: Annotated[
        Path,
        typer.Argument(
            metavar="TRACE", help="An nsys export or torch.profiler JSON (also packed), or -."
        ),
    ],
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="The copy to write; a name in .xz compresses it.")
    ],
    steps: Annotated[
        StepNumbers | None,
        typer.Option(
            "--steps",
            metavar="A-B",
            parser=_step_numbers,
            help="Only these steps, numbered from 0 as analyze --verbose does: a small file.",
        ),
    ] = None,
    step: StepOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it exists.")] = False,
) -> None:
    """Write a copy of a trace without secrets, fit to be shared.

    Exports hold environment (three times over), command lines, paths, host, user and output: all
    of these go, and every figure stays the same.
    """
    if out.exists() and (not force or (trace.exists() and out.samefile(trace))):
        raise UsageError(f"{out} exists already.", hint="Choose another name, or give --force.")
    if out.is_dir() or not out.parent.is_dir():
        raise UsageError(f"{out} cannot be written: it is a folder, or in one that is not there.")
    from launchlens.workflow.sharing import write_shareable

    plain = out.with_suffix("") if out.suffix == ".xz" else out
    plain = plain.with_name(f".{plain.name}.part")
    try:
        write_shareable(received_file(trace), plain, steps=steps, step=step)
        _finish(plain, out)
    except OSError as error:
        raise LaunchlensError(f"{out} cannot be written: {reason_of(error)}.") from error
    finally:
        plain.unlink(missing_ok=True)
    note(f"wrote {out} ({out.stat().st_size:,} bytes)")


def _finish(plain: Path, out: Path) -> None:
    if out.suffix != ".xz":
        plain.replace(out)
        return
    import lzma
    import shutil

    part = out.with_name(f".{out.name}.part")
    try:
        with plain.open("rb") as source, lzma.open(part, "wb", preset=9) as packed:
            shutil.copyfileobj(source, packed)
        part.replace(out)
    finally:
        part.unlink(missing_ok=True)
