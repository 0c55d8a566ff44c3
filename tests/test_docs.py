"""The documentation says what the program does: nothing stale, nothing left out, no dead link."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from launchlens import errors
from launchlens.catalogue import metrics
from launchlens.records import figures

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", *DOCS.rglob("*.md"), *(ROOT / "traces").glob("*.md")])
EAGER = "traces/qwen3-0.6b-eager.nsys2025.3.sqlite.xz"
GRAPH = "traces/qwen3-0.6b-cudagraph.node.nsys2025.3.sqlite.xz"


def read(page: Path | str) -> str:
    """Text of a page of docs/, or of a path."""
    return (DOCS / page).read_text(encoding="utf-8")


def prose(page: str) -> str:
    """A page without what cog wrote into it."""
    return re.sub(r"<!-- \[\[\[cog.*?\[\[\[end\]\]\] -->", "", read(page), flags=re.DOTALL)


def run(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """The program in the repository's root, as a user starts it."""
    return subprocess.run(
        [sys.executable, "-m", "launchlens", *arguments],
        cwd=ROOT,
        env=os.environ | {"COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=False,
    )


def blocks(page: Path, language: str) -> Iterator[str]:
    """Code blocks of one language."""
    yield from re.findall(rf"^```{language}\n(.*?)^```", read(page), re.DOTALL | re.MULTILINE)


def test_nothing_that_cog_writes_is_stale() -> None:
    pytest.importorskip("cogapp", reason="cogapp is not installed (pip install '.[dev]')")
    checked = subprocess.run(
        [sys.executable, "-m", "cogapp", "--check", "--diff", "--verbosity=1", *PAGES],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(DOCS)},
        capture_output=True,
        text=True,
        check=False,
    )
    shown = (checked.stdout + checked.stderr)[-3000:]
    assert checked.returncode == 0, f"stale documentation: run make docs\n{shown}"


# --- links ---


def slug(heading: str) -> str:
    """The anchor GitHub gives a heading."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", text).strip().replace(" ", "-")


def links(page: Path) -> list[str]:
    text = re.sub(r"^```.*?^```", "", read(page), flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"`[^`\n]*`", "", text)
    return re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:src|href)="([^"]+)"', text)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link in links(page):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.removesuffix("?raw=true").partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{link} leads nowhere"
        if anchor:
            headings = re.findall(r"^#+ (.+)$", read(target), re.MULTILINE)
            assert anchor in map(slug, headings), f"{link}: there is no such heading"


def test_the_index_links_every_page() -> None:
    linked = {link.partition("#")[0] for link in links(DOCS / "index.md")}
    pages = {p.relative_to(DOCS).as_posix() for p in DOCS.rglob("*.md")}
    apart = {p for p in pages if p.startswith(("archive/", "examples/"))}
    assert pages - apart - linked == {"index.md"}
    assert "docs/index.md" in links(ROOT / "README.md")


# --- commands ---


def test_every_command_and_option_is_documented() -> None:
    from typer.main import get_command

    from launchlens.cli.main import app

    heading_and_help = r"^## `launchlens ?(.*?)`\n(.*?)(?=^## |\Z)"
    sections = dict(re.findall(heading_and_help, read("commands.md"), re.DOTALL | re.MULTILINE))

    def check(path: tuple[str, ...], command: Any) -> None:
        section = sections[" ".join(path)]
        for parameter in command.params:
            for option in (*parameter.opts, *parameter.secondary_opts):
                if option.startswith("-"):
                    assert re.search(rf"(?<![\w-]){option}(?![\w-])", section), (path, option)
            for variable in [parameter.envvar] if isinstance(parameter.envvar, str) else []:
                assert f"`{variable}`" in read("commands.md")
        for name, child in getattr(command, "commands", {}).items():
            if not child.hidden:
                check((*path, name), child)

    check((), get_command(app))


def test_every_exit_code_and_error_is_documented() -> None:
    rows = re.findall(r"^\| (\d+) \| .+? \| (.*) \|$", read("commands.md"), re.MULTILINE)
    documented = {int(code): set(re.findall(r"`(\w+)`", names)) for code, names in rows}
    for name, value in vars(errors).items():
        if name.startswith("EXIT_"):
            assert value in documented
        elif isinstance(value, type) and issubclass(value, errors.LaunchlensError):
            assert name in documented[value.exit_code]


def command_paths() -> set[str]:
    from typer.main import get_command

    from launchlens.cli.main import app

    def walk(path: tuple[str, ...], command: Any) -> Iterator[str]:
        children = getattr(command, "commands", {})
        if path and not children and not command.hidden:
            yield " ".join(path)
        for name, child in children.items():
            yield from walk((*path, name), child)

    return set(walk((), get_command(app)))


def test_every_command_is_in_the_changelog() -> None:
    page = read("changelog.md")
    assert {c for c in command_paths() if f"`launchlens {c}" not in page} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_pages_name_no_command_that_is_not_there(page: Path) -> None:
    paths = command_paths()
    groups = {path.partition(" ")[0] for path in paths if " " in path}
    for name, word in re.findall(r"(?:`|^)launchlens ([a-z]+)(?: ([a-z]+)\b)?", read(page), re.M):
        assert name in paths or (name in groups and (not word or f"{name} {word}" in paths)), name


# --- figures ---


def test_every_metric_is_defined() -> None:
    defined = set(re.findall(r"`([\w.]+)`", read("definitions.md")))
    names = {metric.name for metric in metrics()}
    assert names - defined == set()


@pytest.mark.parametrize("words", ["GraphTracing", "Phase", "Verdict"])
def test_every_word_of_a_closed_list_is_defined(words: str) -> None:
    wanted = set(get_args(getattr(figures, words))) - {"neutral"}
    assert wanted - set(re.findall(r"`([\w-]+)`", prose("definitions.md"))) == set()


def test_every_bound_is_defined() -> None:
    assert all(f"`{bound}`" in read("definitions.md") for bound in get_args(figures.BoundBy))


def test_every_rule_for_blockers_is_documented() -> None:
    from launchlens.blockers import rules

    assert {rule.id for rule in rules() if f"## {rule.id}" not in read("blockers.md")} == set()


# --- JSON ---


def keys_of(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value) | set().union(*map(keys_of, value.values()), set())
    if isinstance(value, list):
        return set().union(*map(keys_of, value), set())
    return set()


@pytest.mark.parametrize(
    "arguments", [["analyze", EAGER], ["diff", EAGER, GRAPH]], ids=lambda a: a[0]
)
def test_every_key_that_a_report_prints_is_documented(arguments: list[str]) -> None:
    report = json.loads(run([*arguments, "--format", "json"]).stdout)
    documented = set(re.findall(r"^\| `([\w.]+)` \|", read("json.md"), re.MULTILINE))
    documented |= set(re.findall(r"`([\w.]+)`", prose("definitions.md")))  # names of metrics
    assert keys_of(report) - documented == set()


# --- what is shown works ---


def shown_commands() -> list[str]:
    """Commands of all pages that name nothing but what the repository holds."""
    found = []
    for page in PAGES:
        for block in blocks(page, "sh"):
            for line in block.replace("\\\n", " ").splitlines():
                command = line.partition("  #")[0].strip()
                if re.fullmatch(r"launchlens (analyze|diff|schema|blockers|export) .*", command):
                    words = shlex.split(command)[2:]
                    files = [w for w in words if re.search(r"\.(sqlite|nsys-rep|xz|zst|gz)\b", w)]
                    if all((ROOT / f).exists() for f in files) and files and "-o" not in words:
                        found.append(command)
    return list(dict.fromkeys(found))


@pytest.mark.parametrize("command", shown_commands())
def test_commands_that_pages_show_work(command: str) -> None:
    done = run(shlex.split(command)[1:])
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_readme_shows_commands() -> None:
    assert len(shown_commands()) >= 3


def test_python_examples_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {}
    for block in blocks(DOCS / "python-api.md", "python"):
        exec(compile(block, "docs/python-api.md", "exec"), names)
    assert "no decode step" in capsys.readouterr().out


def test_the_public_names_are_documented() -> None:
    import launchlens

    headings = re.findall(r"^## `(\w+)", read("python-api.md"), re.MULTILINE)
    assert set(launchlens.__all__) == set(headings)


def test_every_room_has_its_place_in_the_house() -> None:
    page = read("architecture.md")
    for path in (ROOT / "launchlens").iterdir():
        if path.name.startswith("_") or not (path.is_dir() or path.suffix == ".py"):
            continue
        name = f"{path.name}/" if path.is_dir() else path.name
        assert f"| `{name}` |" in page, f"docs/architecture.md does not say what {name} is for"


def test_make_targets_that_pages_name_exist() -> None:
    makefile = read(ROOT / "Makefile")
    named = {m for page in PAGES for m in re.findall(r"`make ([a-z-]+)", read(page))}
    named |= {
        m
        for page in PAGES
        for b in blocks(page, "sh")
        for m in re.findall(r"^make ([a-z-]+)", b, re.M)
    }
    assert {"demo", "test", "check"} <= named
    assert {m for m in named if not re.search(rf"^{m}:", makefile, re.MULTILINE)} == set()
