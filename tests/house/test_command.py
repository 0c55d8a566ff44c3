"""A command is one file in cli/commands: the program, its help and the documentation have it."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
TRACE = ROOT / "traces/gemma-4-e4b-eager.nsys2025.3.sqlite.xz"
STEPS = 8
"""Steps of that trace, as its card says."""

COMMAND = '''
"""``launchlens count``: how many steps a trace holds."""

from pathlib import Path

import typer


def count(trace: Path) -> None:
    """Count the steps of a trace."""
    from launchlens.workflow.load import Choices, load

    typer.echo(f"{len(load(trace, Choices()).analysis.steps)} steps")
'''


def test_the_program_has_it(house):
    house.add("cli/commands/count.py", COMMAND.lstrip())
    assert house.touched == ["cli/commands/count.py"]
    assert "Count the steps of a trace." in house.run("--help")
    assert house.run("count", TRACE) == f"{STEPS} steps\n"
    assert "no such file" in house.fails("count", "no.sqlite")
    script = f"import sys; sys.path.insert(0, {str(ROOT / 'docs')!r}); import generate; "
    listed = house.python("-c", script + "generate.out = print; generate.command_table()")
    assert "count" in listed.stdout, listed.stderr
