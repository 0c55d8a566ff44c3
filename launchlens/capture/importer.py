"""nsys's importer: the program that turns a raw .qdstrm into a .nsys-rep.

nsys starts it by itself, looks for it in one place only and exits 0 without it. Debian keeps it
elsewhere, and the one inside Nsight Compute needs libraries that slim images lack.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from launchlens.capture.process import Output, read_output
from launchlens.errors import CaptureError

IMPORTER_NAME = "QdstrmImporter"
IMPORT_TIMEOUT_S = 600.0

# Library file -> the package of Debian and Ubuntu that has it. Ubuntu 24.04 renamed some to
# …t64 and lets apt find them by the old names.
PACKAGES = {
    "libasound.so.2": "libasound2", "libbz2.so.1.0": "libbz2-1.0", "libcrypto.so.3": "libssl3",
    "libdbus-1.so.3": "libdbus-1-3", "libdw.so.1": "libdw1", "libEGL.so.1": "libegl1",
    "libelf.so.1": "libelf1", "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6", "libgcc_s.so.1": "libgcc-s1", "libGL.so.1": "libgl1",
    "libglib-2.0.so.0": "libglib2.0-0", "libgthread-2.0.so.0": "libglib2.0-0",
    "liblzma.so.5": "liblzma5", "libnspr4.so": "libnspr4", "libnss3.so": "libnss3",
    "libnuma.so.1": "libnuma1", "libOpenGL.so.0": "libopengl0", "libssl.so.3": "libssl3",
    "libstdc++.so.6": "libstdc++6", "libunwind.so.8": "libunwind8", "libX11.so.6": "libx11-6",
    "libxcb.so.1": "libxcb1", "libxkbcommon.so.0": "libxkbcommon0", "libz.so.1": "zlib1g",
    "libzstd.so.1": "libzstd1",
}  # fmt: skip

_LOADER_ERROR = re.compile(r"error while loading shared libraries: ([^\s:]+):")
_NOT_FOUND = re.compile(r"^\s*(\S+) => not found", re.MULTILINE)
_HOST_FOLDERS = (
    "host-linux-*",
    "linux-desktop-*",
    "host/linux-desktop-*",
    "nsight-systems-*/host-*",
)


def find_importer(nsys: Path) -> Path | None:
    """The importer that belongs to an nsys.

    Looks beside the folder of nsys at every symbolic link on the way to the real file: Debian's
    /usr/lib/nsight-systems/bin/nsys has its importer two folders up from the link, while the real
    file is in another tree.
    """
    for place in _links(nsys):
        for base in (place.parent.parent, place.parent):
            for pattern in _HOST_FOLDERS:
                for folder in sorted(base.glob(pattern), reverse=True):
                    importer = folder / IMPORTER_NAME
                    if importer.is_file() and os.access(importer, os.X_OK):
                        return importer
    return None


def find_missing_libraries(importer: Path) -> tuple[str, ...]:
    """Names of the shared libraries the importer needs and the machine lacks; empty: it starts."""
    return _missing_libraries(importer, read_output([importer, "--help"]))


def explain_missing_libraries(importer: Path, libraries: tuple[str, ...]) -> CaptureError:
    """The error for an importer that cannot start: what is missing and which package has it."""
    packages = sorted({PACKAGES[name] for name in libraries if name in PACKAGES})
    unknown = [name for name in libraries if name not in PACKAGES]
    remedies = []
    if packages:
        remedies.append(f"On Debian or Ubuntu: apt-get install {' '.join(packages)}.")
    if unknown:
        remedies.append(f"Install the package that has {', '.join(unknown)}.")
    noun, verb = ("library", "is") if len(libraries) == 1 else ("libraries", "are")
    return CaptureError(
        f"nsys's importer {importer} cannot start: the shared {noun} {', '.join(libraries)} "
        f"{verb} missing.",
        hint=" ".join(remedies),
    )


def run_importer(
    importer: Path | None, qdstrm: Path, report: Path, *, timeout_s: float = IMPORT_TIMEOUT_S
) -> Path:
    """Turns a .qdstrm, which stays, into a .nsys-rep by hand, and returns the report's path.

    Raises:
        CaptureError: there is no importer, a library is missing, or it wrote nothing.
    """
    if importer is None:
        raise CaptureError(
            f"nsys left only the raw recording {qdstrm}, and there is no {IMPORTER_NAME} beside "
            "this nsys to convert it.",
            hint="Open it on a machine with a full Nsight Systems, or install one here.",
        )
    said = read_output([importer, "-i", qdstrm, "-o", report, "-f"], timeout_s=timeout_s)
    if said.exit_code == 0 and report.is_file() and report.stat().st_size > 0:
        return report
    if libraries := _missing_libraries(importer, said):
        raise explain_missing_libraries(importer, libraries)
    raise CaptureError(
        f"nsys's importer {importer} could not convert {qdstrm}: {said.last_line}",
        hint=f"The raw recording is kept. `nsys --version` and `{importer} -v` should agree.",
    )


def _links(path: Path) -> Iterator[Path]:
    """The path itself and what its symbolic links lead to, with linked folders resolved last."""
    seen: set[Path] = set()
    place = path.absolute()
    while place not in seen:
        seen.add(place)
        yield place
        if place.is_symlink():
            # normpath, not resolve: a link's "../x" is meant beside the link, and the folders
            # that are links themselves are just what must not be followed yet.
            place = Path(os.path.normpath(place.parent / place.readlink()))
    resolved = path.resolve()
    if resolved not in seen:
        yield resolved


def _missing_libraries(importer: Path, said: Output) -> tuple[str, ...]:
    """All missing libraries, given what a start of the importer printed.

    The loader's own message names the first one only; asked to list what it loads (the way ldd
    does), it names them all.
    """
    first = _LOADER_ERROR.findall(said.text)
    if not first:
        return ()
    listed = read_output([importer], env={**os.environ, "LD_TRACE_LOADED_OBJECTS": "1"})
    return tuple(dict.fromkeys([*first, *_NOT_FOUND.findall(listed.text)]))
