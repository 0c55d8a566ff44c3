from __future__ import annotations

import json
import lzma
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pynvml
import pytest
from capture_fakes import write_script

from launchlens.capture import check_environment, git_state, gpu_facts
from launchlens.capture.contention import find_injections, find_tracing_processes
from launchlens.capture.environment import Gpu
from launchlens.trace import read_trace


class Nvml:
    """Answers in place of NVIDIA's library as the driver of an H200 with a MIG device does."""

    NVMLError = pynvml.NVMLError

    def __init__(self, names=("NVIDIA H200", "NVIDIA H200 MIG"), driver=None):
        self.names, self.driver, self.open = names, driver, 0

    def nvmlInit(self):
        if self.driver is None:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)
        self.open += 1

    def nvmlShutdown(self):
        self.open -= 1

    def nvmlSystemGetDriverVersion(self):
        return self.driver

    def nvmlDeviceGetCount(self):
        return len(self.names)

    def nvmlDeviceGetHandleByIndex(self, index):
        return index

    def nvmlDeviceGetName(self, device):
        return self.names[device]

    def nvmlDeviceGetMemoryInfo(self, device):
        if "MIG" in self.names[device]:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
        return SimpleNamespace(total=143771 * 1024**2)


def use(monkeypatch, **how):
    nvml = Nvml(**how)
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    return nvml


@pytest.fixture
def gpus(monkeypatch):
    return use(monkeypatch, driver="580.65.06")


@pytest.fixture
def no_gpu(monkeypatch):
    return use(monkeypatch)


def read_nothing(_export):
    raise AssertionError("no trial was to be read")


def python_with(tmp_path, **facts):
    """A stand-in for the interpreter that answers with these packages."""
    line = "FACTS" + json.dumps({"nvtx": None, "transformers": None, "torch": None, **facts})
    return str(write_script(tmp_path / "python", f"#!/bin/sh\ncat <<'END'\n{line}\nEND\n"))


def by_name(checks):
    return {check.name: check for check in checks}


def test_gpu_facts(gpus):
    assert gpu_facts() == (
        Gpu(0, "NVIDIA H200", "580.65.06", 143771 * 1024**2),
        Gpu(1, "NVIDIA H200 MIG", "580.65.06", None),
    )
    assert gpus.open == 0


def test_no_gpu(no_gpu, monkeypatch):
    assert gpu_facts() is None
    none = use(monkeypatch, driver="580.65.06", names=())
    assert (gpu_facts(), none.open) == (None, 0)


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_git_state(tmp_path):
    def git(*words):
        identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
        out = subprocess.run(["git", *identity, *words], cwd=tmp_path, check=True, stdout=-1)
        return out.stdout.decode().strip()

    assert git_state(tmp_path) is None
    git("init", "-q")
    assert git_state(tmp_path).commit is None
    (tmp_path / "a").write_text("1")
    git("add", "a")
    git("commit", "-q", "-m", "first")
    state = git_state(tmp_path)
    assert (state.commit, state.dirty) == (git("rev-parse", "HEAD"), False)
    (tmp_path / "b").write_text("untracked")
    assert git_state(tmp_path).dirty
    assert git_state(tmp_path / "gone") is None


def test_every_line_has_a_remedy_and_is_told_as_it_comes(no_gpu, make_nsys, tmp_path):
    told = []
    checks = check_environment(
        None, nsys=make_nsys(), python=python_with(tmp_path), on_check=told.append
    )
    assert told == checks
    assert all(check.detail and check.remedy for check in checks)
    found = by_name(checks)
    assert found["GPU and driver"].status == "fail"
    assert found["torch and CUDA"].status == "fail"
    assert "pip install '.[profile]'" in found["torch and CUDA"].remedy
    assert found["breakable-cuda-graphs"].status == "warn"
    assert found["tracing trial"].status == "skip"


def test_versions(gpus, make_nsys, tmp_path):
    def check(**facts):
        found = check_environment(None, nsys=make_nsys(), python=python_with(tmp_path, **facts))
        return by_name(found)

    good = check(torch="2.9.1+cu130", cuda="13.0", available=True, transformers="5.24.0")
    assert good["torch and CUDA"].status == "ok"
    assert good["transformers"].status == "ok"
    unfit = check(torch="2.10.0+cu130", cuda="13.0", available=False, transformers="4.57.1")
    assert unfit["torch and CUDA"].status == "fail"
    assert "driver 580.65.06" in unfit["torch and CUDA"].detail
    assert unfit["transformers"].status == "fail"
    assert check(torch="2.6.0", cuda="12.4", available=True)["torch and CUDA"].status == "fail"
    container = check(torch="2.7.0a0+79aa17489c.nv25.04", cuda="12.9", available=True)
    assert container["torch and CUDA"].status == "ok"


def test_an_nsys_that_loses_graph_work_is_a_warning(no_gpu, make_nsys, tmp_path):
    nsys = make_nsys(version="2023.4.4.54")
    check = by_name(check_environment(None, nsys=nsys, python=python_with(tmp_path)))["nsys"]
    assert check.status == "warn"
    assert "2024.1" in check.remedy


def test_a_missing_library_of_the_importer(no_gpu, make_nsys, tmp_path):
    nsys = make_nsys("host/target-linux-x64/nsys")
    write_script(
        tmp_path / "host/linux-desktop-glibc_2_11_3-x64/QdstrmImporter",
        "#!/bin/sh\necho 'error while loading shared libraries: libelf.so.1: cannot open' >&2\n"
        "exit 127\n",
    )
    checks = by_name(check_environment(None, nsys=nsys, python=python_with(tmp_path)))
    assert checks["nsys importer"].status == "fail"
    assert "libelf1" in checks["nsys importer"].remedy


def test_a_trial_that_yields_no_kernels(gpus, make_nsys, tmp_path):
    """nsys runs and exports, but the tables are empty: another tool holds the interface."""
    empty = SimpleNamespace(
        ranges=SimpleNamespace(start_ns=[1, 2, 3]), ops=SimpleNamespace(kind=np.array([], np.int8))
    )
    python = python_with(tmp_path, nvtx="0.2.17", torch="2.9.0", cuda="13.0", available=True)
    checks = by_name(check_environment(lambda _: empty, nsys=make_nsys(), python=python))
    assert checks["tracing trial"].status == "fail"
    assert "no kernel traced" in checks["tracing trial"].detail


def test_a_trial_that_cannot_record(no_gpu, make_nsys, tmp_path):
    nsys = make_nsys(profile="echo no permission; exit 1")
    python = python_with(tmp_path, nvtx="0.2.17")
    check = by_name(check_environment(read_nothing, nsys=nsys, python=python))["tracing trial"]
    assert check.status == "fail"
    assert "no permission" in check.detail
    assert "launchlens-trial-" not in check.remedy  # that folder is gone


def test_missing_nsys_and_unwritable_folder(no_gpu, tmp_path):
    (tmp_path / "file").write_text("")
    checks = check_environment(
        read_nothing,
        nsys=tmp_path / "none",
        folder=tmp_path / "new",
        python=str(tmp_path / "no-python"),
    )
    found = by_name(checks)
    assert found["nsys"].status == "fail"
    assert found["tracing trial"].status == "skip"
    assert found["disk space"].status in {"ok", "warn"}
    assert "cannot be started" in found["torch and CUDA"].detail


def test_other_tools_are_seen(tmp_path):
    assert find_injections({"CUDA_INJECTION64_PATH": "/x.so", "HOME": "/root"}) == {
        "CUDA_INJECTION64_PATH": "/x.so"
    }
    tool = tmp_path / "ncu"
    shutil.copy(shutil.which("sleep"), tool)
    child = subprocess.Popen([tool, "60"])
    try:
        deadline = time.monotonic() + 10
        while (child.pid, "ncu") not in find_tracing_processes():
            assert time.monotonic() < deadline
    finally:
        child.kill()
        child.wait()
    assert (child.pid, "ncu") not in find_tracing_processes()


@pytest.mark.nsys
def test_with_the_real_nsys(real_nsys, monkeypatch):
    checks = by_name(check_environment(read_trace, nsys=real_nsys.path))
    assert checks["nsys importer"].status == "ok"
    assert checks["tracing trial"].status in {"ok", "warn"}


@pytest.mark.gpu
@pytest.mark.nsys
def test_kernels_are_traced_on_a_gpu(real_nsys):
    if gpu_facts() is None:
        pytest.skip("no NVIDIA GPU")
    check = by_name(check_environment(read_trace, nsys=real_nsys.path))["tracing trial"]
    assert check.status == "ok"
    assert "kernels traced" in check.detail


@pytest.mark.parametrize("size", [0, 50, 4096, 70_000])
def test_a_truncated_export_of_the_trial_is_told(make_nsys, tmp_path, size):
    trace = Path(__file__).parents[2] / "traces/gemma-4-e4b-eager.nsys2025.3.sqlite.xz"
    part = tmp_path / "part"
    with lzma.open(trace) as whole:
        part.write_bytes(whole.read(size))
    nsys = make_nsys(export=f'cat "{part}" >"$out"')
    check = by_name(check_environment(read_trace, nsys=nsys))["tracing trial"]
    assert check.status == "fail"
    assert "trial.sqlite" in check.detail or "could not export" in check.detail
    assert "Traceback" not in check.detail


def test_a_trial_that_hangs_ends_at_the_limit(make_nsys):
    for hung in ({"profile": "sleep 500"}, {"export": "sleep 500"}):
        checks = by_name(check_environment(read_trace, nsys=make_nsys(**hung), timeout_s=3))
        assert "did not end within 3 s" in checks["tracing trial"].detail
