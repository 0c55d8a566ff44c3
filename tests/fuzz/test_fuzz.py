"""The fuzz room itself: some cases of each kind, that they come back, and that it sees faults."""

import copy
import json
import multiprocessing
import random
import time

import cases
import pytest
import run
from demands import strict_json, wrong_of_analysis, wrong_of_ending


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("fuzz")
    cases.prepare(place)
    return place


@pytest.mark.parametrize("kind", cases.KINDS)
def test_nothing_is_wrong_with_some_cases_of_each_kind(kind, folder):
    outcomes = [cases.run_case(folder, kind, seed) for seed in range(12)]
    assert [line for o in outcomes for line in o.wrong] == []
    assert sum(len(o.commands) for o in outcomes) >= 12


@pytest.mark.parametrize("kind", ["sql", "bytes", "report"])
def test_a_number_brings_its_case_back(kind, folder):
    first, again = (cases.run_case(folder, kind, 5) for _ in range(2))
    words = [
        [[part for part in command if str(folder) not in part] for command in outcome.commands]
        for outcome in (first, again)
    ]
    assert words[0] == words[1]
    assert (first.answered, first.wrong) == (again.answered, again.wrong)


@pytest.mark.parametrize(
    ("name", "value"),
    [("idle", 1.01), ("idle_kernels_only", -0.1), ("kernels", -1), ("busy_ns", 10**15)],
)
def test_a_figure_out_of_range_is_seen(name, value, folder):
    data = json.loads((folder / "inputs" / "analysis.json").read_text())
    assert wrong_of_analysis(data) == []
    spoiled = copy.deepcopy(data)
    spoiled["steps"][0][name] = value
    assert any(name.removesuffix("_ns") in line for line in wrong_of_analysis(spoiled))


def test_gaps_that_are_not_the_idle_time_are_seen(folder):
    data = json.loads((folder / "inputs" / "analysis.json").read_text())
    data["steps"][0]["gaps_ns"]["host"] += 1
    assert "gaps sum to" in wrong_of_analysis(data)[0]


def test_what_no_json_reader_takes_is_seen():
    with pytest.raises(ValueError, match="NaN"):
        strict_json('{"a": NaN}')


@pytest.mark.parametrize(
    ("code", "error", "warned"),
    [(5, "x", []), (1, "", []), (1, "Traceback (most", []), (1, "what", []), (0, "", ["divide"])],
)
def test_a_bad_ending_is_seen(code, error, warned):
    assert wrong_of_ending(code, error, warned) != []
    assert wrong_of_ending(1, "launchlens: no such file.\n", []) == []


def test_a_traceback_is_seen(folder, monkeypatch):
    from launchlens.cli import main

    monkeypatch.setattr(main, "app", lambda: {}["nothing"])
    outcome = cases.run_case(folder, "threshold", 1)
    assert "KeyError" in outcome.wrong[0]


def _hang(pipe, folder):
    pipe.recv()
    time.sleep(60)


def _die(pipe, folder):
    pipe.recv()


@pytest.mark.parametrize(("does", "said"), [(_hang, "no end after"), (_die, "process died")])
def test_a_process_that_hangs_or_dies_is_seen_and_replaced(does, said, folder, monkeypatch):
    monkeypatch.setattr(run, "multiprocessing", multiprocessing.get_context("fork"))
    monkeypatch.setattr(run, "work", does)
    monkeypatch.setattr(run, "HANG_S", 1)
    worker = run.Worker(folder)
    first = worker.process.pid
    worker.give(("sql", 1))
    while (outcome := worker.take()) is None:
        time.sleep(0.01)
    assert said in outcome[2][0]
    assert worker.process.pid != first
    worker.process.kill()


def test_kinds_are_drawn_as_often_as_they_say():
    rng = random.Random(1)
    drawn = [run.draw(rng, list(cases.KINDS))[0] for _ in range(2000)]
    assert all(abs(drawn.count(k) / 20 - weight) < 4 for k, (_, weight) in cases.KINDS.items())
