"""Result files of serving benchmarks: a file for each tool in ``tools/``, found by its content."""

from launchlens.bench.read import read_benchmarks

__all__ = ["read_benchmarks"]
