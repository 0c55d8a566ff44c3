"""`--format`: every command offers what there are writers for, and refuses the rest."""

from __future__ import annotations

import pytest
from stored_runs import EAGER

from launchlens.render import names_for

COMMANDS = {
    "analysis": (["analyze"], [EAGER]),
    "comparison": (["diff"], [EAGER, EAGER]),
    "blockers": (["blockers"], [EAGER]),
    "runs": (["runs", "list"], []),
    "run": (["runs", "show"], ["latest"]),
    "trend": (["runs", "trend"], ["launches"]),
    "limits": (["check"], ["launchlens.toml", EAGER]),
    "models": (["models"], []),
    "doctor": (["doctor"], ["--no-trial"]),
}


@pytest.mark.parametrize("kind", COMMANDS)
def test_help_and_refusal_name_the_formats_of_the_kind(cli, kind):
    command, arguments = COMMANDS[kind]
    names = names_for(kind)
    assert names[0] == "terminal"
    assert "json" in names
    said = " ".join(cli(*command, "--help")[1].split())
    assert f"--format <{'|'.join(names)}>" in said
    assert f"{', '.join(names[:-1])} or {names[-1]}." in said
    code, out, err = cli(*command, *arguments, "--format", "docx")
    assert (code, out) == (2, "")
    assert "'docx' is not one of 'terminal', 'markdown'" in " ".join(err.split())
