#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every kernel that an object file can launch is one that the same file registers.

    registered_kernels.py BUILD_DIRECTORY...

From CUDA 13 on, nvcc gives the host function that launches an instance of a kernel template internal
linkage. The host compiler instantiates a bit more than nvcc's own front end: at -O2 the virtual functions
of a class whose destructor is inlined, for one. What calls such a function is weak, the linker takes any
of its copies, and the copy of a file that did not register the kernel ends in "invalid resource handle".
The remedy is a destructor, or a pointer to the base class, that leaves the class to one file.
Exit codes: 0; 1 where a file launches what it does not register; 2 usage.
"""

import pathlib
import re
import subprocess
import sys

LAUNCHER = re.compile(r"^[0-9a-f]* t ((_ZN6Kokkos4Impl|_ZN8ossatura6detail)L"
                      r"(\d+(?:cuda_parallel_launch_|run_resident_block|run_wide_team)\w+))$", re.MULTILINE)


def unregistered(path):
    """The launchers of an object file, and which of them it did not register."""
    symbols = subprocess.run(["nm", path], check=True, capture_output=True, text=True).stdout
    launchers = LAUNCHER.findall(symbols)
    content = path.read_bytes()
    return launchers, [local for local, space, name in launchers
                       if f"\0{space}{name}\0".encode() not in content]


def main():
    if len(sys.argv) < 2 or any(argument.startswith("-") for argument in sys.argv[1:]):
        print(__doc__, file=sys.stderr)
        return 2
    count = failed = 0
    for folder in sys.argv[1:]:
        for path in sorted(pathlib.Path(folder).rglob("*.o")):
            launchers, missing = unregistered(path)
            count += len(launchers)
            for symbol in missing:
                failed += 1
                name = subprocess.run(["c++filt", symbol], check=True, capture_output=True, text=True).stdout
                print(f"{path}: launches, and does not register, {name.strip()}")
    print(f"{count} kernels, {failed} not registered")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
