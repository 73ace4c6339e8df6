# SPDX-License-Identifier: Apache-2.0
"""Checks of every run: what the summary says of itself, that all numbers are finite, and the hashes."""
import csv
import math
import os

import h5py
import numpy

from files import NotThere, hash_of

SCHEMAS = [f"ossatura/{system}/1" for system in ("bone", "eikonal", "softbody", "topopt", "pfem")]
DONE = ("converged", "steps done")  # with exit 0
STATUSES = DONE + ("not converged", "interrupted", "not finite", "broken down")


def check(run, report, with_hashes):
    report.true("schema", run.summary["schema"] in SCHEMAS, f"'{run.summary['schema']}' is not known")
    report.true("status", run.status in STATUSES, f"'{run.status}' is not known")
    bad = list(non_finite(run.summary))
    report.true("finite numbers of the summary", not bad, f"{len(bad)} are not, as {bad[:1]}")
    check_files(run, report)
    check_sums(run, report)
    if with_hashes:
        check_hashes(run, report)
    else:
        report.skip("hashes", "--no-hashes")


def non_finite(value, place=""):
    """The places of all numbers in a JSON value that are not finite."""
    if isinstance(value, float) and not math.isfinite(value):
        yield place
    if isinstance(value, (dict, list)):
        for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
            yield from non_finite(entry, f"{place}/{key}")


def check_files(run, report):
    bad, foreign = [], []
    for path in [run.need(name) for name in run.results.get("files", [])]:
        for part in run.frames(path) if path.endswith(".series") else [path] if path.endswith((".hdf", ".h5")) else []:
            def look(name, item):
                marked = "activation_time" in name and run.results["unreached_mark"] == "nan"
                if isinstance(item, h5py.Dataset) and item.dtype.kind == "f" and not marked:
                    bad.extend([] if numpy.isfinite(item[...]).all() else [f"{os.path.basename(part)}: {name}"])
            try:
                with h5py.File(part, "r") as file:
                    file.visititems(look)
                    facts = dict(file["run"].attrs) if "run" in file else {}
            except (OSError, RuntimeError, ValueError) as error:
                raise NotThere(f"{os.path.basename(part)}: {error}") from None
            foreign += [part for key in ("command_line", "time_utc") if facts.get(key, b"") not in
                        (b"", run.provenance[key].encode())]
    report.true("finite numbers of the files", not bad, ", ".join(bad[:3]))
    report.true("files are of this run", not foreign, ", ".join(foreign[:3]))


def check_sums(run, report):
    """Certificate, residual and iterations, and the lines of the CSV, which are the lists of the summary."""
    results, steps, residual = run.results, run.results.get("steps") or {"every": 1}, run.summary["residual"]["true"]
    certificate = run.summary.get("certificate")
    if certificate:
        wrong = [one["name"] for one in certificate["checks"]
                 if one["passed"] != (one["value"] is not None and abs(one["value"]) <= one["bound"])]
        report.true("checks of the certificate", not wrong, f"not as their numbers say: {wrong}")
        report.true("certificate passed", certificate["passed"] == all(one["passed"] for one in certificate["checks"])
                    and (certificate["passed"] or run.status not in DONE), f"{certificate['passed']}, '{run.status}'")
    else:
        report.skip("certificate", "the summary has none")
    if run.system != "eikonal" and run.status in DONE:
        report.bound("residual of the summary", residual, run.tolerance)
    if run.system == "bone":
        report.same("residual of the solves", max(one["true_residual"] for one in results["solves"]), residual, 1e-12)
    if run.system != "pfem" and steps["every"] == 1:
        counts = [one["iterations"] for one in results["solves"]] if run.system == "bone" else steps.get(
            "iterations", [results.get("iterations", 0)]) + [results.get("iterations_of_final_analysis") or 0]
        report.same("iterations in all", sum(counts), run.summary["iterations"], 0)
    path = run.output(".csv") if "step" in steps else None
    if path and steps["every"] == 1:
        with open(path, newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["step"] != "0"]
        for name in ("objective", "volume", "change", "grey", "kinetic", "elastic", "potential", "residual"):
            if name in steps:  # residuals have seven digits in the table
                report.same(f"history: {name}", [float(row[name]) for row in rows], steps[name],
                            1e-6 if name == "residual" else 1e-15)


def check_hashes(run, report):
    certificate = run.summary.get("certificate") or {}
    outputs = certificate.get("files", [])
    for kind, entries in (("input", certificate.get("inputs") or run.provenance["inputs"]), ("output", outputs)):
        for entry in entries:
            name = entry.get("file") or entry.get("path")
            label, path = f"{kind} {os.path.basename(name)}", run.find(name, kind == "input")
            found = hash_of(path) if path else "none"
            if found is None or path is None and kind == "input":
                report.skip(label, "it is not where it was" if found else "too long without python3-xxhash")
            else:
                report.true(label, found == entry["xxh64"], f"XXH64 {found}, not {entry['xxh64']}")
    if not certificate:
        report.skip("hashes of outputs", "the summary has no certificate")
        return
    hashed = [os.path.basename(entry["file"]) for entry in outputs] + [
        os.path.basename(run.parameters.get("checkpoint") or "")]  # a state and no result
    missing = [name for name in run.results["files"] if os.path.basename(name) not in hashed]
    report.true("all outputs have hashes", not missing, f"not {missing}")
