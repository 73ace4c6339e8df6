# SPDX-License-Identifier: Apache-2.0
"""Runs the executable over mutated inputs of all formats. Every run has to end with a documented exit
code (1, an internal error, is none), within 60 s and 4 GB, without a file left that is not finished,
and, where the code is 0, without a number in its summary that is not finite.

  mutate.py build/ossatura build/tests/fuzz/seeds [--runs 10000] [--seed 1] [--jobs 1] [--keep DIR]

The folder of seeds is what `fuzz_seeds --seeds` writes (a test of its own). A run is known by seed and
number: --only NUMBER repeats it and leaves its files in --keep."""
import argparse
import collections
import json
import os
import random
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "apps"))
from support.dicom import IMPLICIT, RLE, dicom_slice
from support.dicom_segmentation import segmentation
from support.specimens import nifti_bytes

CODES = {0, 2, 3, 4, 5, 75}
SECONDS, BYTES = 60, 4 << 30

PTS = "5\n0 0 0\n1000 0 0\n0 1000.0 0\n0 0 1e3\n1000 +1000 1500\n"
ELEM = "2\nTt 0 1 2 3 7\nTt 1 2 3 4 -2\n"
LON = "2\n1 0 0 0 1 0\n0 0 0 0.5 0 -1\n"
STIFF = {"young": 1e5, "poisson": 0.3}
SCENE = {"time_step": 0.01, "steps": 2, "gravity": [0, 0, -9.81], "obstacles": [
    {"plane": {"point": [0, 0, -0.1], "normal": [0, 0, 1], "friction": 0.3}}],
    "objects": [{"name": "body", "mesh": {"hexa_box": {"cells": [1, 1, 1], "size": [1, 1, 1]}},
                 "material": STIFF, "density": 1000, "fixed": [{"box": [0, 0, 0, 0, 1, 1]}]}]}
DESIGN = {"mesh": {"box": {"cells": [3, 1, 1], "size": [3, 1, 1]}}, "material": {"young": 1, "poisson": 0.3},
          "supports": [{"box": [0, 0, 0, 0, 1, 1]}],
          "cases": [{"name": "a", "loads": [{"box": [3, 0, 0, 3, 1, 1], "total_force": [0, 0, -1]}]}],
          "volume_fraction": 0.6, "steps": 2, "filter": {"kind": "density", "radius": 1.5}}
MOVED = {**DESIGN, "materials": [{"box": [0, 0, 0, 1, 1, 1], "name": "b", "young": 5, "poisson": 0.3, "mass_density": 2,
                                  "expansion": 0.1}],
         "cases": [{"name": "a", "displacements": [{"box": [3, 0, 0, 3, 1, 1], "displacement": [None, 0, -0.1]}],
                    "temperature_change": [{"box": [0, 0, 0, 1, 1, 1], "change": 3}]}]}
LIMITED = {**{key: DESIGN[key] for key in DESIGN if key != "volume_fraction"}, "objective": "volume", "constraints": [
    {"kind": "stress", "at_most": 30}, {"kind": "compliance", "case": "a", "at_most": 90},
    {"kind": "displacement", "box": [3, 0, 0, 3, 1, 1], "direction": [0, 0, -1], "at_most": 80}]}
MADE = {**DESIGN, "mesh": {"box": {"cells": [3, 2, 2], "size": [3, 2, 2]}}, "solver": {"grid": "voxels"},
        "projection": True,
        "manufacturing": {"overhang": "+z", "symmetry": [{"axis": "y", "place": 1}]}}
MOVED_DECKS = ("moved.inp", "coupled.inp") # of seeds: with displacements and materials of their own
SOLID = {"mesh": {"generator": "cube", "cells": [1, 1, 1], "size": [1, 1, 1]}, "order": 2,
         "material": {"young": 8, "poisson": 0.25}, "supports": [{"plane": "x=0"}],
         "loads": [{"plane": "x=1", "traction": [4, 0, 0]}]}
VELOCITIES = {"7": {"vl": 0.6, "vt": 0.3, "vn": 0.2}, "default": {"vl": 0.5, "vt": 0.5}}
IMAGE = ("--test", "axial", "--max-iterations", "50")
LAW = ("--law", "threshold", "--lower", "1", "--modulus", "1000", *IMAGE)


class Case:
    """Files, one of which is mutated, and the arguments of the run."""

    def __init__(self, name, mutated, files, *arguments):
        self.name, self.mutated, self.arguments = name, mutated, arguments
        self.files = {file: text if isinstance(text, bytes) else
                      (text if isinstance(text, str) else json.dumps(text, indent=1)).encode()
                      for file, text in files.items()}


def read(path):
    with open(path, "rb") as file:
        return file.read()


def cases(seeds, executable):
    def seed(folder):
        for name in sorted(os.listdir(os.path.join(seeds, folder))):
            yield name, read(os.path.join(seeds, folder, name))

    found = []

    def add(*arguments):
        found.append(Case(*arguments))

    for name, data in seed("parosol"):
        add("parosol", name, {name: data}, "bone", name, *IMAGE)
    for folder in ("itk", "metaimage", "nifti", "nrrd"):
        for name, data in seed(folder):
            add(folder, name, {name: data}, "bone", name, *LAW)
    for name, data in seed("scanco"): # densities below 0
        add("scanco", name, {name: data}, "bone", name,
            "--law", "threshold", "--lower", "-500", "--modulus", "1000", *IMAGE)
    for name, kind in (("explicit.dcm", {}), ("implicit.dcm", {"syntax": IMPLICIT}), ("runs.dcm", {"syntax": RLE})):
        below, above = (dicom_slice(range(z, 12 + z), 4, (0, 0, z), unit="", description="Head", **kind) for z in (0, 1))
        add("dicom", name, {"below.dcm": below, name: above}, "bone", name, *LAW)
    image = nifti_bytes((4, 3, 2), 1, "h", range(5, 29), [(-1, 0, 0, 0), (0, -1, 0, 0), (0, 0, 1, 0)])
    inside = [(n, (0, 0, z), [x // 2 + 1 == n for x in range(4)] * 3) for n in (1, 2) for z in (1, 0)]
    fractions = [(n, at, [200 * p for p in bits]) for n, at, bits in inside]
    labels = [(0, at, [1 + p for p in bits]) for n, at, bits in inside if n == 2]
    for name, frames, kind in (("bits.dcm", inside, {}), ("items.dcm", inside, {"syntax": IMPLICIT, "defined": False}),
                               ("parts.dcm", fractions, {"kind": "FRACTIONAL", "syntax": RLE}),
                               ("labels.dcm", labels, {"kind": "LABELMAP", "bits": 16})):
        data = segmentation(frames, 4, ((1, "L3", "Vertebra"), (2, "shell", "Bone")), **kind)
        add("dicom mask", name, {"ct.nii": image, name: data}, "bone", "ct.nii", "--mask", name, *LAW)
    add("raw", "a.raw", {"a.raw": struct.pack("<12f", *range(12))}, "bone", "a.raw", "--shape",
        "3,2,2", "--type", "float32", "--spacing", "0.5", *LAW)
    for name, data in seed("surface"):
        add("surface", name, {name: data}, "bone", name, "--voxel", "0.25", *IMAGE)
    add("nodal list", "f.csv", {"f.csv": "0, 0, 2, z, -1\n1 1 2 2 -0.5 # comment\n"}, "bone",
        "--generate", "cube", "--size", "2", "--fix", "z-:xyz", "--force-file", "f.csv")
    waves = ("--site", "vertices:0")
    speed = ("--velocity", "0.6,0.3,0.2")
    carp = {"m.pts": PTS, "m.elem": ELEM, "m.lon": LON}
    for part in carp:
        add("openCARP", part, carp, "eikonal", "m", *speed, *waves)
    for folder in ("gmsh", "vtk_legacy", "vtu"):
        for name, data in seed(folder):
            mesh = "m" + os.path.splitext(name)[1]
            add(folder, mesh, {mesh: data}, "eikonal", mesh, *speed, *waves)
    add("velocities", "v.json", {**carp, "v.json": VELOCITIES}, "eikonal", "m", "--velocities",
        "v.json", *waves)
    add("velocities", "v.dat", {**carp, "v.dat": "0.6 0.3 0.2\n0.5 0.5 0.5\n"}, "eikonal", "m",
        "--velocities", "v.dat", *waves)
    add("sites", "s.json", {**carp, "s.json": ["vertices:0", "point:1,0,0@t=2"]}, "eikonal", "m",
        *speed, "--sites", "s.json")
    for name, data in seed("vtx"):
        add("vtx", name, {**carp, name: data}, "eikonal", "m", *speed, "--site", "vtx:" + name)
    for name, data in seed("elements"):
        mesh = "m" + os.path.splitext(name)[1]
        material = {**STIFF, "thickness": 0.01} if "triangles" in name else STIFF
        scene = {"time_step": 0.01, "steps": 1, "gravity": [0, 0, -1], "objects": [
            {"name": "b", "mesh": {"file": mesh}, "material": material}]}
        add("elements", mesh, {mesh: data, "s.json": scene}, "softbody", "s.json")
    for name, data in seed("models"):
        mesh = "m" + os.path.splitext(name)[1]
        if name not in ("20.msh", "27.msh"): # of second order
            design = {**DESIGN, "mesh": {"file": mesh}, "cases": [
                {"name": "a", "loads": [{"box": [2, 0, 0, 2, 1, 1], "total_force": [0, 0, -1]}]}]}
            if name in MOVED_DECKS:
                design = {key: design[key] for key in design if key not in ("material", "supports", "cases")}
                design = {**design, "method": "mma"}
            add("models/topopt", mesh, {mesh: data, "t.json": design}, "topopt", "t.json", "--no-stl")
        if name in ("tetra.inp", "mixed.inp", *MOVED_DECKS): # pfem takes hexahedra and forces alone
            continue
        solid = {key: SOLID[key] for key in ("material", "supports")}
        solid = {**solid, "mesh": {"file": mesh}, "loads": [{"plane": "x=2", "force": [1, 0, 0]}]}
        add("models/pfem", mesh, {mesh: data, "p.json": solid}, "pfem", "p.json", "--order", "1")
    add("scene", "s.json", {"s.json": SCENE}, "softbody", "s.json")
    add("design", "t.json", {"t.json": DESIGN}, "topopt", "t.json", "--no-stl")
    add("design/limited", "t.json", {"t.json": LIMITED}, "topopt", "t.json", "--no-stl")
    add("design/made", "t.json", {"t.json": MADE}, "topopt", "t.json", "--no-stl")
    add("design/moved", "t.json", {"t.json": MOVED}, "topopt", "t.json", "--no-stl")
    add("solid", "p.json", {"p.json": SOLID}, "pfem", "p.json")
    add("configuration", "c.ini", {"c.ini": "size=2\nspacing=0.5\ntest=axial\nmodulus=1000\n"},
        "bone", "--generate", "cube", "--config", "c.ini")
    for subcommand, scene, more in (("softbody", SCENE, ()), ("topopt", DESIGN, ("--no-stl",))):
        with tempfile.TemporaryDirectory() as directory:
            start = Case("", "", {"s.json": scene}, subcommand, "s.json", "--steps", "1",
                         "--checkpoint", "c.h5", *more)
            process = run(executable, start, directory)
            if process is None or process.returncode != 0:
                sys.exit(f"no checkpoint of {subcommand}: {process and process.stderr.decode()}")
            checkpoint = read(os.path.join(directory, "c.h5"))
        add("checkpoint", "c.h5", {"s.json": scene, "c.h5": checkpoint}, subcommand, "s.json",
            "--resume", "c.h5", *more)
    return found


WORDS = [b"nan", b"inf", b"-1", b"0", b"1e308", b"1e-308", b"-0", b"99999999999", b"2147483648",
         b"18446744073709551616", b"0.1", b"1e400", b"null", b"\"\"", b"[]", b"{}", b"x"]


def mutate(data, choose):
    data = bytearray(data)
    for _ in range(choose.choice((1, 1, 1, 2, 4))):
        kind, at = choose.randrange(8), choose.randrange(len(data) + 1)
        size = choose.choice((1, 2, 4, 8, 32))
        if kind == 0 and at < len(data):
            data[at] ^= 1 << choose.randrange(8)
        elif kind == 1 and at < len(data):
            data[at] = choose.randrange(256)
        elif kind == 2:
            data[at:at + size] = b""
        elif kind == 3:
            data[at:at] = data[at:at + size]
        elif kind == 4:
            data[at:at] = bytes(choose.randrange(256) for _ in range(size))
        elif kind == 5:
            del data[at:]
        elif kind == 6: # lines in another order
            lines = bytes(data).split(b"\n")
            a, b = choose.randrange(len(lines)), choose.randrange(len(lines))
            lines[a], lines[b] = lines[b], lines[a]
            data = bytearray(b"\n".join(lines))
        else: # another number where one is
            digits = [i for i, byte in enumerate(data) if 48 <= byte < 58]
            if digits:
                begin = end = choose.choice(digits)
                while end < len(data) and (48 <= data[end] < 58 or data[end:end + 1] in b".eE-+"):
                    end += 1
                data[begin:end] = choose.choice(WORDS)
    return bytes(data)


def limit():
    # Not the address space, of which a GPU's driver reserves more than there is memory.
    resource.setrlimit(resource.RLIMIT_DATA, (BYTES, BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(executable, case, directory):
    """The finished process, or None after SECONDS; the files of the case are in the directory then."""
    for name, data in case.files.items():
        with open(os.path.join(directory, name), "wb") as file:
            file.write(data)
    command = [executable, *case.arguments, "--backend", "serial", "-q", "--json", "-"]
    if "--checkpoint" not in case.arguments:
        command += ["--no-hdf"]
    try:
        return subprocess.run(command, cwd=directory, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS,
                              preexec_fn=limit, check=False,
                              env={**os.environ, "OMP_NUM_THREADS": "1"}) # fast to start
    except subprocess.TimeoutExpired:
        return None


def empty_values(value, place=""):
    """Places in a summary where a number is missing: the library writes null for what is not finite."""
    if isinstance(value, dict):
        for key, part in value.items():
            if value.get("reached") == 0 and key in ("earliest", "mean", "latest"):
                continue # of no vertices
            yield from empty_values(part, f"{place}/{key}")
    elif isinstance(value, list):
        for part in value:
            yield from empty_values(part, place + "/*")
    elif value is None or value in (float("inf"), float("-inf")) or value != value:
        yield place


def finding(process, case, directory, known_empty):
    """What is wrong with a run; empty if nothing is."""
    if process is None:
        return f"takes more than {SECONDS} s"
    text = process.stderr.decode(errors="replace")
    if process.returncode not in CODES:
        return f"exit {process.returncode}: {text[-300:]}"
    if process.returncode not in (0, 3) and "ossatura: " not in text:
        return f"exit {process.returncode} without a message"
    left = [name for name in os.listdir(directory)
            if name not in case.files and not name.endswith((".h5", ".hdf", ".json"))]
    if left:
        return f"leaves {left}"
    if process.returncode == 0:
        try:
            summary = json.loads(process.stdout.decode(errors="strict"))
        except ValueError as error:
            return f"no summary: {error}"
        empty = set(empty_values(summary.get("results"))) - known_empty
        if empty:
            return f"not finite: {sorted(empty)}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("executable")
    parser.add_argument("seeds")
    parser.add_argument("--runs", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--keep", help="a folder for the files of runs with a finding")
    options = parser.parse_args()
    executable = os.path.abspath(options.executable)
    all_cases = cases(options.seeds, executable)
    known_empty, counts, findings, slowest = set(), collections.Counter(), [], 0.0
    for case in all_cases: # as they are: each has to be read
        with tempfile.TemporaryDirectory() as directory:
            process = run(executable, case, directory)
            if process is None or process.returncode != 0:
                sys.exit(f"the seed of {case.name}, {case.mutated}: "
                         f"{process.stderr.decode() if process else 'no end'}")
            known_empty |= set(empty_values(json.loads(process.stdout).get("results")))

    def one(number):
        choose = random.Random(f"{options.seed}/{number}")
        case = all_cases[number % len(all_cases)]
        files = {**case.files, case.mutated: mutate(case.files[case.mutated], choose)}
        # A cube of some hundred voxels an edge is sound, and longer than a run may be.
        large = ("--dry-run",) if re.search(rb"size\s*=\s*\d{3}", files.get("c.ini", b"")) else ()
        case = Case(case.name, case.mutated, files, *case.arguments, *large)
        with tempfile.TemporaryDirectory() as directory:
            start = time.monotonic()
            process = run(executable, case, directory)
            seconds = time.monotonic() - start
            problem = finding(process, case, directory, known_empty)
            if options.keep and (problem or options.only is not None):
                kept = os.path.join(options.keep, str(number))
                shutil.copytree(directory, kept)
                with open(os.path.join(kept, "command"), "w", encoding="utf-8") as file:
                    file.write(" ".join(case.arguments) + "\n")
        return number, case.name, process.returncode if process else None, problem, seconds

    numbers = range(options.runs) if options.only is None else [options.only]
    with ThreadPoolExecutor(options.jobs) as pool:
        for number, name, code, problem, seconds in pool.map(one, numbers):
            counts[f"{name}: exit {code}"] += 1
            counts[f"exit {code}"] += 1
            slowest = max(slowest, seconds)
            if problem:
                findings.append(number)
                print(f"run {number}, {name}: {problem}", flush=True)
    for name, count in sorted(counts.items()):
        print(f"{count:7d} {name}")
    print(f"{len(numbers)} runs of {len(all_cases)} inputs, slowest {slowest:.1f} s, "
          f"{len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
