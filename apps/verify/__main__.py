#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads what a run of ossatura wrote and computes its proof anew: docs/verify.md."""
import argparse
import importlib
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
try:
    CHECKS = {name: importlib.import_module(name) for name in ("claims", "bone", "eikonal", "softbody", "topopt", "pfem")}
except ImportError as error:
    debian = "/usr/bin/python3"  # has Debian's packages where another python3 comes first
    if os.path.realpath(sys.executable) != os.path.realpath(debian) and os.path.exists(debian):
        os.execv(debian, [debian, os.path.abspath(sys.argv[0]), *sys.argv[1:]])
    sys.exit(print(f"ossatura-verify: {error}: pip install h5py numpy, or as root on Debian: apt-get install "
                   "--no-install-recommends python3-h5py", file=sys.stderr) or 2)
from files import NotThere, Report, Run  # noqa: E402


def verify(place, report, with_hashes=True):
    """All summaries of a folder, or one. Throws OSError or ValueError where there is none."""
    paths = [place] if not os.path.isdir(place) else sorted(
        os.path.join(place, name) for name in os.listdir(place) if name.endswith(".summary.json"))
    if not paths:
        raise ValueError("there is no NAME.summary.json")
    for path in paths:
        run = Run(path)
        print(f"{path}: {run.summary['schema']}, {run.status}")
        if run.status == "dry run" or not run.results and run.status == "interrupted":
            report.skip("everything", "a dry run, or one that was stopped before its end, has no results")
            continue
        for name, check, more in (("summary", CHECKS["claims"].check, [with_hashes]), (
                "results", CHECKS[run.system].check if run.system in CHECKS else lambda *_: None, [])):
            try:
                check(run, report, *more)
            except NotThere as error:
                report.true("files", False, str(error))
            except (LookupError, ArithmeticError, TypeError, ValueError, AttributeError, OSError) as error:
                report.true(name, False, f"not of the form that is written: {type(error).__name__}: {error}")


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
            sys.exit(print(f"ossatura-verify: {place}: {error}", file=sys.stderr) or 2)
    print(f"{report.checked} checks, {report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
