#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands of ossatura_bench in the pages select rows: each is tried with `list --rows` in place of its verb.

    bench/test_pages.py OSSATURA_BENCH BACKEND...
"""

import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]


def main():
    program, backend = sys.argv[1:3]
    tried = failed = 0
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for line in page.read_text(encoding="utf-8").splitlines():
            if not line.startswith("    ") or "ossatura_bench " not in line or "$" in line:
                continue
            words = shlex.split(line.rstrip("\\"), comments=True)
            at = [k for k, word in enumerate(words) if word.split("/")[-1] == "ossatura_bench"]
            if not at:
                continue
            verb, *rest = words[at[0] + 1:]
            if verb in ("run", "all"):
                verb, rest = "list", ["--rows", *rest]
            rest = [f"--backends={backend}" if word.startswith("--backends=") else word for word in rest]
            process = subprocess.run([program, verb, *rest], stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, text=True)
            tried += 1
            if process.returncode != 0 or not process.stdout:
                failed += 1
                print(f"{page.relative_to(ROOT)}: {line.strip()}\n  {process.stdout.strip()}")
    print(f"{tried} commands, {failed} failed")
    sys.exit(failed > 0 or tried < 15)


if __name__ == "__main__":
    main()
