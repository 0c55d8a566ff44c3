"""`launchlens models`: every packaged architecture, at any width, without torch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

DATA = Path(__file__).parents[2] / "launchlens" / "harness" / "models.json"
MODELS = json.loads(DATA.read_text(encoding="utf-8"))


def test_every_model_is_a_line(cli):
    code, out, err = cli("models")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80
    for name, entry in MODELS.items():
        (line,) = [line for line in lines if line.split(" ")[0] == name]
        assert entry["hub_id"] in line
        assert f"{entry['text_params_billion']:.2f} B" in line


def test_the_class_shows_where_there_is_room(cli, monkeypatch):
    assert "Qwen3MoeConfig" not in cli("models")[1]
    monkeypatch.setenv("COLUMNS", "120")
    assert "Qwen3MoeConfig" in cli("models")[1]


@pytest.mark.parametrize("columns", [40, 60])
def test_narrow_terminals_keep_numbers_whole(cli, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = cli("models")[1].splitlines()
    assert max(map(len, lines)) <= columns
    assert any(line.startswith("gpt2") for line in lines)


def test_json_has_all_of_it(cli):
    report = json.loads(cli("models", "--format", "json")[1])
    assert report["schema"] == "launchlens.models/1"
    assert [m["name"] for m in report["models"]] == list(MODELS)
    for model in report["models"]:
        entry = MODELS[model["name"]]
        config = entry["config"]
        assert model["layers"] == (config.get("num_hidden_layers") or config["n_layer"])
        for key in ("hub_id", "text_params_billion", "config_class"):
            assert model[key] == entry[key]


def test_torch_is_not_loaded():
    code = (
        "import sys; sys.argv = ['launchlens', 'models']\n"
        "from launchlens.cli.main import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "assert not {'torch', 'transformers'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
