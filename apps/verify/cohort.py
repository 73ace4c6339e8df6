# SPDX-License-Identifier: Apache-2.0
"""Checks of the table of several inputs: its rows are those of cohort.csv, and of the members' own summaries."""
import csv
import os

from claims import numbers
from files import Run, hash_of, require


def check(run, report, with_hashes):
    members = run.summary["members"]
    codes = [one["exit_code"] for one in members]
    ended = "done" if not any(codes) else "interrupted" if 75 in codes and not {1, 4} & set(codes) else "failed"
    report.true("status", run.status == ended,
                f"'{run.status}' with the exit codes {codes}")
    for one in members:
        with report.part(one["name"]):
            check_member(run, one, report, with_hashes)
    path = os.path.join(run.folder, "cohort.csv")
    require(os.path.isfile(path), "cohort.csv", "it is not beside the summary")
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    for one, row in zip(members, rows):
        said = {"input": one["input"], "status": one["status"], "exit_code": one["exit_code"],
                "error": one["error"] or "", **(one["values"] or {})}
        wrong = [] if next(iter(row.values())) == one["name"] else ["name"]
        wrong += [key for key, value in said.items() if not is_same(row.get(key), value)] + [
            key for key, value in list(row.items())[1:] if value and key not in said]
        report.true(f"cohort.csv: {one['name']}", not wrong, f"not as the summary says: {wrong}")
    report.true("cohort.csv: rows", len(rows) == len(members), f"{len(rows)}, and {len(members)} members")


def is_same(field, value):
    return field == value if isinstance(value, str) else bool(field) and float(field) == value


def check_member(run, one, report, with_hashes):
    path = os.path.join(run.folder, one["name"] + ".summary.json")
    require(one["values"], one["name"], f"it has no results: {one['status']}")
    require(os.path.isfile(path), one["name"], "its summary is not here")
    member = Run(path)
    known = {value for _, value in numbers(member.summary)}
    strange = [key for key, value in one["values"].items() if isinstance(value, float) and value not in known]
    report.true(f"{one['name']}: its summary", member.status == one["status"] and not strange,
                f"'{member.status}', and not there: {strange}")
    if with_hashes:
        source = run.find(one["input"], True)
        require(source, f"input {one['input']}", "it is not where it was")
        report.true(f"input {one['input']}", hash_of(source) == one["xxh64"], f"not XXH64 {one['xxh64']}")
