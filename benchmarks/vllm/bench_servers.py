"""Runs vLLM's own serving benchmark against servers, one after the other, in one process.

    python benchmarks/vllm/bench_servers.py OUT NAME=PORT=MODEL_FOLDER ...

For every server and for concurrency 1 and 4: 25 tokens in, 5 out, as `vllm bench serve` does it;
OUT/NAME-cN.json is the file that `vllm bench serve --save-result` writes. Servers that do not
answer within the limit are left out and named.
"""

from __future__ import annotations

import asyncio
import sys
import time
import traceback
import urllib.error
import urllib.request

from vllm.benchmarks.serve import add_cli_args, main_async
from vllm.utils.argparse_utils import FlexibleArgumentParser

READY_S = 260
REQUESTS = {1: 32, 4: 64}


def is_ready(port: int) -> bool:
    """True if the server answers /health."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def main(out: str, servers: list[tuple[str, int, str]]) -> None:
    begun = time.monotonic()
    waiting = {name for name, _, _ in servers}
    # All are waited for before the first is measured: one that still compiles takes CPU time.
    while waiting and time.monotonic() - begun < READY_S:
        for name, port, _ in servers:
            if name in waiting and is_ready(port):
                waiting.discard(name)
                print(f"{name}: ready after {time.monotonic() - begun:.0f} s", flush=True)
        time.sleep(1)
    for name in sorted(waiting):
        print(f"{name}: not ready after {READY_S} s", flush=True)
    parser = FlexibleArgumentParser()
    add_cli_args(parser)
    for name, port, model in servers:
        if name in waiting:
            continue
        for concurrency, count in REQUESTS.items():
            words = (
                f"--backend vllm --endpoint /v1/completions --port {port} --model {model}"
                " --dataset-name random --random-input-len 25 --random-output-len 5 --ignore-eos"
                f" --num-prompts {count} --max-concurrency {concurrency} --num-warmups 8"
                f" --percentile-metrics ttft,tpot,itl,e2el --disable-tqdm --save-result"
                f" --result-dir {out} --result-filename {name}-c{concurrency}.json"
            )
            try:
                asyncio.run(main_async(parser.parse_args(words.split())))
            except Exception:
                print(f"{name} at concurrency {concurrency} failed", flush=True)
                traceback.print_exc()


if __name__ == "__main__":
    main(sys.argv[1], [(n, int(p), m) for n, p, m in (word.split("=") for word in sys.argv[2:])])
