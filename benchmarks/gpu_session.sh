#!/usr/bin/env bash
# Everything that needs a real GPU, in one go: tests, profiles of all variants, blocker programs.
# usage: benchmarks/gpu_session.sh OUT PART...    parts: tests blockers gemma4 qwen3 gemma3n requests
# OUT receives logs, reports and the run folders (without .nsys-rep), compressed.
# NSYS may name the nsys to use; PYTHON the interpreter (default python3).
set -u
PYTEST_ARGS=${PYTEST_ARGS:-}
out=$1; shift
python=${PYTHON:-python3}
runs=$(mktemp -d)/runs
mkdir -p "$out" "$runs"
export LAUNCHLENS_RUNS="$runs" PYTHONUNBUFFERED=1
all_variants=(eager cudagraph breakable piecewise compile compile-cudagraph compile-cudagraphs-backend)

launchlens() { "$python" -m launchlens "$@"; }
variants() { for v in "$@"; do printf -- '--variant %s ' "$v"; done; }
timed() { # NAME SECONDS COMMAND...: run with a limit, log, and say how it ended
  local name=$1 limit=$2; shift 2
  local begun=$SECONDS
  timeout "$limit" "$@" >"$out/$name.log" 2>&1
  echo "$name: exit $? after $((SECONDS - begun)) s"
}

pack() { # run folders without reports and outputs; done after each part, in case time runs out
  tar -C "$runs" --exclude='*.nsys-rep' --exclude='*.npz' -cf - . | xz -T0 -2 >"$out/.runs" &&
    mv "$out/.runs" "$out/runs.tar.xz"
}

for part in "$@"; do
  case $part in
    tests) timed tests 280 "$python" -m pytest -m gpu -q --no-header $PYTEST_ARGS -p no:cacheprovider tests/harness tests/capture & ;;
    blockers) timed blockers 280 "$python" tests/blockers/record.py "$out/blockers" --jobs 6 --stacks & ;;
    wait) wait ;;
    doctor) timed doctor 90 "$python" -m launchlens doctor ;;
    gemma4) timed gemma4 280 "$python" -m launchlens profile --model gemma-4-E4B-it -v ;;
    gemma4-four) timed gemma4-four 400 "$python" -m launchlens profile --model gemma-4-E4B-it $(variants eager cudagraph breakable piecewise compile-cudagraphs-backend) -v ;;
    qwen3) timed qwen3 500 "$python" -m launchlens profile --model qwen3-0.6b $(variants "${all_variants[@]}") -v ;;
    requests) timed requests 300 "$python" -m launchlens profile --model gemma-4-E4B-it --isl 25 --osl 5 --concurrency 1,4 $(variants eager breakable) -v ;;
    gemma3n) timed gemma3n 300 "$python" -m launchlens profile --model gemma-3n-E4B-it -v ;;
  esac
  case $part in gemma* | qwen* | requests*) pack ;; esac
done
wait
pack
ls -la "$out"
