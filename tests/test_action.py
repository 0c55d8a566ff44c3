"""The GitHub Action and the example workflows: valid, and its scripts do what they say."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
TRACES = ROOT / "traces"
EAGER = TRACES / "qwen3-0.6b-eager.nsys2025.3.sqlite.xz"
CAPTURED = TRACES / "qwen3-0.6b-cudagraph.node.nsys2025.3.sqlite.xz"
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
DOC = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
WORKFLOWS = re.findall(r"```yaml\n(.*?)```", DOC, re.DOTALL)


def check_schema(schema, path):
    if find_spec("check_jsonschema") is None:
        pytest.skip("needs check-jsonschema")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_action_is_valid():
    check_schema("vendor.github-actions", ROOT / "action.yml")


@pytest.mark.parametrize("number", range(len(WORKFLOWS)))
def test_example_workflows_are_valid(tmp_path, number):
    path = tmp_path / "workflow.yml"
    path.write_text(WORKFLOWS[number], encoding="utf-8")
    check_schema("vendor.github-workflows", path)


def test_settings_of_the_checkout_are_not_read():
    """They can name a program that launchlens starts, beside a token."""
    for step in ACTION["runs"]["steps"]:
        if re.search(r"^ *launchlens ", step.get("run", ""), re.MULTILINE):
            assert step["env"]["LAUNCHLENS_SETTINGS"] == "", step["name"]


def test_docs_list_every_input_and_output():
    for name in [*ACTION["inputs"], *ACTION["outputs"]]:
        assert f"`{name}`" in DOC, name


def test_workflow_uses_only_inputs_and_outputs_that_exist():
    for text in WORKFLOWS:
        for job in yaml.safe_load(text)["jobs"].values():
            for step in job["steps"]:
                if step.get("uses", "").startswith("owner/launchlens"):
                    assert set(step["with"]) <= set(ACTION["inputs"])
        used = set(re.findall(r"steps\.launchlens\.outputs\.(\w+)", text))
        assert used <= set(ACTION["outputs"])


def script(name):
    return next(s for s in ACTION["runs"]["steps"] if s["name"] == name)


def test_inputs_never_stand_in_a_script():
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")


def test_actions_are_pinned_by_hash():
    used = [step["uses"] for step in ACTION["runs"]["steps"] if "uses" in step]
    assert used
    for one in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", one), one


def test_dependencies_are_locked_with_hashes():
    assert "--require-hashes" in script("Install launchlens")["run"]
    lock = (ROOT / ".ci/action-requirements.txt").read_text()
    pinned = dict(re.findall(r"^([\w.-]+)==(\S+) \\\n +--hash=sha256:[0-9a-f]{64}", lock, re.M))
    assert len(pinned) == len(re.findall(r"^\w", lock, re.M))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    needed = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    for requirement in map(Requirement, needed):
        version = pinned[requirement.name.lower()]
        assert requirement.specifier.contains(version), (requirement, version)


def test_later_steps_keep_their_path_and_python():
    for step in ACTION["runs"]["steps"]:
        assert "GITHUB_PATH" not in step.get("run", "")
        assert "GITHUB_ENV" not in step.get("run", "")
        if "setup-python" in step.get("uses", ""):
            assert step["with"]["update-environment"] is False


def run_step(name, tmp_path, **env):
    for file in ("output", "summary"):
        (tmp_path / file).touch()
    step = script(name)
    assert set(env) <= set(step["env"])
    base = {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "HOME": str(tmp_path),
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
    }
    return subprocess.run(
        # as the runner starts `shell: bash`
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        env=base | env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )


def compare(tmp_path, fail_on, baseline=EAGER, candidates=f"{CAPTURED}\n\n"):
    return run_step(
        "Compare",
        tmp_path,
        BASELINE=str(baseline),
        CANDIDATES=candidates,
        FAIL_ON=fail_on,
        PHASE="prefill",
    )


def outputs(tmp_path):
    return dict(line.split("=", 1) for line in (tmp_path / "output").read_text().splitlines())


def test_compare_writes_summary_and_outputs(tmp_path):
    done = compare(tmp_path, "launches>+0\nidle>+2pp\n")
    assert done.returncode == 0, done.stderr
    said = outputs(tmp_path)
    assert said["passed"] == "true"
    assert Path(said["json"]).read_text().startswith("{")
    assert "<html" in Path(said["html"]).read_text()
    summary = (tmp_path / "summary").read_text()
    assert summary == Path(said["markdown"]).read_text()
    assert summary.startswith("### Prefill step ")


def test_a_failed_threshold_is_told_and_left_to_the_last_step(tmp_path):
    done = compare(tmp_path, "launches>0", CAPTURED, str(EAGER))
    assert done.returncode == 0, done.stderr
    assert outputs(tmp_path)["passed"] == "false"
    assert "FAILED: launches>0" in (tmp_path / "summary").read_text()
    last = script("Thresholds")
    assert "passed == 'false'" in last["if"]
    assert subprocess.run(["bash", "-c", last["run"]], check=False).returncode == 3


def test_blockers_that_a_threshold_is_on_are_in_every_report(tmp_path):
    done = compare(tmp_path, "blockers", EAGER, str(EAGER))
    assert done.returncode == 0, done.stderr
    said = outputs(tmp_path)
    for name in ("json", "markdown", "html"):
        assert "dtoh-sync" in Path(said[name]).read_text(), name
    assert "dtoh-sync" in (tmp_path / "summary").read_text()


def test_what_cannot_be_compared_fails_at_once(tmp_path):
    done = compare(tmp_path, "", tmp_path / "none.sqlite")
    assert done.returncode == 1
    assert outputs(tmp_path) == {}


def test_hostile_inputs_are_not_run(tmp_path):
    done = compare(tmp_path, "$(touch owned)\n`touch owned`", "; touch owned", "$(touch owned)")
    assert done.returncode != 0
    assert not (tmp_path / "owned").exists()
