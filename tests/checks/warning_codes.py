#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails where docs/warnings.md lacks the code of a warning, or lists one that no source has.

    tests/checks/warning_codes.py [ROOT]
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
given = {}
for folder in ("core", "kernels", "solvers", "apps", "python"):
    for path in sorted((root / folder).rglob("*.[ch]pp")):
        for code in re.findall(r"\blog_warning\(\s*\"([^\"]*)\"", path.read_text(encoding="utf-8")):
            given.setdefault(code, path.relative_to(root))
page = (root / "docs/warnings.md").read_text(encoding="utf-8")
listed = re.findall(r"^\| `([a-z0-9-]+)` \|", page, re.M)

complaints = [f"{path}: docs/warnings.md lacks the code '{code}'"
              for code, path in sorted(given.items()) if code not in listed]
complaints += [f"docs/warnings.md: no source gives the code '{code}'"
               for code in listed if code not in given]
if listed != sorted(listed):
    complaints.append("docs/warnings.md: codes are not in alphabetical order")
print("\n".join(complaints) or f"{len(given)} codes of warnings")
sys.exit(bool(complaints))
