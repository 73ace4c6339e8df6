#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ratios between two results of ossatura_bench, row by row.

    ossatura_bench all --quick --output=old.json
    ossatura_bench all --quick --output=new.json
    compare.py old.json new.json --fail-on-regression
    compare.py old.json new.json --counter dofs/s --filter '^voxel_apply/.*cuda' --worse 0.9

A ratio above 1 means that NEW is better: less time, a larger rate, fewer bytes or iterations. It is
that of the medians over the repetitions. Its noise is three times the root of the sum of the squares
of both median absolute deviations, each over its median, and 3 % at the least (--noise). A row is a
regression where its ratio is below 1 by more than its noise, and an improvement where it is above.
Differences of the two contexts (device, ceilings, versions) are printed first, because ratios
between machines say little.
Exit codes: 0; 1 with --fail-on-regression or --worse if a row regressed, or failed in NEW, or is not in
NEW, whose run was interrupted, or its ratio is below --worse; 2 usage; 5 unreadable file.
"""

import argparse
import math
import re
import statistics
import sys

from results import load

# Of these less is better: times, bytes, iterations, errors.
COSTS = re.compile(r"time|(.*_)?(s|us|ms|bytes|MB|GB|iterations|products|residual|error|difference|sweeps|10000)"
                   r"|(.*_)?(bytes|ms|us)/.*[^s]|flops/dof|.*/vertex|p\d+_us")
# Of these more is: rates, parts of a ceiling, how many times as fast as another.
GAINS = re.compile(r".*/s(_with_setup)?|of_.*|over_.*|efficiency")


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


def ratio_of(old, new, counter):
    """How much better NEW is."""
    better, worse = (old, new) if COSTS.fullmatch(counter) else (new, old)
    if worse == 0:
        return 1.0 if better == 0 else math.inf
    return better / worse


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--counter", default="time",
                        help="what to compare: time (default) or a counter such as dofs/s")
    parser.add_argument("--filter", default="", help="regular expression on the rows' names")
    parser.add_argument("--noise", type=float, default=0.03, metavar="PART",
                        help="noise that every row has at the least (0.03)")
    parser.add_argument("--fail-on-regression", action="store_true",
                        help="end with 1 if a row regressed beyond its noise or failed")
    parser.add_argument("--worse", type=float, metavar="RATIO",
                        help="end with 1 if a ratio is below this one, noise or not, or a row failed")
    arguments = parser.parse_args()
    try:
        arguments.wanted = re.compile(arguments.filter)
    except re.error as error:
        parser.error(f"--filter: {error}")
    return parser, arguments


def main():
    parser, arguments = parse_arguments()
    counter = arguments.counter
    if not (COSTS.fullmatch(counter) or GAINS.fullmatch(counter)):
        parser.error(f"--counter {counter}: is neither a cost (time, ..._s, ..._bytes, ..._iterations) nor a rate (.../s, "
                     "of_...), so that nothing says whether more is better")
    old_context, old = load(arguments.old, "compare.py")
    new_context, new = load(arguments.new, "compare.py")
    both = [name for name in old if name in new and arguments.wanted.search(name)
            and old[name].values(counter) and new[name].values(counter)]
    failed = [row for row in new.values() if row.error and arguments.wanted.search(row.name)]
    if not both and not failed:
        parser.error(f"the files have no row in common with '{counter}'")

    differences = list(context_differences(old_context, new_context))
    if differences:
        table([("context", "old", "new")] + [(k, str(a), str(b)) for k, a, b in differences])
        print()

    unit = " [s]" if counter == "time" else ""
    lines = [("row", "old " + counter + unit, "new" + unit, "ratio", "noise", "")]
    ratios, regressions, improvements = {}, [], []
    for name in both:
        a, b = old[name].median(counter), new[name].median(counter)
        ratio = ratios[name] = ratio_of(a, b, counter)
        noise = max(arguments.noise,
                    3 * math.hypot(old[name].deviation(counter), new[name].deviation(counter)))
        mark = ""
        if not ratio >= 1 - noise:
            mark = "REGRESSION"
            regressions.append(name)
        elif ratio > 1 + noise:
            mark = "better"
            improvements.append(name)
        lines.append((name, f"{a:.4g}", f"{b:.4g}", f"{ratio:.3f}", f"{noise:.3f}", mark))
    positive = [ratio for ratio in ratios.values() if 0 < ratio < math.inf]
    if positive:
        lines.append(("geometric mean", "", "", f"{statistics.geometric_mean(positive):.3f}", "",
                      ""))
    table(lines)
    print(f"\n{len(both)} rows: {len(regressions)} regressions, {len(improvements)} better, "
          f"{len(both) - len(regressions) - len(improvements)} within the noise; {len(failed)} failed")
    for row in failed:
        print(f"failed in new: {row.name}: {row.error}")
    missing = [name for name, row in old.items() if name not in new and arguments.wanted.search(name)
               and row.runs and not row.error and not row.skipped] if new_context["status"] != "complete" else []
    for name in sorted(set(old) ^ set(new)):
        if arguments.wanted.search(name):
            print(f"only in {'old' if name in old else 'new'}: {name}")

    below = [] if arguments.worse is None else \
        [name for name in both if not ratios[name] >= arguments.worse]
    if below:
        sys.stderr.write(f"compare.py: {len(below)} rows below {arguments.worse}\n")
    strict = arguments.fail_on_regression or arguments.worse is not None
    if strict and missing:
        sys.stderr.write(f"compare.py: {arguments.new} is {new_context['status']}, and lacks {len(missing)} rows\n")
    if below or (strict and (failed or missing)) or (arguments.fail_on_regression and regressions):
        sys.exit(1)


if __name__ == "__main__":
    main()
