#!/usr/bin/env bash
# Real vLLM on one GPU: vLLM's own benchmark without a profiler, then the same engines under nsys.
# usage: benchmarks/vllm/all.sh OUT servers|traces...
# servers: `vllm serve` in every mode at once, `vllm bench serve` against one after the other.
# traces: the same engines through `launchlens run`, in one process and in two.
# OUT gets a log of each engine, the benchmark's files (servers), and runs/ (traces).
# NSYS may name the nsys; needs vllm 0.24 and launchlens in PYTHONPATH, `vllm` on PATH.
set -u
out=$(realpath -m "$1"); shift
here=$(dirname "$(realpath "$0")")
work=${WORK:-/tmp/vllm-work}
mkdir -p "$out" "$work"
export PYTHONUNBUFFERED=1 VLLM_NO_USAGE_STATS=1 VLLM_HOST_IP=127.0.0.1 HF_HUB_OFFLINE=1 \
  TRANSFORMERS_OFFLINE=1 VLLM_USE_FLASHINFER_SAMPLER=0 VLLM_USE_DEEP_GEMM=0 \
  TORCHINDUCTOR_COMPILE_THREADS=2 OMP_NUM_THREADS=2
engines=(qwen3-0.6b:eager qwen3-0.6b:default qwen3-0.6b:breakable qwen3-0.6b:full
  gemma-4-E4B:eager gemma-4-E4B:default gemma-4-E4B:breakable gemma-3n-E4B:eager gemma-3n-E4B:default)
shape=(--load-format dummy --dtype bfloat16 --max-model-len 256 --max-num-seqs 32
  --max-num-batched-tokens 256 --gpu-memory-utilization 0.1 --kv-cache-memory-bytes 1073741824)

for model in qwen3-0.6b gemma-4-E4B gemma-3n-E4B; do
  [ -f "$work/$model/config.json" ] || python3 "$here/make_model.py" "$model" "$work/$model"
done

caches() { # NAME: what is compiled for an engine is kept for its next start
  export VLLM_CACHE_ROOT="$work/cache/$1/vllm" TORCHINDUCTOR_CACHE_DIR="$work/cache/$1/inductor" \
    TRITON_CACHE_DIR="$work/cache/$1/triton"
}

servers() {
  local port=8100 list=() pids=()
  for engine in "${engines[@]}"; do
    local model=${engine%:*} mode=${engine#*:} words=()
    port=$((port + 1))
    case $mode in
      eager) words=(--enforce-eager) ;;
      full) words=(--compilation-config '{"cudagraph_mode": "FULL"}') ;;
    esac
    (
      caches "$model-$mode"
      [ "$mode" = breakable ] && export VLLM_USE_BREAKABLE_CUDAGRAPH=1
      exec vllm serve "$work/$model" --port "$port" --no-enable-prefix-caching "${shape[@]}" "${words[@]}"
    ) >"$out/serve-$model-$mode.log" 2>&1 &
    pids+=($!)
    list+=("$model-$mode=$port=$work/$model")
  done
  mkdir -p "$out/bench"
  timeout 420 python3 "$here/bench_servers.py" "$out/bench" "${list[@]}" >"$out/bench.log" 2>&1
  tail -n 40 "$out/bench.log" | grep -E 'ready|failed'
  kill "${pids[@]}"
  for _ in $(seq 20); do pgrep -f 'vllm serve|EngineCore' >/dev/null || break; sleep 0.5; done
  pkill -9 -f 'vllm serve|EngineCore'
  wait
}

traced() { # NAME MODE PROCESSES(0|1) COMMAND...
  local name=$1 mode=$2 processes=$3; shift 3
  VLLM_ENABLE_V1_MULTIPROCESSING=$processes timeout -s INT 330 python3 -m launchlens run --recipe vllm \
    --mode "$mode" --name "$name" --runs "$out/runs" "$@" >"$out/run-$name.log" 2>&1
  echo "$name: exit $?"
}

traces() {
  local requests=(python3 "$here/send_requests.py" "${shape[@]}" --take-turns "$work/turn")
  for engine in "${engines[@]}"; do
    local model=${engine%:*} mode=${engine#*:}
    (caches "$model-$mode"; traced "$model-$mode" "$mode" 0 --capture-range none -- "${requests[@]}" --model "$work/$model") &
  done
  for mode in eager default; do
    (caches "qwen3-0.6b-$mode"; traced "qwen3-0.6b-$mode-c4" "$mode" 0 --capture-range none -- \
      "${requests[@]}" --concurrency 4 --model "$work/qwen3-0.6b") &
  done
  (caches qwen3-0.6b-default; traced qwen3-0.6b-default-two-processes default 1 --capture-range none -- \
    "${requests[@]}" --model "$work/qwen3-0.6b") &
  (caches qwen3-0.6b-eager; traced qwen3-0.6b-latency-eager eager 0 -- vllm bench latency "${shape[@]}" \
    --model "$work/qwen3-0.6b" --skip-tokenizer-init --disable-detokenize --input-len 25 --output-len 5 \
    --batch-size 1 --num-iters-warmup 8) &
  wait
}

for part in "$@"; do
  begun=$SECONDS
  "$part"
  echo "$part: $((SECONDS - begun)) s"
done
