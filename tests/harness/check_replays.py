"""Tries the replay check on a machine with a GPU: steps of `steps/`, real models, all variants.

    python tests/harness/check_replays.py OUT [--only PART ...] [--cases NAME ...] [--jobs 6]

Parts: steps (each file of `steps/` in a bfloat16 qwen3-0.6b of four layers), models (presets and
tiny models of other kinds as they are), variants (each captured variant, prefill and decode),
reports (`launchlens blockers --model` with each step that is wrong; needs nsys, which NSYS may
name). Every harness run is a process of its own. One line for each run says what was expected and
what came; OUT gets results as JSON and logs. Exit code 1 if anything is not as expected.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LIMIT_S = 240
QWEN3 = {"model": "qwen3-0.6b", "layers": 4}
SMALL = {"hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 1000}
# Kinds of model that no preset is of, as configurations of two small layers.
TINY = {
    "gpt-oss": SMALL
    | {
        "model_type": "gpt_oss", "architectures": ["GptOssForCausalLM"], "head_dim": 64,
        "num_key_value_heads": 2, "intermediate_size": 256, "num_local_experts": 4,
        "num_experts_per_tok": 2, "sliding_window": 16,
        "layer_types": ["sliding_attention", "full_attention"],
    },
    "mixtral": SMALL
    | {
        "model_type": "mixtral", "architectures": ["MixtralForCausalLM"],
        "num_key_value_heads": 2, "intermediate_size": 256, "num_local_experts": 4,
    },
    "t5": {
        "model_type": "t5", "architectures": ["T5ForConditionalGeneration"], "d_model": 64,
        "d_kv": 16, "d_ff": 128, "num_layers": 2, "num_heads": 4, "vocab_size": 1000,
        "is_encoder_decoder": True,
    },
    "whisper": {
        "model_type": "whisper", "architectures": ["WhisperForConditionalGeneration"],
        "d_model": 64, "encoder_layers": 2, "decoder_layers": 2, "vocab_size": 1000,
        "encoder_attention_heads": 4, "decoder_attention_heads": 4, "is_encoder_decoder": True,
    },
}  # fmt: skip
# What an attempt that may patch comes to: verdicts that are no false alarm, or an error's words.
MODELS = {
    "qwen3-0.6b": ({"layers": 4}, "right"),
    "llama-3.2-1b": ({"layers": 4}, "right"),
    "gemma-3-1b": ({"layers": 8}, "right"),
    "gemma-4-E4B": ({"layers": 8}, "right"),
    "gemma-3n-E4B": ({"layers": 6}, "right"),
    "gpt2": ({"layers": 4}, "right"),
    "gpt-oss": ({}, "right"),
    "mixtral": ({}, "right"),
    "t5": ({}, "encoder-decoder"),
    "whisper": ({}, "encoder-decoder"),
}
VARIANTS = (
    "cudagraph",
    "breakable",
    "piecewise",
    "compile-cudagraph",
    "compile-cudagraphs-backend",
)


def literals(path):
    """The constants of a step's file, without running it."""
    nodes = ast.parse(path.read_text()).body
    return {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in nodes
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
    }


def harness(out, name, **spec):
    """One process of the harness: its result, and the end of its log."""
    result_path = out / f"{name}.json"
    spec = {
        "device": "cuda",
        "isl": 25,
        "dtype": "bfloat16",
        "result_path": str(result_path),
    } | spec
    path = out / f"{name}.spec.json"
    path.write_text(json.dumps(spec))
    command = [sys.executable, "-m", "launchlens.harness", str(path)]
    with (out / f"{name}.log").open("w") as log:
        try:
            subprocess.run(
                command, stdout=log, stderr=log, env=environment(), timeout=LIMIT_S, check=False
            )
        except subprocess.TimeoutExpired:
            return {"error": {"message": f"no end after {LIMIT_S} s"}}
    if not result_path.exists():
        return {"error": {"message": (out / f"{name}.log").read_text()[-300:]}}
    return json.loads(result_path.read_text())


def environment():
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return os.environ | {"PYTHONPATH": paths, "HF_HUB_OFFLINE": "1"}


def of_attempt(result):
    """Verdict, layer and reason of an attempt; or why there is none."""
    if result.get("error"):
        return {"verdict": "error", "reason": result["error"]["message"]}
    attempt = result["attempt"]
    if attempt["replay"] is None:
        return {"verdict": "not captured", "reason": attempt["stopped"]}
    told = ("verdict", "module", "source", "differing", "max_abs_diff", "tolerance", "reason")
    said = {key: attempt["replay"][key] for key in (*told, "inputs", "varied", "eager_spread")}
    return said | {"patched": attempt["patched_sources"]}


def steps(out):
    for path in sorted((HERE / "steps").glob("*.py")):
        wanted = literals(path)

        def run(path=path):
            spec = QWEN3 | {"mode": "attempt", "patch": str(path), "keep_going": True}
            return of_attempt(harness(out, f"step-{path.stem}", **spec))

        def judge(said, wanted=wanted):
            layer = wanted["LAYER"]
            at = said.get("module") or ""
            return said["verdict"] == wanted["VERDICT"] and (layer is None or at.startswith(layer))

        yield f"step {path.stem}", f"{wanted['VERDICT']}, {wanted['LAYER']}", run, judge


def models(out):
    for name, (more, wanted) in MODELS.items():

        def run(name=name, more=more):
            model = name
            if name in TINY:
                folder = out / "models" / name
                folder.mkdir(parents=True, exist_ok=True)
                (folder / "config.json").write_text(json.dumps(TINY[name]))
                model = str(folder)
            spec = {"model": model, "mode": "attempt", "keep_going": True} | more
            return of_attempt(harness(out, f"model-{name}", **spec))

        def judge(said, wanted=wanted):
            return wanted in (said["verdict"], *(said.get("reason") or "").split())

        yield f"model {name}", wanted, run, judge


def variants(out):
    for variant in VARIANTS:

        def run(variant=variant):
            spec = QWEN3 | {"mode": "time", "variant": variant, "osl": 5}
            result = harness(out, f"variant-{variant}", **spec)
            if result.get("error") or result.get("failure"):
                return {"verdict": "error", "reason": str(result["error"] or result["failure"])}
            checks = result["replays"]
            verdicts = {phase: check["verdict"] for phase, check in checks.items()}
            return {"verdict": "/".join(sorted(set(verdicts.values()))), "replays": checks}

        yield f"variant {variant}", "right", run, lambda said: said["verdict"] == "right"


def reports(out):
    nsys = ["--nsys", os.environ["NSYS"]] if os.environ.get("NSYS") else []
    for path in sorted((HERE / "steps").glob("*.py")):
        verdict = literals(path)["VERDICT"]
        fails = verdict != "right"  # a gate does not pass on what cannot be told either

        def run(path=path):
            command = [
                sys.executable, "-m", "launchlens", "blockers", "--model", "qwen3-0.6b",
                "--layers", "4", "--patch", str(path), "--runs", str(out / "runs" / path.stem),
                "--fail-on", "blockers>0", "-f", "json", *nsys,
            ]  # fmt: skip
            done = subprocess.run(
                command, env=environment(), capture_output=True, text=True, check=False
            )
            (out / f"report-{path.stem}.log").write_text(done.stdout + done.stderr)
            if not done.stdout:
                return {"verdict": "error", "reason": done.stderr[-300:]}
            found = json.loads(done.stdout)["patched"]
            rules = [f["rule"] for f in found["findings"] if f["confidence"] == "confirmed"]
            return {"verdict": found["attempt"]["replay"]["verdict"], "exit": done.returncode,
                    "reason": ", ".join(rules)}  # fmt: skip

        def judge(said, verdict=verdict, fails=fails):
            return said["verdict"] == verdict and said.get("exit") == (3 if fails else 0)

        yield f"report {path.stem}", f"{verdict}, exit {3 if fails else 0}", run, judge


PARTS = {"steps": steps, "models": models, "variants": variants, "reports": reports}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", nargs="*", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--cases", nargs="*", help='only these, for example "step as_it_is"')
    parser.add_argument("--jobs", type=int, default=6)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    cases = [case for part in options.only for case in PARTS[part](options.out.resolve())]
    cases = [case for case in cases if not options.cases or case[0] in options.cases]

    def one(case):
        name, wanted, run, judge = case
        begun = time.monotonic()
        said = run()
        good = judge(said)
        print(
            f"{'ok  ' if good else 'FAIL'} {name}: expected {wanted}; {said['verdict']}"
            f"{', ' + said['module'] if said.get('module') else ''}"
            f"{': ' + str(said['reason'])[:200] if said.get('reason') else ''}"
            f" ({time.monotonic() - begun:.0f} s)",
            flush=True,
        )
        return {"name": name, "expected": wanted, "good": good, **said}

    with ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(one, cases))
    (options.out / "replays.json").write_text(json.dumps(results, indent=1))
    bad = [result["name"] for result in results if not result["good"]]
    print(
        f"{len(results) - len(bad)} of {len(results)} as expected"
        + (f"; not: {bad}" if bad else "")
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
