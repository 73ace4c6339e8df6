#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Scaling of ossatura_bench rows with OpenMP threads: a process for each number of threads.
#   bench/scaling.sh [options] ROWS...
#   bench/scaling.sh -o scaling voxel_apply/brick/.*/f64/cube voxel_multigrid/.*/f64/cube
#     -b FILE   ossatura_bench (build/ossatura_bench)
#     -o DIR    results strong-<threads>.json and weak-<threads>.json (scaling)
#     -t LIST   numbers of threads (1, 2, 4, ... and all processors)
#     -n SIZE   of the problem along an axis; for weak scaling that of one thread, with as many
#               times the volume for more (64)
# Then: bench/plot.py scaling/*.json -o figures
# Exit codes: those of ossatura_bench; 2 usage.
set -euo pipefail

bench=build/ossatura_bench
output=scaling
size=64
threads=""
usage() {
  sed -n '3,13s/^# \{0,1\}//p' "$0"
}
while getopts "b:o:t:n:h" option; do
  case $option in
    b) bench=$OPTARG ;;
    o) output=$OPTARG ;;
    t) threads=${OPTARG//,/ } ;;
    n) size=$OPTARG ;;
    h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done
shift $((OPTIND - 1))
if [ $# -eq 0 ]; then
  usage >&2
  exit 2
fi
if [ ! -x "$bench" ]; then
  echo "scaling.sh: $bench is no program: build it, or name it with -b" >&2
  exit 2
fi
if [ -z "$threads" ]; then
  all=$(nproc)
  for ((t = 1; t < all; t *= 2)); do
    threads+="$t "
  done
  threads+=$all
fi

mkdir -p "$output"
export OMP_PROC_BIND=${OMP_PROC_BIND:-spread} OMP_PLACES=${OMP_PLACES:-cores}
for t in $threads; do
  weak=$(awk -v n="$size" -v t="$t" 'BEGIN { print int(n * t ^ (1 / 3) + 0.5) }')
  for kind in strong weak; do
    n=$size
    if [ $kind = weak ]; then
      n=$weak
    fi
    echo "== $kind, $t threads, size $n"
    OMP_NUM_THREADS=$t "$bench" run "$@" --backends=openmp --sizes="$n" \
      --output="$output/$kind-$t.json"
  done
done
