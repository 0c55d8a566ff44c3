"""Records `program.py` with one nsys, and exports it with and without empty tables.

    python tests/trace/nsys/versions/record.py OUT --nsys PATH [--importer PATH] [--report REPORT]

Writes OUT/nsysVERSION.{node,graph}.{lazy,all}.sqlite.xz (without a GPU: OUT/nsysVERSION.nvtx.*),
scrubbed by `launchlens scrub`, and keeps the reports beside them. With --report nothing is
recorded: a .qdstrm or .nsys-rep from elsewhere is exported (--importer: its QdstrmImporter).
"""

import argparse
import lzma
import re
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).with_name("program.py")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--nsys", type=Path, required=True)
    parser.add_argument("--importer", type=Path)
    parser.add_argument("--report", type=Path, nargs="*", default=())
    parser.add_argument("--gpu", action="store_true")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    said = subprocess.run([asked.nsys, "--version"], capture_output=True, text=True, check=True)
    match = re.search(r"version (\d+\.\d+)", said.stdout)
    assert match, said.stdout
    reports = list(asked.report) or [
        recorded(asked.nsys, asked.out / f"nsys{match[1]}.{mode}", mode)
        for mode in (("node", "graph") if asked.gpu else ("nvtx",))
    ]
    for report in reports:
        if report.suffix == ".qdstrm":
            whole = report.with_suffix(".nsys-rep")
            subprocess.run([asked.importer, "-i", report, "-o", whole], check=True)
        export(asked.nsys, report.with_suffix(".nsys-rep"), asked.out)


def recorded(nsys: Path, out: Path, mode: str) -> Path:
    """The report, or a .qdstrm where the importer could not start."""
    tracing = ["--trace=nvtx"]
    if mode != "nvtx":
        tracing = [
            "--trace=cuda,nvtx", f"--cuda-graph-trace={mode}",
            "--capture-range=cudaProfilerApi", "--capture-range-end=stop",
        ]  # fmt: skip
    subprocess.run(
        [nsys, "profile", *tracing, "--sample=none", "--cpuctxsw=none", "--force-overwrite=true",
         f"--output={out}", sys.executable, PROGRAM],
        check=True,
    )  # fmt: skip
    made = [p for s in (".nsys-rep", ".qdstrm") if (p := Path(f"{out}{s}")).exists()]
    return made[0]


def export(nsys: Path, report: Path, out: Path) -> None:
    """Both kinds of export, scrubbed and packed."""
    for lazy, name in (("true", "lazy"), ("false", "all")):
        raw = out / f"{report.stem}.{name}.raw.sqlite"
        subprocess.run(
            [nsys, "export", "--type=sqlite", f"--lazy={lazy}", "--force-overwrite=true",
             f"--output={raw}", report],
            check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        scrubbed = raw.with_name(f"{report.stem}.{name}.sqlite")
        scrubbed.unlink(missing_ok=True)
        subprocess.run([sys.executable, "-m", "launchlens", "scrub", raw, scrubbed], check=True)
        scrubbed.with_name(f"{scrubbed.name}.xz").write_bytes(
            lzma.compress(scrubbed.read_bytes(), preset=9)
        )
        raw.unlink()
        scrubbed.unlink()


if __name__ == "__main__":
    main()
