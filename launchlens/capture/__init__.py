"""Finds, runs and exports nsys, and checks the machine. Almost alone in starting processes."""

from launchlens.capture.command import CUDA_PROFILER, Tracing, Window, profile_arguments
from launchlens.capture.contention import find_injections, find_tracing_processes
from launchlens.capture.doctor import check_environment, sampling_forbidden
from launchlens.capture.environment import cpu_name, git_state, gpu_facts
from launchlens.capture.export import export_sqlite
from launchlens.capture.find import NSYS_VARIABLE, Nsys, find_nsys
from launchlens.capture.logs import describe_exit, last_line
from launchlens.capture.ports import answers_at
from launchlens.capture.process import ChildTimeoutError
from launchlens.capture.run import record, run_plain
from launchlens.capture.wrap import NothingRecordedError, Wrapped, wrap

__all__ = [
    "CUDA_PROFILER",
    "NSYS_VARIABLE",
    "ChildTimeoutError",
    "NothingRecordedError",
    "Nsys",
    "Tracing",
    "Window",
    "Wrapped",
    "answers_at",
    "check_environment",
    "cpu_name",
    "describe_exit",
    "export_sqlite",
    "find_injections",
    "find_nsys",
    "find_tracing_processes",
    "git_state",
    "gpu_facts",
    "last_line",
    "profile_arguments",
    "record",
    "run_plain",
    "sampling_forbidden",
    "wrap",
]
