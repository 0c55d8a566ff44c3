from __future__ import annotations

import shutil
import subprocess

import pytest
from capture_fakes import write_script

from launchlens.capture.importer import PACKAGES, find_missing_libraries, run_importer
from launchlens.errors import CaptureError

# What the loader of glibc prints; it names the first missing library only.
MISSING = """#!/bin/sh
echo "$0: error while loading shared libraries: libdw.so.1: cannot open shared object file" >&2
exit 127
"""


@pytest.fixture
def qdstrm(tmp_path):
    path = tmp_path / "raw.qdstrm"
    path.write_text("raw")
    return path


def test_missing_library_names_the_package(tmp_path, qdstrm):
    importer = write_script(tmp_path / "QdstrmImporter", MISSING)
    with pytest.raises(CaptureError) as caught:
        run_importer(importer, qdstrm, tmp_path / "out.nsys-rep")
    assert "libdw.so.1" in caught.value.message
    assert "apt-get install libdw1" in (caught.value.hint or "")
    assert find_missing_libraries(importer) == ("libdw.so.1",)
    assert qdstrm.read_text() == "raw"


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_all_missing_libraries_are_named(tmp_path, qdstrm, monkeypatch):
    """A real program, linked to two libraries that are then taken away."""
    monkeypatch.setitem(PACKAGES, "libeven.so.1", "libeven1")
    (tmp_path / "main.c").write_text("int main(void) { return 0; }")
    libraries = [tmp_path / "libeven.so.1", tmp_path / "libodd.so.7"]
    for library in libraries:
        command = ["cc", "-shared", f"-Wl,-soname,{library.name}", "-o", library, "-x", "c", "-"]
        subprocess.run(command, input=b"int unused;", check=True)
    importer = tmp_path / "QdstrmImporter"
    main = tmp_path / "main.c"
    subprocess.run(["cc", "-Wl,--no-as-needed", "-o", importer, main, *libraries], check=True)
    for library in libraries:
        library.unlink()
    with pytest.raises(CaptureError, match=r"libeven\.so\.1, libodd\.so\.7 are missing") as caught:
        run_importer(importer, qdstrm, tmp_path / "out.nsys-rep")
    assert caught.value.hint == (
        "On Debian or Ubuntu: apt-get install libeven1. Install the package that has libodd.so.7."
    )


def test_no_importer(tmp_path, qdstrm):
    with pytest.raises(CaptureError, match="there is no QdstrmImporter"):
        run_importer(None, qdstrm, tmp_path / "out.nsys-rep")


@pytest.mark.parametrize("code", [0, 1])
def test_a_failing_importer_is_quoted(tmp_path, qdstrm, code):
    script = f"#!/bin/sh\nprintf 'Processing [0%%]\\rThe file is corrupt.\\n'\nexit {code}\n"
    importer = write_script(tmp_path / "QdstrmImporter", script)
    with pytest.raises(CaptureError, match="The file is corrupt"):
        run_importer(importer, qdstrm, tmp_path / "out.nsys-rep")


def test_an_importer_that_hangs_is_stopped(tmp_path, qdstrm):
    importer = write_script(tmp_path / "QdstrmImporter", "#!/bin/sh\nsleep 60\n")
    with pytest.raises(CaptureError, match=r"did not end within 0\.5 s"):
        run_importer(importer, qdstrm, tmp_path / "out.nsys-rep", timeout_s=0.5)
