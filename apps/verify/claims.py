# SPDX-License-Identifier: Apache-2.0
"""Checks of every run: what the summary says of itself, that all numbers are finite, and the hashes."""
import csv
import math
import os

import h5py
import numpy

from files import hash_of, opened, require

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
    certificate = run.summary.get("certificate") or {}
    with report.part("certificate"):
        check_certificate(run, report, certificate)
    require(with_hashes, "hashes", "--no-hashes")
    check_hashes(run, report, certificate)


def non_finite(value, place=""):
    """The places of all numbers in a JSON value that are not finite."""
    if isinstance(value, float) and not math.isfinite(value):
        yield place
    if isinstance(value, (dict, list)):
        for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
            yield from non_finite(entry, f"{place}/{key}")


def check_files(run, report):
    paths, bad, foreign = [run.need(name) for name in run.results.get("files", [])], [], []
    frames = [frame for path in paths if path.endswith(".series") for frame in run.frames(path)]
    for path in frames + [path for path in paths if path.endswith((".hdf", ".h5"))]:
        with opened(path) as file:
            names = []
            file.visit(names.append)
            for name in names:
                marked = "activation_time" in name and run.results["unreached_mark"] == "nan"
                reals = isinstance(file[name], h5py.Dataset) and file[name].dtype.kind == "f"
                if reals and not marked and not numpy.isfinite(file[name][...]).all():
                    bad.append(f"{os.path.basename(path)}: {name}")
            facts = file["run"].attrs if "run" in file else {}
            foreign += [path for key in ("command_line", "time_utc") if facts.get(key, b"") not in
                        (b"", run.provenance[key].encode())]
    report.true("finite numbers of the files", not bad, ", ".join(bad[:3]))
    report.true("files are of this run", not foreign, ", ".join(foreign[:3]))


def check_certificate(run, report, certificate):
    require(certificate, "certificate", "the summary has none")
    wrong = [one["name"] for one in certificate["checks"]
             if one["passed"] != (one["value"] is not None and abs(one["value"]) <= one["bound"])]
    report.true("checks of the certificate", not wrong, f"not as their numbers say: {wrong}")
    report.true("certificate passed", certificate["passed"] == all(one["passed"] for one in certificate["checks"])
                and (certificate["passed"] or run.status not in DONE), f"{certificate['passed']}, '{run.status}'")


def check_sums(run, report):
    """Residual and iterations, and the lines of the CSV, which are the lists of the summary."""
    results, steps, residual = run.results, run.results.get("steps") or {"every": 1}, run.summary["residual"]["true"]
    if run.system != "eikonal" and run.status in DONE:
        report.bound("residual of the summary", residual, run.tolerance)
    if run.system == "bone":
        report.same("residual of the solves", max(one["true_residual"] for one in results["solves"]), residual, 1e-12)
    if steps["every"] != 1:
        return
    if run.system != "pfem":
        counts = [one["iterations"] for one in results.get("solves", [])] or steps.get("iterations", [
            results.get("iterations", 0)]) + [results.get("iterations_of_final_analysis") or 0]
        report.same("iterations in all", sum(counts), run.summary["iterations"], 0)
    path = run.output(".csv") if "step" in steps else None
    if path:
        with open(path, newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["step"] != "0"]
        for name in {"objective", "volume", "change", "grey", "kinetic", "elastic", "potential", "residual"} & set(steps):
            report.same(f"history: {name}", [row[name] for row in rows], steps[name],
                        1e-6 if name == "residual" else 1e-15)  # residuals have seven digits in the table


def check_hashes(run, report, certificate):
    inputs, outputs = certificate.get("inputs") or run.provenance["inputs"], certificate.get("files", [])
    for kind, entries in (("input", inputs), ("output", outputs)):
        for entry in entries:
            name = entry.get("file") or entry.get("path")
            label, path = f"{kind} {os.path.basename(name)}", run.find(name, kind == "input")
            if path or kind == "output":
                found = hash_of(path) if path else "none"
                report.true(label, found == entry["xxh64"], f"XXH64 {found}, not {entry['xxh64']}")
            else:
                report.skip(label, "it is not where it was")
    require(certificate, "hashes of outputs", "the summary has no certificate")
    hashed = [entry["file"] for entry in outputs] + [run.options.get("checkpoint", "")]  # a state and no result
    missing = {os.path.basename(name) for name in run.results["files"]} - {os.path.basename(name) for name in hashed}
    report.true("all outputs have hashes", not missing, f"not {missing}")
