#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads what a run of ossatura wrote and computes its proof anew: docs/verify.md."""
import argparse
import os
import pathlib
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import bone, claims, cohort, eikonal, pfem, softbody, topopt  # noqa: E401 E402
from files import Report, Run  # noqa: E402

CHECKS = {module.__name__: module.check for module in (bone, eikonal, pfem, softbody, topopt)}


def verify(place, report, with_hashes=True):
    """All summaries of a folder, or one. Throws OSError or ValueError where there is none."""
    paths = sorted(pathlib.Path(place).glob("*.summary.json")) if os.path.isdir(place) else [place]
    if not paths:
        raise ValueError("there is no NAME.summary.json")
    for path in paths:
        run = Run(path)
        print(f"{path}: {run.summary['schema']}, {run.status}")
        if run.status in ("dry run", "interrupted") and "files" not in run.results and "members" not in run.summary:
            report.skip("everything", "a dry run, or one that was stopped before its end, has no results")
            continue
        if run.system.endswith("-cohort"):
            with report.part("cohort"):
                cohort.check(run, report, with_hashes)
            continue
        with report.part("summary"):
            claims.check(run, report, with_hashes)
        with report.part("results"):
            CHECKS[run.system](run, report)


def main():
    parser = argparse.ArgumentParser(
        prog="ossatura-verify", description=__doc__, epilog="exit code 0: all that could be checked holds; "
        "1: something does not; 2: usage, or a summary that cannot be read")
    parser.add_argument("out", nargs="+", metavar="FOLDER|SUMMARY.json")
    parser.add_argument("--no-hashes", action="store_true", help="recompute numbers, compare no hashes")
    options, report = parser.parse_args(), Report()
    for place in options.out:
        try:
            verify(place, report, not options.no_hashes)
        except (OSError, ValueError) as error:
            parser.error(f"{place}: {error}")
    print(f"{report.checked} checks, {report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
