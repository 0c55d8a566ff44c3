"""What a run must not keep: the home folder and values of --env-var, in records and commands."""

from __future__ import annotations

from pathlib import Path

import handmade
import pytest

from launchlens import store
from launchlens.private import without_env_values, without_private
from launchlens.records.variant import Failure, VariantFacts

SECRET = "s3cr3t"
HOME = "/".join(("", "home", "jane"))


@pytest.fixture(autouse=True)
def _home(monkeypatch):
    monkeypatch.setenv("HOME", HOME)


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["--env-var=A=s3cr3t"], ["--env-var=A=…"]),
        (["--env-var=A=s3cr3t,B=s3cr3t"], ["--env-var=A=…,B=…"]),
        (["--env-var=A=x,s3cr3t y=z"], ["--env-var=A=…"]),
        (["--env-var", "A=s3cr3t", "B=2"], ["--env-var", "A=…", "B=2"]),
        (["-e", "A=s3cr3t"], ["-e", "A=…"]),
        (["-eA=s3cr3t"], ["-eA=…"]),
        (["--nsys-arg=--env-var=A=s3cr3t"], ["--nsys-arg=--env-var=A=…"]),
        (["--nsys-arg", "--env-var=A=s3cr3t"], ["--nsys-arg", "--env-var=A=…"]),
        (
            ["--nsys-arg", "-e", "--nsys-arg", "A=s3cr3t"],
            ["--nsys-arg", "-e", "--nsys-arg", "A=…"],
        ),
        (["--nsys-arg=-e", "--nsys-arg=A=s3cr3t"], ["--nsys-arg=-e", "--nsys-arg=A=…"]),
        (["--env-var=s3cr3t"], ["--env-var=…"]),
        (["python", "-m", "x", "--model", "a=b"], ["python", "-m", "x", "--model", "a=b"]),
    ],
)
def test_values_of_env_var_are_hidden(words, shown):
    assert without_env_values(words) == shown
    assert SECRET not in " ".join(without_env_values(words))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"{HOME}/m.py:3", "~/m.py:3"),
        (f"see {HOME}, or '{HOME}/x'", "see ~, or '~/x'"),
        (f"--model={HOME}/m", "--model=~/m"),
        (f"{HOME}t/m", f"{HOME}t/m"),
        (f"file://{HOME}/m", "file://~/m"),
        (f"/mnt{HOME}/m", f"/mnt{HOME}/m"),
    ],
)
def test_the_home_folder_is_hidden(text, shown):
    assert without_private(text) == shown


def test_nothing_is_hidden_where_the_home_is_the_root(monkeypatch):
    monkeypatch.setenv("HOME", "/")
    assert without_private("/models/a") == "/models/a"


def test_a_stored_run_has_neither(tmp_path):
    home = f"{HOME}/models/m"
    command = ["nsys", "profile", f"--env-var=TOKEN={SECRET}", f"{home}/run.py"]
    arguments = {"model": home, "nsys_args": ["--env-var", f"TOKEN={SECRET}"]}
    failure = Failure("RuntimeError", f"no {home}/x.py", f"{home}/x.py:3", None, f"{home}/log")
    facts = VariantFacts(model=home, variant="eager", command=f"run {home}", failure=failure)
    with store.create_run(tmp_path, model=home, arguments=arguments) as run:
        run.record_command("eager", command)
        run.save_variant("eager", "ok", facts)
        run.save_findings("eager", [handmade.finding(source=f"{home}/x.py:3")])
        run.finish("failed", f"{home} is gone")
    for file in tmp_path.rglob("*"):
        if file.is_file():
            assert b"jane" not in file.read_bytes(), file
            assert SECRET.encode() not in file.read_bytes(), file
    (row,) = store.list_runs(tmp_path)
    assert (row.model, row.reason) == ("~/models/m", "~/models/m is gone")


def test_what_has_nothing_private_stays_the_same_object():
    facts = VariantFacts(model="m", variant="eager", notes=("a", "b"))
    assert without_private(facts) is facts
    assert without_private(Path("a")) == Path("a")
