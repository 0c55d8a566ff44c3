"""Finds, runs and exports nsys, and checks the machine. Almost alone in starting processes."""

from launchlens.capture.command import GraphTrace, Tracing, profile_arguments
from launchlens.capture.doctor import check_environment
from launchlens.capture.environment import GitState, Gpu, git_state, gpu_facts
from launchlens.capture.export import export_command_line, export_sqlite
from launchlens.capture.find import Nsys, all_nsys, find_nsys
from launchlens.capture.importer import find_importer, find_missing_libraries, run_importer
from launchlens.capture.logs import describe_exit, last_line
from launchlens.capture.process import ChildTimeoutError
from launchlens.capture.run import Recording, record, run_plain

__all__ = [
    "ChildTimeoutError",
    "GitState",
    "Gpu",
    "GraphTrace",
    "Nsys",
    "Recording",
    "Tracing",
    "all_nsys",
    "check_environment",
    "describe_exit",
    "export_command_line",
    "export_sqlite",
    "find_importer",
    "find_missing_libraries",
    "find_nsys",
    "git_state",
    "gpu_facts",
    "last_line",
    "profile_arguments",
    "record",
    "run_importer",
    "run_plain",
]
