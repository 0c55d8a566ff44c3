"""A program with `vllm.LLM`: requests, some of them between start and stop of the profiler.

    launchlens run --recipe vllm --mode eager -- python benchmarks/vllm/send_requests.py \
        --model FOLDER --load-format dummy [--concurrency 4] [--no-profile] [--take-turns FILE] \
        [engine arguments of vLLM...]

Of programs that were given the same FILE, one at a time sends requests.
Prints one line of JSON: times to first token and between tokens in ms, of every counted request.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import json
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from vllm import LLM, EngineArgs, SamplingParams
from vllm.config import ProfilerConfig
from vllm.utils.argparse_utils import FlexibleArgumentParser
from vllm.v1.engine.llm_engine import LLMEngine

WARM_UP = 8
COUNTED = 8
PROMPT_TOKENS = 25
OUTPUT_TOKENS = 5


def serve_once(
    engine: LLMEngine, first: int, concurrency: int
) -> list[dict[str, list[float] | float]]:
    """Send `concurrency` requests at once and step the engine until all are answered."""
    params = SamplingParams(
        max_tokens=OUTPUT_TOKENS, temperature=0.0, ignore_eos=True, detokenize=False
    )
    arrivals: dict[str, list[float]] = {}
    begun = time.perf_counter()
    for number in range(first, first + concurrency):
        tokens = [1000 + (37 * number + 11 * place) % 18_000 for place in range(PROMPT_TOKENS)]
        engine.add_request(f"request-{number}", {"prompt_token_ids": tokens}, params)
        arrivals[f"request-{number}"] = []
    while engine.has_unfinished_requests():
        for output in engine.step():
            seen = arrivals[output.request_id]
            seen += [time.perf_counter()] * (len(output.outputs[0].token_ids) - len(seen))
    return [
        {
            "ttft_ms": (seen[0] - begun) * 1e3,
            "itl_ms": [(b - a) * 1e3 for a, b in itertools.pairwise(seen)],
        }
        for seen in arrivals.values()
    ]


@contextlib.contextmanager
def turn_of(file: str | None) -> Iterator[None]:
    """Wait until no other program holds `file`; hold it meanwhile."""
    if file is None:
        yield
        return
    with Path(file).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def main() -> None:
    parser = FlexibleArgumentParser()
    parser.add_argument("--concurrency", type=int, default=1)
    parser.add_argument("--no-profile", action="store_true")
    parser.add_argument("--take-turns")
    parser = EngineArgs.add_cli_args(parser)
    parser.set_defaults(enable_prefix_caching=False, skip_tokenizer_init=True)
    args = parser.parse_args()
    engine_args = EngineArgs.from_cli_args(args)
    if not args.no_profile:
        engine_args.profiler_config = ProfilerConfig(profiler="cuda")
    model = LLM.from_engine_args(engine_args)
    engine = model.llm_engine
    with turn_of(args.take_turns):
        for turn in range(WARM_UP):
            serve_once(engine, turn * args.concurrency, args.concurrency)
        if not args.no_profile:
            model.start_profile()
        rows = [
            row
            for turn in range(WARM_UP, WARM_UP + COUNTED)
            for row in serve_once(engine, turn * args.concurrency, args.concurrency)
        ]
        if not args.no_profile:
            model.stop_profile()
    between = [time_ms for row in rows for time_ms in row["itl_ms"]]
    answer = {
        "profiled": not args.no_profile,
        "median_ttft_ms": round(statistics.median(row["ttft_ms"] for row in rows), 3),
        "median_itl_ms": round(statistics.median(between), 3) if between else None,
        "requests": rows,
    }
    print("RESULT", json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
