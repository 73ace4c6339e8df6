#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails, naming file and line, where a source includes what its place in the house forbids, and where a folder
has more files than a newcomer reads through.

    tests/checks/layering.py [ROOT]

Three rules; docs/architecture.md says why. Layers include those below them. A system includes no other
system. A room that several systems share includes shared rooms before it alone. EXCEPTIONS is the
one list of what is allowed beyond that.
"""
import collections
import pathlib
import re
import sys

LAYERS = ["core", "kernels", "solvers", "apps", "bench", "python", "tests"]
ABOVE = {"core": "kernels solvers apps bench python tests", "kernels": "solvers apps bench python tests",
         "solvers": "apps bench python tests", "apps": "bench python tests", "bench": "apps python tests",
         "python": "apps bench tests", "tests": ""}

SYSTEMS = ["bone", "eikonal", "softbody", "topopt", "pfem"]

# Rooms for all, each of which may include those before it, in whatever layer they are.
SHARED = ["base", "comm", "parallel", "machine", "mesh", "sparse", "io", "algebra", "krylov",
          "driver", "engine", "host", "harness", "jobs"]
# Rooms for some: the systems in EXCEPTIONS, and rooms after them.
COMMON = ["image", "aggregation", "factor", "hexa", "solids"]

EXCEPTIONS = {
    ("bone", "image"): "bone is computed on voxel images",
    ("topopt", "hexa"): "designs are of trilinear hexahedra",
    ("topopt", "solids"): "and of other solid elements",
    ("topopt", "image"): "and of voxels, which are the cubes among them",
    ("topopt", "bone"): "designs on voxels are solved by the multigrid of voxel models",
    ("pfem", "hexa"): "hierarchical hexahedra of order 1 are trilinear ones",
    ("pfem", "aggregation"): "their modes of order 1 are solved by smoothed aggregation",
    ("pfem", "factor"): "thin bodies are solved by a factor of their matrix",
    ("softbody", "factor"): "steps are preconditioned by a factor of an earlier matrix",
    ("softbody", "hexa"): "one of its elements is the trilinear hexahedron",
    ("io", "pfem"): "files of second-order meshes give maps of hexahedra",
}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)')
SPACE = re.compile(r"Kokkos::(Serial|OpenMP|Cuda)[^A-Za-z_]")
BACKENDS = "core/base/backend.hpp"  # the only file that names them


def room_of(path):
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else None


def complaint(file, path):
    """What is wrong with `file` including `path`, both from the root; None if nothing."""
    layer, target = file.split("/")[0], path.split("/")[0]
    if target in ABOVE[layer].split():
        return f"{layer} is below {target}"
    if layer == "tests" or target == "tests":
        return None
    room, other = room_of(file), room_of(path)
    if room == other or room is None:  # umbrellas and mains include all
        return None
    if other is None:
        return "an umbrella is for programs" if target in LAYERS[:3] else None
    if (room, other) in EXCEPTIONS or other in SHARED and room not in SHARED:
        return None
    order = SHARED + COMMON
    for name in (room, other):
        if name not in order + SYSTEMS:
            return f"the room {name} is in no list of tests/checks/layering.py"
    if room in order and other in order and order.index(other) < order.index(room):
        return None
    if other in SYSTEMS and room in SYSTEMS:
        return f"the systems {room} and {other} include nothing of each other"
    return f"{room} does not include {other}: see the lists of tests/checks/layering.py"


def check(files):
    """The complaints about (path from the root, text)."""
    found = []
    for file, text in files:
        oracle = file.startswith("tests/reference/")
        for number, line in enumerate(text.splitlines(), 1):
            match = INCLUDE.match(line)
            if match:
                path = match[1] or match[2]
                ours = path.startswith("ossatura/") or match[1]
                path = re.sub("^ossatura/", "", path)
                why = None
                if "../" in path:
                    why = "write it from the root"
                elif match[1] and path.split("/")[0] in LAYERS[:3] and room_of(path) \
                        and not file.startswith("tests/consumer/"):
                    why = f"write <ossatura/{path}>, as where it is installed"
                elif oracle and (ours and not path.startswith("tests/reference/")
                                 or not ours and re.search("[/.]", path)):
                    why = "oracles share nothing with the library and use the standard library only"
                elif ours and path.split("/")[0] in LAYERS:
                    why = complaint(file, path)
                if why:
                    found.append(f"{file}:{number} includes {path}: {why}")
            elif file != BACKENDS and SPACE.search(line):
                found.append(f"{file}:{number} names an execution space: only {BACKENDS} does")
    return found


def crowded(files, most=25):
    """The complaints about folders of more than `most` files."""
    folders = collections.Counter(file.rpartition("/")[0] for file, _ in files)
    return [f"{folder} has {number} files: divide it, {most} are for a folder"
            for folder, number in sorted(folders.items()) if number > most]


def tree(root):
    for layer in LAYERS:
        for path in sorted((root / layer).rglob("*.[hcp][py]*")):
            if path.suffix in (".hpp", ".cpp", ".py"):
                yield path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")


# Each breaks a rule: the check is worth something only if it says so.
PLANTED = [
    ("core/base/NEW.hpp", "#include <ossatura/kernels/algebra/jacobi.hpp>"),
    ("core/mesh/NEW.hpp", "#include <ossatura/core/io/gmsh/reader.hpp>"),
    ("kernels/bone/NEW.hpp", "#include <ossatura/kernels/pfem/operator.hpp>"),
    ("kernels/algebra/NEW.hpp", "#include <ossatura/kernels/hexa/operator.hpp>"),
    ("kernels/eikonal/NEW.hpp", "#include <ossatura/kernels/image/grid.hpp>"),
    ("solvers/krylov/NEW.hpp", "#include <ossatura/kernels/factor/pattern.hpp>"),
    ("solvers/topopt/NEW.cpp", "#include <ossatura/solvers/pfem/solver.hpp>"),
    ("apps/bone/NEW.cpp", '#include "apps/eikonal/command.hpp"'),
    ("kernels/new_room/NEW.hpp", "#include <ossatura/kernels/hexa/operator.hpp>"),
    ("kernels/bone/NEW.hpp", '#include "kernels/algebra/jacobi.hpp"'),
    ("python/bone/NEW.cpp", '#include "apps/bone/command.hpp"'),
    ("python/eikonal/NEW.cpp", '#include "python/bone/model.hpp"'),
    ("tests/reference/NEW.hpp", "#include <ossatura/core/base/vector.hpp>"),
    ("solvers/bone/NEW.cpp", "Kokkos::Serial exec;"),
]

if __name__ == "__main__":
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    files = list(tree(root))
    complaints = check(file for file in files if not file[0].endswith(".py")) + crowded(files)
    if not crowded([(f"kernels/NEW/{i}.hpp", "") for i in range(26)]):
        complaints.append("the check does not see a folder of 26 files")
    complaints += [f"the check does not see that {file} may not say {line}"
                   for file, line in PLANTED if len(check([(file, line)])) != 1]
    if complaints:
        sys.exit("layering:\n  " + "\n  ".join(complaints))
