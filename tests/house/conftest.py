"""A copy of launchlens to which a test adds what a contributor would add, and nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class House:
    """The copy: ``root`` holds launchlens/, ``work`` is the folder that commands run in.

    ``touched`` lists the files that the addition wrote or changed, relative to launchlens/.
    """

    root: Path
    work: Path
    touched: list[str]

    def add(self, path, text):
        """A new file of launchlens/."""
        file = self.root / "launchlens" / path
        assert not file.exists(), f"{path} exists: an addition is a new file"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        self.touched.append(str(path))

    def insert(self, path, text, *, after):
        """Lines into a file of launchlens/, below the only line that reads ``after``."""
        file = self.root / "launchlens" / path
        lines = file.read_text().splitlines(keepends=True)
        places = [i for i, line in enumerate(lines) if line.strip() == after]
        assert len(places) == 1, f"{path} has {len(places)} lines that read {after!r}"
        lines.insert(places[0] + 1, text if text.endswith("\n") else text + "\n")
        file.write_text("".join(lines))
        self.touched.append(str(path))

    def write(self, name, content):
        """A file of the user's; anything but text and bytes becomes JSON."""
        file = self.work / name
        if isinstance(content, bytes):
            file.write_bytes(content)
        else:
            file.write_text(content if isinstance(content, str) else json.dumps(content))
        return file

    def run(self, *args, code=0, columns=100):
        """``launchlens args`` of the copy; its standard output, after checking the exit code."""
        done = self.start(*args, columns=columns)
        assert done.returncode == code, done.stderr or done.stdout
        return done.stdout

    def fails(self, *args, code=1):
        """What a command that ends with ``code`` says on standard error."""
        done = self.start(*args)
        assert done.returncode == code, done.stderr or done.stdout
        assert "Traceback" not in done.stderr
        return done.stderr

    def start(self, *args, columns=100):
        """``launchlens args`` of the copy, finished."""
        return self.python("-m", "launchlens", *args, columns=columns)

    def python(self, *args, columns=100):
        """Python on the copy, finished."""
        env = os.environ | {
            "PYTHONPATH": str(self.root), "PYTHONDONTWRITEBYTECODE": "1",
            "COLUMNS": str(columns), "NO_COLOR": "1", "LAUNCHLENS_RUNS": str(self.work / "runs"),
        }  # fmt: skip
        return subprocess.run(
            [sys.executable, *map(str, args)], cwd=self.work, env=env, capture_output=True,
            text=True, timeout=120, check=False,
        )  # fmt: skip


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """launchlens/ copied once, with its byte code, so that each test's copy starts quickly."""
    copy = tmp_path_factory.mktemp("house") / "launchlens"
    shutil.copytree(ROOT / "launchlens", copy, ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(copy)], check=True)
    return copy


@pytest.fixture
def house(tmp_path, compiled):
    root, work = tmp_path / "house", tmp_path / "work"
    shutil.copytree(compiled, root / "launchlens")
    work.mkdir()
    made = House(root, work, [])
    where = made.python("-c", "import launchlens; print(launchlens.__file__)").stdout
    assert where.startswith(str(root)), "the copy is not what Python imports"
    return made
