"""A program that does what serving engines and their users' programs do, without a GPU.

    ranges.py TASK [WORD...]

Ranges are written as torch and the engines write them; the nvtx package of today believes that no
tool listens where nsys is old, so that its domains are opened by hand.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time

import nvtx

ENGINES = {
    "vllm": [
        "execute_context_1(25)_generation_0(0)",
        *["execute_context_0(0)_generation_1(1)"] * 4,
    ],
    "sglang": ["step[EXTEND bs=1 toks=25]", *["step[DECODE bs=1]"] * 4],
    "trtllm": [
        "[Executor] _forward_step 0: 1 ctx reqs, 25 ctx tokens, 0 gen reqs",
        *[f"[Executor] _forward_step {i}: 0 ctx reqs, 1 gen reqs" for i in range(1, 5)],
    ],
}
DOMAINS = {"trtllm": "TensorRT-LLM"}


def open_domain(name):
    domain = nvtx.get_domain(name)
    if hasattr(domain, "handle"):
        return domain
    from nvtx._lib import lib

    domain = object.__new__(lib.Domain)
    domain.handle = lib.DomainHandle(name)
    domain.__init__(name)
    return domain


def steps(engine, requests=3):
    """What one worker of an engine does for some requests."""
    domain = open_domain(DOMAINS.get(engine, "launchlens test"))
    for _ in range(requests):
        for text in ENGINES[engine]:
            domain.push_range(domain.get_event_attributes(message=text))
            time.sleep(0.1 if multiprocessing.parent_process() else 0.002)
            domain.pop_range()


def in_thread(engine):
    worker = threading.Thread(target=steps, args=(engine,))
    worker.start()
    worker.join()


def in_processes(engine, method, number):
    context = multiprocessing.get_context(method)
    workers = [context.Process(target=steps, args=(engine,)) for _ in range(int(number))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def then_exec(engine):
    os.execv(sys.executable, [sys.executable, __file__, "steps", engine])


def crash(engine):
    steps(engine)
    os.kill(os.getpid(), signal.SIGSEGV)


def hang(engine):
    steps(engine)
    print("hanging", flush=True)
    time.sleep(600)


def deaf(engine):
    """Heeds neither SIGTERM nor SIGINT."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    hang(engine)


def polite(engine):
    """A server: ends well, with a code of its own, when it is asked to."""

    def end(number, _frame):
        print(f"asked by {signal.Signals(number).name}", flush=True)
        sys.exit(40 + number)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    hang(engine)


def flood(engine, megabytes):
    steps(engine)
    block = b"x" * (1 << 20)
    for _ in range(int(megabytes)):
        sys.stdout.buffer.write(block)
    sys.stdout.buffer.write(b"\nthe end\n")


def echo():
    """Standard input, output, error, a variable, and an exit code."""
    print(f"in: {sys.stdin.read()}")
    print(f"err: {os.environ.get('SAID')}", file=sys.stderr)
    sys.exit(3)


def nothing():
    print("no range at all")


TASKS = {
    "steps": steps,
    "thread": in_thread,
    "processes": in_processes,
    "exec": then_exec,
    "crash": crash,
    "hang": hang,
    "deaf": deaf,
    "polite": polite,
    "flood": flood,
    "echo": echo,
    "nothing": nothing,
}

if __name__ == "__main__":
    TASKS[sys.argv[1]](*sys.argv[2:])
