#!/usr/bin/env bash
# Everything that needs a real GPU, in one go: tests, profiles of all variants, blocker programs.
# usage: benchmarks/gpu.sh OUT PART[+]...
# Parts: see run_part below.
# OUT receives logs and, for each part that profiles, its run folders (without .nsys-rep and
# outputs) as runs-PART.tar.xz. Parts that record leave in OUT/recorded what tests/cli/recorded keeps:
# copy it there.
# NSYS may name the nsys to use; PYTHON the interpreter (default python3); PYTEST_ARGS goes to the
# parts that test, PROFILE_ARGS to tests-profile as well.
set -u
PYTEST_ARGS=${PYTEST_ARGS:-}
PROFILE_ARGS=${PROFILE_ARGS:-}
out=$1; shift
python=${PYTHON:-python3}
base=$(mktemp -d)
mkdir -p "$out"
export PYTHONUNBUFFERED=1
all_variants=(eager compile-cudagraph compile-cudagraphs-backend compile cudagraph breakable piecewise)

variants() { for v in "$@"; do printf -- '--variant %s ' "$v"; done; }
timed() { # NAME SECONDS COMMAND...: run with a limit, log, and say how it ended
  local name=$1 limit=$2; shift 2
  local begun=$SECONDS
  timeout "$limit" "$@" >"$out/$name.log" 2>&1
  echo "$name: exit $? after $((SECONDS - begun)) s"
}

pack() { # PART: its run folders without reports and outputs
  tar -C "$base/$1" --exclude='*.nsys-rep' --exclude='*.npz' --warning=no-file-changed -cf - . |
    xz -T0 -6 >"$out/runs-$1.tar.xz"
}

answers() { # PART NAME: what its children answered, as tests/cli/recorded/NAME keeps it
  "$python" benchmarks/record_answers.py "$base/$1" "$out/recorded/$2"
}

profile_of() { # NAME SECONDS ARGUMENTS...
  local name=$1 limit=$2; shift 2
  timed "$name" "$limit" "$python" -m launchlens profile -v "$@"
}
examples=docs/examples

run_part() {
  export LAUNCHLENS_RUNS="$base/$1"
  mkdir -p "$LAUNCHLENS_RUNS"
  case $1 in
    tests) timed tests 280 "$python" -m pytest -m gpu -q --no-header $PYTEST_ARGS -p no:cacheprovider tests/harness tests/capture ;;
    tests-profile) timed tests-profile 580 "$python" -m pytest -m gpu -q --no-header $PYTEST_ARGS $PROFILE_ARGS -p no:cacheprovider tests/cli/test_gpu_profile.py ;;
    tests-gemma4) timed tests-gemma4 240 "$python" -m pytest -m gpu -q --no-header -p no:cacheprovider tests/cli/test_gpu_profile.py::TestGemma4 ;;
    stacks) timed stacks 120 "$python" tests/blockers/record.py "$out/stacks" --jobs 16 --stacks-only ;;
    blockers) timed blockers 280 "$python" tests/blockers/record.py "$out/blockers" --jobs 6 --stacks ;;
    replays) timed replays 560 "$python" tests/harness/check_replays.py "$out/replays" --jobs 6 ;;
    doctor) timed doctor 90 "$python" -m launchlens doctor ;;
    gemma4) profile_of gemma4 280 --model gemma-4-E4B-it ;;
    gemma4-requests) profile_of gemma4-requests 450 --model gemma-4-E4B-it --osl 5 --concurrency 1,4 \
      --graph-trace node --trace-steps 4 $(variants eager cudagraph breakable piecewise) ;;
    qwen3) profile_of qwen3 900 --model qwen3-0.6b $(variants "${all_variants[@]}") ;;
    qwen3-backend) profile_of qwen3-backend 390 --model qwen3-0.6b \
      $(variants eager compile-cudagraph compile-cudagraphs-backend) ;;
    gemma3n) profile_of gemma3n 390 --model gemma-3n-E4B-it ;;
    gemma3n-altup) timed gemma3n-altup 390 "$python" -m launchlens blockers --model gemma-3n-E4B-it --patch $examples/gemma3n_altup.py ;;
    gemma3n-both) timed gemma3n-both 390 "$python" -m launchlens blockers --model gemma-3n-E4B-it --patch $examples/gemma3n_both.py ;;
    record-qwen3)
      profile_of record-qwen3 900 --model qwen3-0.6b --rounds 2 $(variants eager cudagraph breakable \
        piecewise compile compile-cudagraph compile-cudagraphs-backend)
      answers record-qwen3 qwen3_all ;;
    record-gemma4)
      profile_of record-gemma4 400 --model gemma-4-E4B-it --rounds 3
      answers record-gemma4 gemma4 ;;
    record-gemma4-requests)
      profile_of record-gemma4-requests 450 --model gemma-4-E4B-it --osl 5 --concurrency 1,4 \
        --graph-trace node --trace-steps 4 $(variants eager cudagraph breakable piecewise)
      answers record-gemma4-requests gemma4_requests ;;
    record-gemma3n-fixed)
      profile_of record-gemma3n-fixed 390 --model gemma-3n-E4B-it --patch $examples/gemma3n_both.py
      answers record-gemma3n-fixed gemma3n_fixed ;;
    record-gemma3n)
      timed record-gemma3n 580 "$python" -m launchlens blockers --model gemma-3n-E4B-it --rounds 3 \
        --patch $examples/gemma3n_both.py
      answers record-gemma3n gemma3n_both ;;
    *) echo "no part $1" ;;
  esac
  case $1 in gemma* | qwen* | record*) pack "$1" ;; esac
}

# A part with a + behind it runs beside the next ones. Who measures is alone on the GPU, but the
# CPU is shared: eager steps then take longer, so times to be quoted come from parts without a +.
for part in "$@"; do
  case $part in
    *+) run_part "${part%+}" & ;;
    *) run_part "$part" ;;
  esac
done
wait
ls -la "$out"
