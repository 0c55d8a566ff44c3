"""The fuzz room: ``make fuzz``. Prints the numbers tried; ends with 1 if anything was wrong.

python tests/fuzz/run.py --seconds 60            # new seeds each day
python tests/fuzz/run.py --case sql:4711         # one case again, with all it says
"""

import argparse
import multiprocessing
import os
import random
import re
import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(folder) for folder in Path(__file__).parents[:3]]

from cases import KINDS, prepare, run_case  # noqa: E402 - found by the path above

HANG_S = 30
MEMORY_BYTES = 6 << 30


def work(pipe, folder):
    """A worker: cases come through the pipe, outcomes go back. Memory has a limit."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    os.environ["COLUMNS"] = "100"
    while (case := pipe.recv()) is not None:
        outcome = run_case(folder, *case)
        pipe.send((outcome.commands, outcome.answered, outcome.wrong))


class Worker:
    """A process that runs cases, and is replaced when it hangs or dies."""

    def __init__(self, folder):
        self.folder = folder
        self.start()

    def start(self):
        self.pipe, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=work, args=(theirs, self.folder), daemon=True)
        self.process.start()
        theirs.close()
        self.case, self.since = None, 0.0

    def give(self, case):
        self.case, self.since = case, time.monotonic()
        self.pipe.send(case)

    def take(self):
        """The outcome of the case, or None while it still runs."""
        waited = time.monotonic() - self.since
        if self.pipe.poll(0.002):
            try:
                return self.pipe.recv()
            except EOFError:
                self.process.join()
                code = self.process.exitcode
                self.start()
                return [], 0, [f"the process died with {code}"]
        if waited > HANG_S:
            self.process.kill()
            self.process.join()
            self.start()
            return [], 0, [f"no end after {HANG_S} s"]
        return None


def draw(rng, kinds):
    kind = rng.choices(kinds, [KINDS[kind][1] for kind in kinds])[0]
    return kind, rng.randrange(10**9)


def fuzz(folder, seconds, seed, kinds):
    """Run cases for some seconds; gives counts for each kind, and what was wrong with which."""
    rng = random.Random(seed)
    end = time.monotonic() + seconds
    workers = [Worker(folder) for _ in range(max(1, min(4, os.cpu_count() or 1)))]
    for worker in workers:
        worker.give(draw(rng, kinds))
    tried, commands, answered, wrong = Counter(), Counter(), Counter(), []
    while workers:
        for worker in list(workers):
            case, outcome = worker.case, worker.take()
            if outcome is None:
                continue
            tried[case[0]] += 1
            commands[case[0]] += len(outcome[0])
            answered[case[0]] += outcome[1]
            if outcome[2]:
                wrong.append((case, *outcome))
            if time.monotonic() < end:
                worker.give(draw(rng, kinds))
            else:
                worker.process.kill()
                workers.remove(worker)
    return tried, commands, answered, wrong


def _each_once(wrong):
    """One case for each way of being wrong, told by its last words without numbers."""
    found = {}
    for one in wrong:
        words = re.sub(r"\d+|'[^']*'", "", one[3][0].strip().splitlines()[-1])
        found.setdefault(words[:100], []).append(one)
    return [(cases[0], len(cases)) for cases in found.values()]


def show(tried, commands, answered, wrong):
    print(f"{'kind':12}{'cases':>8}{'commands':>10}{'answered':>10}{'refused':>9}{'wrong':>7}")
    bad = Counter(case[0] for case, *_ in wrong)
    for kind in (*KINDS, "all"):
        c, n, a, b = (
            t[kind] if kind != "all" else sum(t.values()) for t in (tried, commands, answered, bad)
        )
        print(f"{kind:12}{c:8}{n:10}{a:10}{n - a:9}{b:7}")
    for (case, said, _, lines), times in _each_once(wrong)[:25]:
        print(f"\n--case {case[0]}:{case[1]} (×{times})")
        for command in said:
            print("  launchlens", *(f"{part:.80}" for part in command))
        for line in lines[:5]:
            print("  " + line.strip()[-1500:].replace("\n", "\n  "))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=int(time.time()) // 86_400)
    parser.add_argument("--only", choices=KINDS, help="one kind of cases")
    parser.add_argument("--case", help="KIND:SEED of one case")
    options = parser.parse_args()
    multiprocessing.set_start_method("spawn")
    with tempfile.TemporaryDirectory(prefix="launchlens-fuzz-") as name:
        folder = Path(name)
        prepare(folder)
        if options.case:
            kind, _, number = options.case.partition(":")
            outcome = run_case(folder, kind, int(number))
            show(
                Counter(),
                Counter(),
                Counter(),
                [((kind, int(number)), outcome.commands, 0, outcome.wrong or ["fine"])],
            )
            return int(bool(outcome.wrong))
        print(f"seed {options.seed}, {options.seconds:.0f} s")
        kinds = [options.only] if options.only else list(KINDS)
        tried, commands, answered, wrong = fuzz(folder, options.seconds, options.seed, kinds)
        show(tried, commands, answered, wrong)
        return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
