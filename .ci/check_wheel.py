"""Check a built wheel: data files are in it, and it starts with its base dependencies alone.

usage: python .ci/check_wheel.py launchlens-*.whl
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "launchlens"
DEVELOPMENT = ("pytest", "hypothesis", "cogapp", "jsonschema", "torch", "transformers", "selenium")

# Imports from the wheel itself; what only development installs counts as missing.
START = """
import sys
sys.path.insert(0, sys.argv[1])
sys.modules.update(dict.fromkeys(sys.argv[2].split(",")))
import launchlens.cli.main as main
assert main.__file__.startswith(sys.argv[1]), main.__file__
sys.argv = ["launchlens", "diff", *sys.argv[3:]]
main.main()
"""


def main() -> None:
    wheel = Path(sys.argv[1]).resolve()
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if name.startswith("launchlens/")}
    wanted = {
        f"launchlens/{path.relative_to(PACKAGE).as_posix()}"
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    if missing := sorted(wanted - packed):
        raise SystemExit(f"{wheel.name} lacks {', '.join(missing)}")
    traces = PACKAGE.parent / "traces"
    sides = [next(traces.glob(f"gemma-4-e4b-{name}*.xz")) for name in ("eager", "cudagraph")]
    subprocess.run(
        [sys.executable, "-P", "-c", START, wheel, ",".join(DEVELOPMENT), *sides],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    print(f"{wheel.name}: {len(packed)} files, starts without the development tools")


if __name__ == "__main__":
    main()
