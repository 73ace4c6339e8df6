# SPDX-License-Identifier: Apache-2.0
"""Rows for the table of .ci/run from ctest's JUnit file: a row for each check, and one for each other
kind of test, which is the name before the slash (openmp1/cg and openmp4/cg are openmp)."""
import re
import sys
import xml.etree.ElementTree

rows = {}
for case in xml.etree.ElementTree.parse(sys.argv[1]).getroot():
    name = case.get("name")
    kind = name if name.startswith("check/") else re.sub(r"\d*/.*", "", name)
    row = rows.setdefault(kind, {"seconds": 0.0, "passed": 0, "failed": [], "skipped": []})
    row["seconds"] += float(case.get("time"))
    skipped = case.find("skipped")
    if case.get("status") == "run":
        row["passed"] += 1
    elif skipped is not None and skipped.get("message").startswith("SKIP_"):
        said = re.search("skipped: (.*)", case.findtext("system-out") or "")
        row["skipped"].append(said.group(1) if said else name)
    else:  # also those without an executable, or a fixture
        row["failed"].append(name)
for kind, row in sorted(rows.items()):
    result = []
    if row["failed"]:
        result.append(f"{len(row['failed'])} FAILED ({', '.join(row['failed'])})")
    if row["skipped"]:
        result.append(f"{len(row['skipped'])} skipped ({', '.join(row['skipped'])})")
    if row["passed"]:
        result.append("ok" if row["passed"] == 1 and not result else f"{row['passed']} ok")
    print(f"  {kind:16} {row['seconds']:8.0f}  {', '.join(result)}")
