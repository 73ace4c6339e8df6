# SPDX-License-Identifier: Apache-2.0
"""`python -m ossatura SUBCOMMAND ...`: the executable of the package, in the place of this process.

It is a process of its own and not a call of the library's main in this one: so it has the same exit codes, signals and
files as where it is installed alone, and may end, fork or start again as it likes. In a wheel it is a launcher for the
code that is in the module already.
"""
from __future__ import annotations

import os
import signal
import sys

from . import _processors

_EXIT_BACKEND = 4  # docs/concepts.md: what this build does not have


def main() -> None:
    """Runs the executable with the arguments of this process. Does not return."""
    program = os.path.join(os.path.dirname(__file__), "bin", "ossatura")
    if not os.access(program, os.X_OK):
        print(f"ossatura: error: this package was built without the executable: there is no {program}", file=sys.stderr)
        sys.exit(_EXIT_BACKEND)
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # by Python; a program that is started from a shell has them
        signal.signal(ignored, signal.SIG_DFL)
    os.sched_setaffinity(0, _processors)
    os.environ.setdefault("OSSATURA_PYTHON", sys.executable)  # for STEP files: its packages are those beside this one
    os.execv(program, ["ossatura", *sys.argv[1:]])


if __name__ == "__main__":
    main()
