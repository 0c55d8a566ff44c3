"""``launchlens scrub TRACE OUT``: a copy of a trace without secrets, fit to be shared."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from launchlens.errors import TraceError, UsageError


def scrub(
    trace: Annotated[Path, typer.Argument(help="An nsys SQLite export (plain, .gz, .xz, .zst).")],
    out: Annotated[Path, typer.Argument(help="The copy to write; a name in .xz compresses it.")],
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it exists.")] = False,
) -> None:
    """Write a copy without environment, command lines, paths, host, user and output.

    Exports hold all of these, the environment three times over. Every figure stays the same.
    """
    if out.exists() and (not force or out.samefile(trace)):
        raise UsageError(f"{out} exists already.", hint="Choose another name, or give --force.")
    from launchlens.trace import find_secrets, scrub_trace

    plain = out.with_suffix("") if out.suffix == ".xz" else out
    plain = plain.with_name(f".{plain.name}.part")
    try:
        scrub_trace(trace, plain)
        left = find_secrets(plain)
        if left:
            raise TraceError(
                f"{trace} still shows {', '.join(left[:3])} after scrubbing; nothing was written.",
                hint="Please report this, without the trace.",
            )
        _finish(plain, out)
    finally:
        plain.unlink(missing_ok=True)
    sys.stderr.write(f"wrote {out} ({out.stat().st_size:,} bytes)\n")


def _finish(plain: Path, out: Path) -> None:
    if out.suffix != ".xz":
        plain.replace(out)
        return
    import lzma
    import shutil

    with plain.open("rb") as source, lzma.open(out, "wb", preset=9) as packed:
        shutil.copyfileobj(source, packed)
