#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ratios between two results of femura_bench, row by row.

    femura_bench --benchmark_out=old.json ...
    femura_bench --benchmark_out=new.json ...
    compare.py old.json new.json
    compare.py old.json new.json --counter dofs/s --filter '^voxel_apply/.*cuda' --worse 0.9

A ratio above 1 means that NEW is better: less time, a larger rate, fewer bytes or iterations. Of
repeated rows the median is taken. Differences of the two contexts (device, ceilings, versions) are
printed first, because ratios between machines say little.
Exit codes: 0, 1 with --worse if a row failed or is worse than that ratio, 2 usage, 5 unreadable file.
"""

import argparse
import json
import re
import statistics
import sys

# Counters of which less is better.
COSTS = {"time", "pcg_iterations", "products", "setup_products", "setup_s", "model_s", "bytes/dof",
         "flops/dof", "bytes/element", "peak_bytes/dof", "true_residual"}
SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


def clean_name(name):
    """The row's name without what Google Benchmark appends."""
    return re.sub(r"/(iterations:\d+|repeats:\d+|manual_time)(?=/|$)", "", name)


def load(path):
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        return data["context"], data["benchmarks"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.stderr.write(f"compare.py: {path}: no result of femura_bench: {error!r}\n")
        sys.exit(5)


def values_by_name(rows, counter):
    """{name: median value}; rows that failed or lack the counter are left out."""
    found = {}
    for row in rows:
        if row.get("run_type", "iteration") != "iteration" or row.get("error_occurred"):
            continue
        if counter == "time":
            # With manual time, real_time is the time that was set.
            value = row["real_time"] * SECONDS[row["time_unit"]]
        else:
            value = row.get(counter)
        if value is not None:
            found.setdefault(clean_name(row["name"]), []).append(value)
    return {name: statistics.median(values) for name, values in found.items()}


def failed_rows(rows):
    return {clean_name(row["name"]): row.get("error_message", "")
            for row in rows if row.get("error_occurred")}


def context_differences(old, new):
    ignored = {"date", "load_avg", "executable", "caches", "num_cpus", "mhz_per_cpu",
               "cpu_scaling_enabled", "host_name", "json_schema_version", "library_build_type"}
    for key in sorted(set(old) | set(new)):
        if key not in ignored and old.get(key) != new.get(key):
            yield key, old.get(key, "-"), new.get(key, "-")


def table(lines):
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        cells = [line[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(line[1:], widths[1:])]
        print("  ".join(cells).rstrip())


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--counter", default="time",
                        help="what to compare: time (default) or a counter such as dofs/s")
    parser.add_argument("--filter", default="", help="regular expression on the rows' names")
    parser.add_argument("--worse", type=float, metavar="RATIO",
                        help="end with 1 if a ratio is below this one")
    arguments = parser.parse_args()
    try:
        wanted = re.compile(arguments.filter)
    except re.error as error:
        parser.error(f"--filter: {error}")

    old_context, old_rows = load(arguments.old)
    new_context, new_rows = load(arguments.new)
    old = values_by_name(old_rows, arguments.counter)
    new = values_by_name(new_rows, arguments.counter)
    both = [name for name in old if name in new and wanted.search(name)]
    if not both:
        parser.error(f"the files have no row in common with '{arguments.counter}'")

    differences = list(context_differences(old_context, new_context))
    if differences:
        table([("context", "old", "new")] + [(k, str(a), str(b)) for k, a, b in differences])
        print()

    unit = " [s]" if arguments.counter == "time" else ""
    lines = [("row", "old " + arguments.counter + unit, "new" + unit, "ratio")]
    ratios = {}
    for name in both:
        a, b = old[name], new[name]
        better, worse = (a, b) if arguments.counter in COSTS else (b, a)
        ratios[name] = better / worse if worse else float("inf" if better else "nan")
        lines.append((name, f"{a:.4g}", f"{b:.4g}", f"{ratios[name]:.3f}"))
    positive = [ratio for ratio in ratios.values() if 0 < ratio < float("inf")]
    if positive:
        lines.append(("geometric mean", "", "", f"{statistics.geometric_mean(positive):.3f}"))
    table(lines)
    failed = {name: message for name, message in failed_rows(new_rows).items()
              if wanted.search(name)}
    for name, message in failed.items():
        print(f"failed in new: {name}: {message}")
    for name in sorted((set(old) ^ set(new)) - set(failed)):
        if wanted.search(name):
            print(f"only in {'old' if name in old else 'new'}: {name}")

    if arguments.worse is not None:
        below = [name for name in both if not ratios[name] >= arguments.worse]
        if below or failed:
            sys.stderr.write(f"compare.py: {len(below)} rows below {arguments.worse}, "
                             f"{len(failed)} failed\n")
            sys.exit(1)


if __name__ == "__main__":
    main()
