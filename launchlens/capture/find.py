"""Where nsys is, which version, and what that version can do."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from launchlens.capture.importer import find_importer
from launchlens.capture.process import read_output
from launchlens.errors import CaptureError
from launchlens.suggestions import did_you_mean, near_files

# 2022.4 and 2023.4 trace graphs as whole spans by default and export none of them, so that all
# graph work is lost; the exports of 2025.3 have the spans (CUPTI_ACTIVITY_KIND_GRAPH_TRACE).
FIRST_WITH_GRAPH_SPANS = (2023, 5)

NSYS_VARIABLE = "NSYS"
"""Names the nsys to use, before any other that is found."""
PLACES = (
    "opt/nvidia/nsight-systems/*/bin/nsys",
    "opt/nvidia/nsight-systems-cli/*/bin/nsys",
    "usr/local/cuda*/bin/nsys",
    "usr/lib/nsight-systems/bin/nsys",
    "opt/nvidia/nsight-compute/*/host/target-linux-*/nsys",
)

INSTALL_HINT = (
    "Install Nsight Systems (Debian: nsight-systems from non-free; Ubuntu with NVIDIA's packages: "
    "nsight-systems-cli; or developer.nvidia.com/nsight-systems), or name it with --nsys or $NSYS."
)

# The oldest version seen with an option, for an nsys whose help cannot be read.
_SEEN_SINCE = {
    (2022, 4): "--cuda-graph-trace --trace-fork-before-exec --cpuctxsw --wait",
    (2025, 3): "--python-backtrace --include-blobs",
}


@dataclass(frozen=True, slots=True)
class Nsys:
    """An nsys that starts.

    Attributes:
        path: how it is called.
        version: numbers of its version, such as (2025, 3, 1); empty when it names none.
        version_text: the version as printed, such as "2025.3.1.90-253135822126v0".
        importer: its QdstrmImporter, None when there is none beside it.
        options: long options that its help of `profile` and `export` names; empty when unknown.
    """

    path: Path
    version: tuple[int, ...]
    version_text: str
    importer: Path | None = None
    options: frozenset[str] = frozenset()

    @property
    def default_graph_mode_loses_work(self) -> bool:
        """Whether whole-graph tracing, the default mode, exports no graph work at all."""
        return self.version < FIRST_WITH_GRAPH_SPANS

    def offers(self, option: str) -> bool:
        """Whether `nsys profile` or `nsys export` knows a long option, such as "--wait"."""
        if self.options:
            return option in self.options
        seen = (names.split() for since, names in _SEEN_SINCE.items() if self.version >= since)
        return any(option in names for names in seen)


def find_nsys(
    explicit: Path | None = None,
    *,
    root: Path = Path("/"),
    environ: Mapping[str, str] | None = None,
) -> Nsys:
    """The nsys to use.

    An explicit path (--nsys), then $NSYS, then PATH, then the folders of Nsight Systems, CUDA,
    Debian and Nsight Compute below ``root``, the newest of each. A path that was named by hand is
    taken or refused, never replaced by another.

    Raises:
        CaptureError: none was found, or the one named does not start.
    """
    environ = os.environ if environ is None else environ
    named = explicit or (Path(environ[NSYS_VARIABLE]) if environ.get(NSYS_VARIABLE) else None)
    if named is not None:
        found = _start(_which(named, environ))
        if isinstance(found, Nsys):
            return _with_options(found)
        origin = "--nsys" if explicit else "$NSYS"
        near = None if named.exists() else did_you_mean(near_files(named))
        raise CaptureError(f"{named}, named by {origin}, is no usable nsys: {found}.", hint=near)
    refused = []
    for group in _candidates(root, environ):
        started = [(path, _start(path)) for path in group]
        usable = [nsys for _, nsys in started if isinstance(nsys, Nsys)]
        if usable:
            return _with_options(max(usable, key=lambda nsys: nsys.version))
        refused += [f"{path} ({reason})" for path, reason in started]
    places = ", ".join(str(root / place) for place in PLACES)
    tried = f" These do not start: {'; '.join(refused)}." if refused else ""
    raise CaptureError(
        f"nsys was not found: not in $NSYS, on PATH, or at {places}.{tried}", hint=INSTALL_HINT
    )


def all_nsys(
    *, root: Path = Path("/"), environ: Mapping[str, str] | None = None
) -> tuple[Nsys, ...]:
    """Every nsys of the machine that starts, in the order of the search, each file once."""
    environ = os.environ if environ is None else environ
    groups = list(_candidates(root, environ))
    if environ.get(NSYS_VARIABLE):
        groups.insert(0, [_which(Path(environ[NSYS_VARIABLE]), environ)])
    found: dict[Path, Nsys] = {}
    for path in (path for group in groups for path in group):
        nsys = None if path.resolve() in found else _start(path)
        if isinstance(nsys, Nsys):
            found[path.resolve()] = nsys
    return tuple(found.values())


def parse_version(text: str) -> tuple[tuple[int, ...], str] | None:
    """Reads the output of `nsys --version`: numbers (at most three) and the version as printed.

    None when the text is not that of Nsight Systems.
    """
    from packaging.version import Version

    if "nsight systems" not in text.lower():
        return None
    number = r"((\d{4}(?:\.\d+)+)\S*)"
    found = re.search(rf"version\s+v?{number}", text, re.IGNORECASE)
    found = found or re.search(rf"\b{number}", text)
    return (Version(found[2]).release[:3], found[1]) if found else ((), "unknown")


def _candidates(root: Path, environ: Mapping[str, str]) -> Iterator[list[Path]]:
    on_path = shutil.which("nsys", path=environ.get("PATH", ""))
    yield [Path(on_path)] if on_path else []
    for place in PLACES:
        yield sorted(root.glob(place))


def _which(named: Path, environ: Mapping[str, str]) -> Path:
    """A bare name such as "nsys" is looked up on PATH, as a shell would."""
    if len(named.parts) == 1 and not named.exists():
        on_path = shutil.which(str(named), path=environ.get("PATH", ""))
        return Path(on_path) if on_path else named
    return named.expanduser().absolute()


def _start(path: Path) -> Nsys | str:
    """The nsys at a path, or why it is not one."""
    if not path.exists():
        return "there is no such file"
    if path.is_dir():
        return "it is a folder"
    said = read_output([path, "--version"])
    if said.exit_code is None:
        return said.text.rstrip(".")
    if said.exit_code != 0:
        return f"`--version` failed with exit code {said.exit_code}"
    parsed = parse_version(said.text)
    if parsed is None:
        return "its `--version` does not say Nsight Systems"
    return Nsys(path, *parsed, importer=find_importer(path))


def _with_options(nsys: Nsys) -> Nsys:
    def options(command: str) -> frozenset[str]:
        said = read_output([nsys.path, command, "--help"]).text
        return frozenset(re.findall(r"--[a-z][\w-]+", said))

    profile = options("profile")
    if "--output" not in profile:  # not the help: believe nothing of it
        return nsys
    return replace(nsys, options=profile | options("export"))
