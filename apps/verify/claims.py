# SPDX-License-Identifier: Apache-2.0
"""Checks of every run: what the summary says of itself, that all numbers are finite, and the hashes."""
import csv
from os.path import basename

import h5py
import numpy

from files import hash_of, require

KNOWN = {"schema": [f"ossatura/{system}/1" for system in ("bone", "eikonal", "softbody", "topopt", "pfem")],
         "status": ["converged", "steps done", "not converged", "interrupted", "not finite", "broken down"]}
OPTIONAL = 9  # the last numbers of a row of the checkpoint of bone --strength: loads and angles, of which a test has some
HISTORY = {"objective", "volume", "change", "grey", "kinetic", "elastic", "potential", "residual"}


def check(run, report, with_hashes):
    for key, known in KNOWN.items():
        report.true(key, run.summary[key] in known, f"'{run.summary[key]}' is not known")
    bad = [place for place, value in numbers(run.summary) if not numpy.isfinite(value)]
    report.true("finite numbers of the summary", not bad, f"{len(bad)} are not, as {bad[:1]}")
    check_files(run, report)
    check_sums(run, report)
    certificate = run.summary.get("certificate") or {}
    if with_hashes:
        check_hashes(run, report, certificate)
    else:
        report.skip("hashes", "--no-hashes")
    require("checks" in certificate, "certificate", "the summary has none")
    checks = certificate["checks"]
    wrong = [one["name"] for one in checks
             if one["passed"] != (one["value"] is not None and abs(one["value"]) <= one["bound"])]
    report.true("checks of the certificate", not wrong, f"not as their numbers say: {wrong}")
    report.true("certificate passed", certificate["passed"] == all(one["passed"] for one in checks)
                and (certificate["passed"] or not run.done), f"{certificate['passed']}, '{run.status}'")


def numbers(value, place=""):
    """The places and values of all reals in a JSON value."""
    if isinstance(value, float):
        yield place, value
    elif isinstance(value, (dict, list)):
        for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers(entry, f"{place}/{key}")


def check_files(run, report):
    paths, bad, foreign = [run.find(name) for name in run.results.get("files", [])], [], []
    paths += [frame for path in paths if path.endswith(".series") for frame, _ in run.frames(path)]
    for path in (path for path in paths if path.endswith((".hdf", ".h5"))):
        with report.part(basename(path)), h5py.File(path, "r") as file:
            items = []
            file.visititems(lambda name, item: items.append((name, item)))
            for name, item in items:
                if isinstance(item, h5py.Dataset) and item.dtype.kind == "f":
                    bad += [f"{basename(path)}: {name}"] if lacks_numbers(run, path, name, item[...]) else []
            facts = file["run"].attrs if "run" in file else {}
            foreign += [path for key in facts.keys() & {"command_line", "time_utc"}
                        if facts[key] not in (b"", run.provenance[key].encode())]
    report.true("finite numbers of the files", not bad, ", ".join(bad[:3]))
    report.true("files are of this run", not foreign, ", ".join(foreign[:3]))


def lacks_numbers(run, path, name, values):
    """Whether a dataset has what is no number where it is to have one."""
    none = ~numpy.isfinite(values)
    if "activation_time" in name and run.results["unreached_mark"] == "nan":
        return False
    if run.system == "bone" and name in ("elastic", "present", "steps") and is_checkpoint(run, path):
        none = none.reshape(-1, values.shape[-1])
        optional = none[:, -OPTIONAL:]  # displacement, force, four more, angle, moment, and one more
        pairs = [optional[:, at].any() for at in ([0, 1], [6, 7])]
        return none[:, :-OPTIONAL].any() or (optional != optional[0]).any() or all(pairs)
    return none.any()


def is_checkpoint(run, path):
    return basename(path) == basename(run.options.get("checkpoint", ""))


def check_sums(run, report):
    """Residual and iterations, and the lines of the CSV, which are the lists of the summary."""
    results, steps, residual = run.results, run.results.get("steps") or {"every": 1}, run.summary["residual"]["true"]
    if run.system != "eikonal" and run.done:
        report.bound("residual of the summary", residual, run.tolerance)
    if run.system == "bone":
        check_solves(report, [one["true_residual"] for one in results["solves"]], residual)
    if run.system != "pfem" and steps["every"] == 1:
        counts = [one["iterations"] for one in results.get("solves", [])] or steps.get("iterations", [
            results.get("iterations", 0)]) + [results.get("iterations_of_final_analysis") or 0]
        report.same("iterations in all", sum(counts), run.summary["iterations"], 0)
    path = run.output(".csv")
    if path and "step" in steps and steps["every"] == 1:
        with open(path, newline="") as file:
            # the first is how it starts, from a checkpoint or at rest
            rows = [row for row in csv.DictReader(file) if int(row["step"]) > results.get("first_step", 0)]
        for name in sorted(HISTORY & steps.keys()):
            report.same(f"history: {name}", [row[name] for row in rows], steps[name],
                        1e-6 if name == "residual" else 1e-15)  # residuals have seven digits in the table


def check_solves(report, residuals, said):
    """The worst; null where a signal ended one of them."""
    if None in residuals:
        report.true("residual of the solves", said is None, f"{said}, where one has none")
    else:
        report.same("residual of the solves", max(residuals), said, 1e-12)


def check_hashes(run, report, certificate):
    inputs, outputs = certificate.get("inputs") or run.provenance["inputs"], certificate.get("files", [])
    entries = [("input", entry, entry.get("file") or entry["path"]) for entry in inputs] + [
        ("output", entry, entry["file"]) for entry in outputs]
    for kind, entry, name in entries:
        path = run.find(name, kind == "input")
        if path:
            report.true(f"{kind} {basename(name)}", hash_of(path) == entry["xxh64"], f"not XXH64 {entry['xxh64']}")
        else:
            report.skip(f"{kind} {basename(name)}", "it is not where it was")
    hashed = {basename(entry["file"]) for entry in outputs} | {basename(run.options.get("checkpoint", ""))}  # no result
    missing = set(map(basename, run.results["files"])) - hashed
    report.true("all outputs have hashes", not certificate or not missing, f"not {missing}")
