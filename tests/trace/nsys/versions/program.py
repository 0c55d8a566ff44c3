"""A forward step whose work is known by counting its lines, for recordings by several nsys.

Four eager steps ("prefill"), each with 10 kernel launches and one copy from page-locked memory;
then, with a GPU, two steps that replay them as one CUDA graph ("decode"). Without a GPU the same
ranges with work on the CPU. Needs torch; the ranges are those of the harness, which nsys 2022.4
records too.
"""

import torch

from launchlens.harness.ranges import StepRanges

STEPS = 4
REPLAYS = 2
LAUNCHES = 10

cuda = torch.cuda.is_available()
device = "cuda" if cuda else "cpu"
x = torch.ones(1 << 16, device=device)
host = torch.ones(1 << 16)
if cuda:
    host = host.pin_memory()


def step() -> None:
    x.copy_(host, non_blocking=True)
    for _ in range(LAUNCHES):
        x.mul_(1.01)


def finish() -> None:
    if cuda:
        torch.cuda.synchronize()


ranges = StepRanges()
step()
finish()
graph = None
if cuda:
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    torch.cuda.profiler.start()
for i in range(STEPS):
    with ranges.step("prefill", i):
        step()
    finish()
for i in range(REPLAYS if graph else 0):
    with ranges.step("decode", i):
        graph.replay()
    finish()
if cuda:
    torch.cuda.profiler.stop()
