from __future__ import annotations

import shutil

import pytest
from capture_fakes import write_script

from launchlens.capture.find import all_nsys, find_nsys, parse_version
from launchlens.capture.importer import find_importer
from launchlens.errors import CaptureError


@pytest.mark.parametrize(
    ("text", "numbers", "printed"),
    [
        # As printed by Debian's package, by CUDA 12's and by one that warns first.
        ("NVIDIA Nsight Systems version 2022.4.2.1-df9881f", (2022, 4, 2), "2022.4.2.1-df9881f"),
        (
            "NVIDIA Nsight Systems version 2025.3.1.90-253135822126v0\n",
            (2025, 3, 1),
            "2025.3.1.90-253135822126v0",
        ),
        (
            "WARNING: no write access to /home\nNVIDIA Nsight Systems version 2024.10\n",
            (2024, 10),
            "2024.10",
        ),
        ("NVIDIA Nsight Systems 2021.3.2.4-027534f", (2021, 3, 2), "2021.3.2.4-027534f"),
        ("NVIDIA Nsight Systems, internal build", (), "unknown"),
    ],
)
def test_version_is_read(text, numbers, printed):
    assert parse_version(text) == (numbers, printed)


def test_other_programs_of_the_name_are_not_nsight_systems():
    assert parse_version("nsys 2022.1 - name service daemon") is None


def test_search_order(tmp_path, make_nsys):
    def versions(environ):
        return find_nsys(root=tmp_path, environ=environ).version_text

    nothing = {"PATH": "/nonexistent"}
    make_nsys("opt/nvidia/nsight-compute/2025.1/host/target-linux-x64/nsys", version="2025.1.7")
    assert versions(nothing) == "2025.1.7"
    make_nsys("usr/lib/nsight-systems/bin/nsys", version="2022.4.2")
    assert versions(nothing) == "2022.4.2"
    make_nsys("usr/local/cuda-12.4/bin/nsys", version="2023.4.4")
    assert versions(nothing) == "2023.4.4"
    make_nsys("opt/nvidia/nsight-systems/2024.9/bin/nsys", version="2024.9.1")
    make_nsys("opt/nvidia/nsight-systems/2024.10/bin/nsys", version="2024.10.1")
    assert versions(nothing) == "2024.10.1"  # newest by number, not by spelling
    on_path = make_nsys("path/nsys", version="2021.1.1")
    assert versions({"PATH": str(on_path.parent)}) == "2021.1.1"
    named = make_nsys("named/nsys", version="2020.1.1")
    assert versions({"PATH": str(on_path.parent), "NSYS": str(named)}) == "2020.1.1"
    explicit = make_nsys("explicit/my-nsys", version="2019.1.1")
    found = find_nsys(explicit, root=tmp_path, environ={"NSYS": str(named)})
    assert found.version_text == "2019.1.1"
    assert found.path == explicit


def test_a_broken_one_on_path_is_passed_over(tmp_path, make_nsys):
    broken = write_script(tmp_path / "path/nsys", "#!/bin/sh\nexit 127\n")
    good = make_nsys("usr/lib/nsight-systems/bin/nsys")
    assert find_nsys(root=tmp_path, environ={"PATH": str(broken.parent)}).path == good


def test_not_found_says_where_it_looked_and_what_to_install(tmp_path):
    broken = write_script(tmp_path / "path/nsys", "#!/bin/sh\nexit 127\n")
    with pytest.raises(CaptureError) as caught:
        find_nsys(root=tmp_path, environ={"PATH": str(broken.parent)})
    assert "$NSYS" in caught.value.message
    assert str(tmp_path / "opt/nvidia/nsight-compute") in caught.value.message
    assert f"{broken} (`--version` failed with exit code 127)" in caught.value.message
    assert "--nsys" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "there is no such file"),
        ("#!/bin/sh\necho hello\n", "does not say Nsight Systems"),
        ("\x7fELFnonsense", "cannot be started"),
    ],
)
def test_a_named_nsys_is_never_replaced(tmp_path, make_nsys, content, reason):
    make_nsys("usr/lib/nsight-systems/bin/nsys")
    named = tmp_path / "mine"
    if content is not None:
        write_script(named, content)
    with pytest.raises(CaptureError, match=r"named by \$NSYS") as caught:
        find_nsys(root=tmp_path, environ={"NSYS": str(named)})
    assert reason in caught.value.message


def test_all_lists_each_file_once(tmp_path, make_nsys):
    real = make_nsys("opt/nvidia/nsight-systems/2024.1/bin/nsys", version="2024.1.1")
    make_nsys("usr/lib/nsight-systems/bin/nsys", version="2022.4.2")
    link = tmp_path / "path/nsys"
    link.parent.mkdir()
    link.symlink_to(real)
    found = all_nsys(root=tmp_path, environ={"PATH": str(link.parent)})
    assert [nsys.version_text for nsys in found] == ["2024.1.1", "2022.4.2"]
    assert found[0].path == link


@pytest.mark.parametrize(
    ("version", "loses"),
    [("2022.4.2.1", True), ("2023.4.4.54", True), ("2024.1.1.59", False), ("2025.3.2.474", False)],
)
def test_versions_whose_default_mode_loses_graph_work(make_nsys, version, loses):
    nsys = find_nsys(make_nsys(version=version))
    assert nsys.default_graph_mode_loses_work is loses


def test_options_come_from_the_help(make_nsys):
    nsys = find_nsys(make_nsys(export_help="--type= --output= --include-blobs="))
    assert nsys.offers("--cuda-graph-trace")
    assert nsys.offers("--include-blobs")
    assert not nsys.offers("--python-backtrace")


def test_importer_beside_debians_link(tmp_path, make_nsys):
    """Debian: the real file is in another tree than the importer."""
    make_nsys("usr/lib/x86_64-linux-gnu/nsight-systems/target-linux-x64/nsys")
    home = tmp_path / "usr/lib/nsight-systems"
    importer = write_script(home / "host-linux-x64/QdstrmImporter", "#!/bin/sh\n")
    (home / "target-linux-x64").symlink_to("../x86_64-linux-gnu/nsight-systems/target-linux-x64")
    (home / "bin").mkdir()
    (home / "bin/nsys").symlink_to("../target-linux-x64/nsys")
    (tmp_path / "usr/bin").mkdir()
    (tmp_path / "usr/bin/nsys").symlink_to("../lib/nsight-systems/bin/nsys")
    assert find_importer(tmp_path / "usr/bin/nsys") == importer


def test_importer_inside_nsight_compute(tmp_path, make_nsys):
    nsys = make_nsys("opt/nvidia/nsight-compute/2025.2.1/host/target-linux-x64/nsys")
    host = nsys.parent.parent
    importer = write_script(host / "linux-desktop-glibc_2_11_3-x64/QdstrmImporter", "#!/bin/sh\n")
    assert find_importer(nsys) == importer
    importer.chmod(0o644)
    assert find_importer(nsys) is None


@pytest.mark.nsys
def test_real_nsys(real_nsys):
    assert real_nsys.version >= (2021,)
    assert real_nsys.offers("--cuda-graph-trace")
    assert real_nsys.path in {nsys.path for nsys in all_nsys()} or shutil.which("nsys") is None
