# SPDX-License-Identifier: Apache-2.0
"""Results of ossatura_bench as JSON, which may be compressed (.json.gz), for compare.py and plot.py."""

import gzip
import json
import re
import statistics
import sys

SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


class Row:
    """A row with the repetitions that were right."""

    def __init__(self, name):
        self.name = name
        self.runs = []  # of dictionaries: counters, and "time" in seconds
        self.error = None  # why it failed
        self.skipped = None  # why it was skipped

    def values(self, counter):
        """Of the repetitions; empty where the row failed or lacks the counter."""
        if self.error or self.skipped:
            return []
        return [run[counter] for run in self.runs if counter in run]

    def median(self, counter):
        values = self.values(counter)
        return statistics.median(values) if values else None

    def deviation(self, counter):
        """Median absolute deviation over the median: 0 without repetitions."""
        values = self.values(counter)
        middle = statistics.median(values)
        if len(values) < 2 or middle == 0:
            return 0.0
        return statistics.median(abs(value - middle) for value in values) / abs(middle)


def clean_name(name):
    """The row's name without what Google Benchmark appends."""
    return re.sub(r"/(iterations:\d+|repeats:\d+|manual_time)(?=/|$)", "", name)


def load(path, program):
    """(context, {name: Row}) of a file; ends the program with 5 if it is no result."""
    try:
        opened = gzip.open if path.endswith(".gz") else open
        with opened(path, "rt", encoding="utf-8") as file:
            data = json.load(file)
        context, found = data["context"], data["benchmarks"]
        context["status"] = data.get("status", "complete")
        if context["status"] != "complete":
            sys.stderr.write(f"{program}: {path}: {data['status']}, {data['rows']['done']} of "
                             f"{data['rows']['planned']} rows\n")
        rows = {}
        for run in found:
            if run.get("run_type", "iteration") != "iteration":
                continue
            name = clean_name(run["name"])
            row = rows.setdefault(name, Row(name))
            if run.get("error_occurred"):
                message = run.get("error_message", "")
                if message.startswith("skipped: "):
                    row.skipped = message[len("skipped: "):]
                else:
                    row.error = message or "without a reason"
                continue
            # With manual time, real_time is the time that was set.
            run["time"] = run["real_time"] * SECONDS[run["time_unit"]]
            row.runs.append({key: value for key, value in run.items()
                             if isinstance(value, (int, float))})
        return context, rows
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        sys.stderr.write(f"{program}: {path}: no result of ossatura_bench: {error!r}\n")
        sys.exit(5)
