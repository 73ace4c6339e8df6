# SPDX-License-Identifier: Apache-2.0
"""ossatura-verify on small runs of every subcommand and on the examples: it agrees with each, and finds
what was falsified in copies of their files, by the check that is to find it."""
import contextlib
import importlib.util
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import warnings

from support import driver_case
import h5py
import numpy
from support import xxh64
from support.solid_decks import Mesh
from support.specimens import SPECIMENS, nifti_bytes, write_specimen

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PROGRAM = os.path.join(ROOT, "apps", "verify")
EXAMPLES = os.path.join(ROOT, "examples")
SCENE = {"time_step": 0.01, "steps": 4, "gravity": [0, 0, -9.81], "damping": {"mass": 0.1, "stiffness": 0.01},
         "objects": [{"name": "beam", "mesh": {"hexa_box": {"cells": [4, 2, 2], "size": [0.4, 0.1, 0.1]}},
                      "material": {"young": 2e4, "poisson": 0.4}, "density": 1000,
                      "fixed": [{"box": [0, 0, 0, 0, 0.1, 0.1]}],
                      "loads": [{"box": [0.4, 0, 0, 0.4, 0.1, 0.1], "total_force": [0, 0.1, 0]}]}]}
FREE = {"time_step": 0.002, "steps": 6, "objects": [
    {"name": name, "mesh": {kind: {"cells": [3, 3, 3], "size": [0.1, 0.1, 0.1]}}, "translate": [x, 0, 0], "velocity": [v, 0, 0.3],
     "material": {"young": 1e5, "poisson": 0.3}, "density": 2000}
    for name, kind, x, v in (("a", "hexa_box", 0, 1), ("b", "tetra_box", 0.4, 0.5))]}
CONTACT = {"time_step": 0.01, "steps": 6, "gravity": [0, 0, -9.81],
           "objects": [{"name": "ball", "mesh": {"ellipsoid": {"semi_axes": [0.1, 0.1, 0.1], "cells": 3}},
                        "translate": [0, 0, 0.1005], "material": {"young": 1e4, "poisson": 0.3}}],
           "obstacles": [{"plane": {"point": [0, 0, 0], "normal": [0, 0, 1], "friction": 0.3}},
                         {"sphere": {"centre": [0, 0, -1], "radius": 1}}]}
PLATE = {"mesh": {"generator": "cube", "cells": [3, 3, 3], "size": [2, 1, 1]}, "order": 3,
         "material": {"young": 8, "poisson": 0.25}, "supports": [{"plane": "x=0", "components": "xyz"}],
         "loads": [{"plane": "x=2", "traction": [4, 0, 1]}]}
MOVED = {"mesh": {"box": {"cells": [6, 3, 3], "size": [2, 1, 1]}}, "material": {"young": 2e5, "poisson": 0.3},
         "materials": [{"box": [0, 0, 0, 1, 1, 1], "name": "stiff", "young": 8e5, "poisson": 0.2, "mass_density": 3}],
         "supports": [{"box": [0, 0, 0, 0, 1, 1]}], "volume_fraction": 0.5, "steps": 3, "cases": [
             {"name": "a", "loads": [{"box": [1, 1, 0, 1, 1, 1], "total_force": [0, 90, 0]}],
              "displacements": [{"box": [2, 0, 0, 2, 0.5, 1], "displacement": [None, 0, -0.01]}]},
             {"name": "b", "loads": [{"box": [2, 1, 0, 2, 1, 1], "total_force": [5, 0, 0]}]}]}
NAMED = {**MOVED, "cases": [{**MOVED["cases"][0], "name": "Zug-ü,\";"}, {**MOVED["cases"][1], "name": "Druck µ"}]}
HEAVY = {**MOVED, "material": {"young": 2e5, "poisson": 0.3, "mass_density": 40}, "cases": [
    {"name": "a", "gravity": [1, 0, -9.81]}, {"name": "b", "rotation": {"origin": [1, 0, 0], "axis": [1, 0, 1], "speed": 9}}]}
WARM = {**MOVED, "material": {"young": 2e5, "poisson": 0.3, "expansion": 2e-3}, "cases": [
    {**MOVED["cases"][0], "temperature_change": [{"box": [0, 0, 0, 1, 1, 1], "change": 8}, {"box": [1, 0, 0, 2, 1, 0.5], "change": -3}]},
    {"name": "b", "temperature_change": 5}]}
HOT = ("*INITIAL CONDITIONS, TYPE=TEMPERATURE\n, 20.\n*STEP\n*STATIC\n*TEMPERATURE\n, 20.\nEND, 90.\nY0, 40.\n*CLOAD\n"
       "END, 3, -0.1\n*END STEP\n")
RIGID = {**MOVED, "rigid_bodies": [{"box": [2, 0, 0, 2, 1, 1]}], "cases": [
    {"name": "turn", "loads": [{"box": [2, 0, 0, 2, 1, 1], "remote": {
        "point": [3, 0.5, 0.5], "force": [0, 0, -50], "moment": [20, 0, 0]}}]}]}
# A quarter, which has modes of three families among the lowest ones.
QUARTER = {**HEAVY, "mirrors": [{"axis": "y", "place": 0}, {"axis": "z", "place": 1}], "frequencies": 4, "cases": [
    {"name": "a", "gravity": [9.81, 0, 0]}, {"name": "b", "rotation": {"origin": [0, 0, 1], "axis": [1, 0, 0], "speed": 9}}]}
BONE = ("--generate", "perlin", "--size", "40", "--feature", "16", "--fraction", "0.3", "--largest-component", "--tolerance",
        "1e-15", "--max-iterations", "100000")
RUNS = {
    "cube": ["bone", "--generate", "cube", "--size", "5"],
    "laminate": ["bone", "--generate", "laminate", "--size", "5,4,6", "--layers", "2=1000,1=5000",
                 "--test", "torsion"],
    "forces": ["bone", "--generate", "sphere", "--size", "7", "--test", "file", "--fix", "z-:xyz", "--force",
               "z+:z=-100", "--force", "z+:x=5", "--fields", "all"],
    "shear": ["bone", "--generate", "cube", "--size", "4,5,6", "--test", "shear-zx", "--lateral", "free"],
    "bending": ["bone", "--generate", "cube", "--size", "4", "--test", "bending", "--plate-depth", "1"],
    "visible": ["bone", "--generate", "sphere", "--size", "9", "--surface", "upper=visible", "--surface-depth", "upper=2"],
    "share": ["bone", EXAMPLES + "/bone/radius.mha", "--law", "linear", "--slope", "10", "--lower", "320", "--resample", "1",
              "--mask", EXAMPLES + "/bone/radius-labels.nii.gz", "--surface", "visible", "--surface-depth", "1"],
    "caps": ["bone", "--generate", "sphere", "--size", "9", "--cap", "2:3000", "--surface-depth", "2", "--fields", "all"],
    "pads": ["bone", EXAMPLES + "/bone/radius.mha", "--resample", "1", "--mask", EXAMPLES + "/bone/radius-labels.nii.gz",
             "--label-laws", "1=linear:slope=10:lower=320", "--pads", "2=9000", "--cap", "upper=2", "--fields", "all"],
    "grown": ["bone", EXAMPLES + "/bone/radius.mha", "--resample", "1", "--mask", EXAMPLES + "/bone/radius-labels.nii.gz",
              "--law", "linear", "--slope", "10", "--lower", "320", "--cap", "2", "--surface-depth", "1"],
    # Some bone hangs on the rest with nothing to bear, so that its moduli cannot be found from energies.
    "dangling": ["bone", EXAMPLES + "/bone/radius.mha", "--law", "power", "--slope", "0.001", "--lower", "320", "--resample", "0.8",
                 "--test", "file", "--fix", "z-:xyz", "--force", "z+:x=10,z+:z=-100"],
    "yielding-caps": ["bone", "--generate", "cube", "--size", "4", "--strain", "-0.02", "--strength", "von-mises", "--load-steps",
                      "4", "--cap", "1:3000"],
    "potted": ["bone", "--generate", "cube", "--size", "4", "--cap", "upper=1", "--test", "torsion"],
    "uniaxial": ["bone", "--generate", "cube", "--size", "4,3,5", "--test", "uniaxial"],
    # What holds it against turning has forces of the size of the residual, which are of no plate.
    "porous": ["bone", "--generate", "perlin", "--size", "16", "--feature", "6", "--test", "uniaxial"],
    "confined": ["bone", "--generate", "cube", "--size", "4", "--test", "confined"],
    "yielding": ["bone", "--generate", "cube", "--size", "4", "--strain", "-0.02", "--strength", "drucker-prager",
                 "--load-steps", "6"],
    "kept": ["bone", "--generate", "cube", "--size", "4", "--strain", "-0.02", "--strength", "drucker-prager",
             "--load-steps", "4", "--checkpoint", "c.h5"],
    "homogenise": ["bone", "--generate", "cube", "--size", "4", "--test", "homogenise"],
    "radius": ["bone", EXAMPLES + "/bone/radius.mha", "--law", "threshold", "--lower", "320", "--modulus", "6829"],
    "labels": ["bone", EXAMPLES + "/bone/radius-labels.nii.gz", "--law", "labels", "--labels", "1=17000,2=9000"],
    "wall": ["eikonal", EXAMPLES + "/eikonal/wall.pts", "--velocities", EXAMPLES + "/eikonal/tissues.json",
             "--site", "vtx:" + EXAMPLES + "/eikonal/endocardium.vtx"],
    "pacing": ["eikonal", EXAMPLES + "/eikonal/wall.pts", "--velocities", EXAMPLES + "/eikonal/tissues.json",
               "--sites", EXAMPLES + "/eikonal/pacing.json", "--non-conducting", "2"],
    "scarred": ["eikonal", EXAMPLES + "/eikonal/wall.pts", "--velocities", EXAMPLES + "/eikonal/tissues.json",
                "--non-conducting", "2", "--site", "sphere:16,8,4.5,6@t=-3"],
    # Its box ends at vertices but for rounding.
    "face": ["eikonal", "--generate", "box:n=7", "--site", "box:0,0,0,0.999999,3,3"],
    "late": ["eikonal", "--generate", "box:n=6,jitter=0.3", "--site", "vertices:9@t=1e6"],
    "early": ["eikonal", "--generate", "box:n=5,jitter=0.3", "--site", "point:0,0,0@t=-3", "--precision", "double"],
    "beam": ["softbody", SCENE], "free": ["softbody", FREE], "contact": ["softbody", CONTACT],
    "cloth": ["softbody", EXAMPLES + "/softbody/cloth.json", "--steps", "3"],
    "pile": ["softbody", EXAMPLES + "/softbody/pile.json", "--steps", "4"],
    "cantilever": ["topopt", "cantilever", "--cells", "8x4x4", "--volume", "0.3", "--steps", "3", "--bound"],
    "voxels": ["topopt", "cantilever", "--grid", "voxels", "--cells", "8x4x4", "--volume", "0.3", "--steps", "3", "--bound"],
    "light": ["topopt", "lbeam", "--grid", "voxels", "--cells", "15x3x15", "--keep", "2", "--objective", "volume", "--max-stress", "0.8",
              "--max-compliance", "70", "--steps", "8"],
    "bridge": ["topopt", "bridge", "--cells", "16x4x4", "--steps", "12", "--volume", "0.4", "--radius", "1.5"],
    "printed": ["topopt", "cantilever", "--grid", "voxels", "--cells", "16x2x8", "--volume", "0.6", "--radius", "1.5", "--overhang", "+z",
                "--projection", "--sharpness", "8", "--steps", "25"],
    "labelled": ["topopt", {"mesh": {"file": os.path.abspath(EXAMPLES + "/bone/radius-labels.nii.gz"), "lower": 1},
                            "material": {"young": 2e10, "poisson": 0.3}, "volume_fraction": 0.9, "steps": 2,
                            "supports": [{"box": [-1, -1, -1, 1, 1, 0]}], "cases": [{"name": "press", "loads": [
                                {"box": [-1, -1, 0.0117, 1, 1, 1], "total_force": [0, 0, -100]}]}]}, "--smooth", "0"],
    "inverter": ["topopt", "inverter", "--cells", "8x4x4", "--steps", "2"],
    "moved": ["topopt", MOVED], "named": ["topopt", NAMED], "heavy": ["topopt", HEAVY], "rigid": ["topopt", RIGID],
    "hanging": ["topopt", Mesh("C3D10").deck("8., 0.3\n*DENSITY\n3.", "X0, 1, 3\n",
                                             "*DLOAD\nALL, GRAV, 10., 1., 0., -2.\n"), "--steps", "2", "--radius", "0.8"],
    "humming": ["topopt", Mesh("C3D20", other="C3D15", split=2).deck("8., 0.3\n*DENSITY\n3.", "X0, 1, 3\n",
                                                                    "*DLOAD\nALL, GRAV, 10., 1., 0., -2.\n"),
                "--objective", "frequency", "--steps", "2", "--radius", "0.8"],
    "ringing": ["topopt", RIGID, "--frequencies", "2", "--mass-density", "3"],
    "buzzing": ["topopt", "cantilever", "--grid", "voxels", "--cells", "8x4x4", "--volume", "0.3", "--steps", "2",
                "--frequencies", "3", "--mass-density", "3"],
    "quarter": ["topopt", QUARTER],
    "warm": ["topopt", WARM],
    "baked": ["topopt", {**WARM, "mesh": {"box": {"cells": [6, 3, 3], "size": [2, 1, 1]}}, "materials": [], "cases": [
        {**WARM["cases"][0], "displacements": []}, WARM["cases"][1]]}, "--grid", "voxels"],
    "leaning": ["topopt", {**HEAVY, "materials": [
        {**MOVED["materials"][0], "poisson": 0.3}]}, "--grid", "voxels"],
    "gripped": ["topopt", {**WARM, "materials": [], "cases": [
        {**WARM["cases"][0], "gravity": [1, 0, -9.81]}, {**WARM["cases"][1], "rotation": HEAVY["cases"][1]["rotation"]}],
        "material": {**WARM["material"], "mass_density": 40}}, "--grid", "voxels"],
    "hot": ["topopt", Mesh("C3D10").deck("8., 0.3\n*EXPANSION\n1e-2", "X0, 1, 3\n") + HOT, "--steps", "2", "--radius", "0.8"],
    "glowing": ["topopt", Mesh("C3D20R", other="C3D15", split=2).deck("8., 0.3\n*EXPANSION\n1e-2", "X0, 1, 3\n") + HOT,
                "--steps", "2", "--radius", "0.8"],
    "tetra": ["topopt", Mesh("C3D10").cantilever(), "--steps", "3", "--radius", "0.8"],
    "stiff": ["topopt", Mesh("C3D4").cantilever(), "--steps", "3", "--radius", "0.8"],
    "stubby": ["topopt", Mesh("C3D4").deck("8., 0.3\n*DENSITY\n3.", "X0, 1, 3\n", "*DLOAD\nALL, GRAV, 10., 1., 0., -2.\n"),
               "--steps", "2", "--radius", "0.8", "--frequencies", "2"],
    "mixed": ["topopt", Mesh("C3D20R", other="C3D15", split=2).cantilever(), "--steps", "2", "--radius", "0.8"],
    "linear": ["topopt", Mesh("C3D6", other="C3D8", split=2).cantilever(), "--steps", "2", "--radius", "0.8"],
    "plate": ["pfem", PLATE], "sphere": ["pfem", "sphere", "--order", "4"],
    "plies": ["pfem", EXAMPLES + "/pfem/laminate.json"], "vessel": ["pfem", EXAMPLES + "/pfem/pressure-vessel.json"],
    "stretch": ["pfem", EXAMPLES + "/pfem/stretch.json"],
}
# Options of the first run and of the one that goes on with it, @ being their folder.
RESUMED = {"resumed": [["--steps", "2", "--checkpoint", "c.h5"], ["--resume", "@/c.h5", "--overwrite"]]}
RUNS["resumed"] = ["softbody", SCENE, "--vtk-every", "1"]
# Those that end with exit 3 are checked for what holds all the same.
UNFINISHED = {
    "early-stop": ["bone", "--generate", "perlin", "--size", "16", "--feature", "8", "--max-iterations", "2"],
    "no-solution": ["softbody", SCENE, "--preconditioner", "jacobi", "--max-iterations", "1"],
    "no-step": ["topopt", "cantilever", "--cells", "8x4x4", "--preconditioner", "jacobi", "--max-iterations", "3"],
}


def load_program():
    spec = importlib.util.spec_from_file_location("ossatura_verify", os.path.join(PROGRAM, "__main__.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PROGRAM_MODULE = load_program()


class Copy:
    """A copy of a run's folder whose files can be edited."""

    def __init__(self, folder):
        self.folder = folder
        self.name = next(name for name in os.listdir(folder) if name.endswith(".summary.json"))

    def path(self, ending):
        """Of the only file with this ending."""
        found, = (name for name in os.listdir(self.folder) if name.endswith(ending))
        return os.path.join(self.folder, found)

    def summary(self, change):
        path = os.path.join(self.folder, self.name)
        with open(path) as file:
            content = json.load(file)
        change(content)
        with open(path, "w") as file:
            json.dump(content, file)
        return content

    def field(self, name, change, ending=".hdf"):
        """Changes a dataset of VTKHDF in place."""
        with h5py.File(self.path(ending), "r+") as file:
            values = file["VTKHDF/" + name][...]
            change(values)
            file["VTKHDF/" + name][...] = values

    def nan(self, name, at):
        """Puts no number into a checkpoint."""
        with h5py.File(self.path(".h5"), "r+") as file:
            values = file[name][...]
            values[at] = numpy.nan
            file[name][...] = values

    def text(self, ending, change):
        with open(self.path(ending)) as file:
            content = file.read()
        changed = change(content)
        assert changed != content
        with open(self.path(ending), "w") as file:
            file.write(changed)


class Recorder(PROGRAM_MODULE.Report):
    """Also knows the names of what failed and of what was not checked."""

    def __init__(self):
        super().__init__()
        self.failures, self.skipped = [], []

    def true(self, name, good, why="", value="", bound=""):
        super().true(name, good, why, value, bound)
        self.failures += [] if good else [name]

    def skip(self, name, why):
        super().skip(name, why)
        self.skipped.append(name)


def verify(folder, with_hashes):
    """The report, and what was printed."""
    report, text = Recorder(), io.StringIO()
    with contextlib.redirect_stdout(text):
        PROGRAM_MODULE.verify(folder, report, with_hashes)
    return report, text.getvalue()


def certify(run):
    """Gives a summary without certificate one of its residual and the hashes of its files."""
    def change(content):
        if "certificate" not in content:
            check = {"name": "residual", "value": 1e-9, "bound": 1e-8, "passed": True}
            hashed = sys.modules["files"].hash_of
            content["certificate"] = {
                "tolerance": 1e-8, "passed": True, "checks": [check],
                "inputs": [{"file": one["path"], **one} for one in content["provenance"]["inputs"]],
                "files": [{"file": name, "bytes": os.path.getsize(os.path.join(run.folder, name)),
                           "xxh64": hashed(os.path.join(run.folder, name))}
                          for name in os.listdir(run.folder) if name != run.name]}
    run.summary(change)


def add(place, amount):
    def change(values):
        values[place] += amount
    return change


def scale(place, factor):
    def change(values):
        values[place] *= factor
    return change


def put(*keys):
    """The last of `keys` becomes the value at the others."""
    def change(content):
        for key in keys[:-2]:
            content = content[key]
        content[keys[-2]] = keys[-1](content[keys[-2]]) if callable(keys[-1]) else keys[-1]
    return change


def swap(one, other):
    def change(values):
        values[[one, other]] = values[[other, one]]
    return change


def field(name, change, ending=".hdf"):
    return lambda copy: copy.field(name, change, ending)


def summary(*keys):
    return lambda copy: copy.summary(put(*keys))


def remove(name):
    def edit(copy):
        with h5py.File(copy.path(".hdf"), "r+") as file:
            del file["VTKHDF/" + name]
    return edit


def truncate(ending, part):
    return lambda copy: os.truncate(copy.path(ending), int(part * os.path.getsize(copy.path(ending))))


def slightly(x):
    return x * (1 + 1e-5)


U = "PointData/displacement"
TIME = "PointData/activation_time"
# Run, the check that finds it without hashes, and the falsification.
FALSIFIED = [
    ("cube", "reaction: upper plate: force", field(U, scale(slice(None), 1 + 1e-5))),
    ("cube", "residual", field(U, scale((slice(None), 2), 1 + 1e-3 * numpy.arange(216) / 216))),
    ("cube", "residual, less the summary's", field(U, add((110, 0), 1e-7))),
    ("cube", "displacement of the plates", field(U, scale(slice(None), 1 + 1e-8))),
    ("cube", "residual", field(U, swap(80, 81))),
    ("cube", "finite numbers of the files", field(U, add((7, 1), numpy.nan))),
    ("cube", "voxels are cubes on a lattice", field("Points", add((3, 0), 1e-3))),
    ("cube", "each voxel is there once", field("Connectivity", lambda v: v.__setitem__(slice(8), v[8:16]))),
    ("cube", "elements, nodes, held", field("PointData/held", put(0, 0))),
    ("cube", "sed", field("CellData/sed", scale(17, 1 + 1e-5))),
    ("cube", "von_mises", field("CellData/von_mises", swap(0, 30))),
    ("cube", "effective_strain", field("CellData/effective_strain", scale(60, 1 + 1e-5))),
    ("cube", "files", remove("PointData/displacement")),
    ("cube", "files", remove("CellData/sed")),
    ("cube", "files", truncate(".hdf", 0.5)),
    ("cube", "files", lambda copy: os.remove(copy.path(".hdf"))),
    ("cube", "residual, less the summary's", summary("residual", "true", lambda x: x / 3)),
    ("cube", "residual of the solves", summary("results", "solves", 0, "true_residual", lambda x: x / 2)),
    ("cube", "residual of the summary", summary("residual", "true", 2e-6)),
    ("cube", "iterations in all", summary("iterations", 7)),
    ("cube", "strain energy", summary("results", "strain_energy", slightly)),
    ("cube", "reaction: lower plate: force", summary("results", "reactions", 0, "force", 2, slightly)),
    ("cube", "reaction: upper plate: moment", summary("results", "reactions", 1, "moment", 0, lambda x: x + 1)),
    ("cube", "response: force", summary("results", "response", "force", slightly)),
    ("cube", "response: apparent_modulus", summary("results", "response", "apparent_modulus", slightly)),
    ("cube", "von_mises: 95", summary("results", "von_mises", "percentiles", "95", slightly)),
    ("cube", "sed: mean", summary("results", "sed", "mean", slightly)),
    ("cube", "pistoia: strain, factor", summary("results", "pistoia", "factor", slightly)),
    ("cube", "pistoia: load", summary("results", "pistoia", "force", slightly)),
    ("yielding", "work done", summary("results", "strength", "steps", 5, "external_work", lambda x: 1.001 * x)),
    ("yielding", "work done", summary("results", "strength", "steps", 3, "force", lambda x: 1.01 * x)),
    ("yielding", "work done less elastic and plastic",
     summary("results", "strength", "steps", 4, "plastic_work", lambda x: 1.02 * x)),
    ("yielding", "yield load", summary("results", "strength", "yield", "force", slightly)),
    ("yielding", "ultimate load", summary("results", "strength", "ultimate", "force", slightly)),
    ("cube", "volume of the bone", summary("problem", "bone_volume", 126)),
    ("cube", "finite numbers of the summary", summary("results", "response", "area", numpy.inf)),
    ("cube", "schema", summary("schema", "ossatura/bones/1")),
    ("cube", "status", summary("status", "fine")),
    ("cube", "status", summary("status", "dry run")),
    ("cube", "certificate passed", summary("certificate", "checks", 0, "passed", False)),
    ("cube", "checks of the certificate", summary("certificate", "checks", 0, "value", 1)),
    ("cube", "files are of this run", summary("provenance", "time_utc", "2001-01-01T00:00:00Z")),
    ("cube", "results", summary("problem", "spacing", None)),
    ("laminate", "von_mises", field("CellData/sed", scale(20, 1 + 1e-5))),
    ("laminate", "moduli", summary("problem", "modulus", "mean", slightly)),
    ("forces", "residual", field("PointData/load", scale(slice(None), 1 + 1e-5))),
    ("forces", "sed", field("CellData/modulus", scale(3, 1 + 1e-5))),
    ("forces", "stress", field("CellData/stress", add((5, 3), 0.01))),
    ("forces", "strain", field("CellData/strain", swap(2, 9))),
    *(("kept", "finite numbers of the files", lambda copy, name=name, at=at: copy.nan(name, at)) for name, at in (
        ("steps", (slice(None), 12)), ("steps", (1, 13)), ("present", 3), ("elastic", 0), ("displacement", (7, 1)))),
    ("scarred", "vertices of sites", summary("results", "activation", 0, "sites", 0, "non_conducting_vertices", 3)),
    ("scarred", "vertices of sites", summary("results", "activation", 0, "sites", 0, "vertices", 20)),
    ("late", "times above the least", field(TIME, add(60, 0.4))), ("late", "times below the least", field(TIME, add(60, -0.4))),
    ("wall", "times below the least", field(TIME, scale(60, 1 - 1e-5))),
    ("wall", "times above the least", field(TIME, scale(60, 1 + 1e-5))),
    ("wall", "unreached vertices", field(TIME, put(77, -1))),
    ("wall", "tags", field("CellData/tag", put(0, 2))),
    ("wall", "times below the least", field("CellData/fibre", lambda v: v.__imul__(-numpy.array([1, -1, 1])))),
    ("wall", "all: earliest, mean, latest", summary("results", "activation", 0, "latest", slightly)),
    ("wall", "total activation time", summary("results", "activation", 0, "total_activation_time", slightly)),
    ("wall", "tag 2: earliest, mean, latest", summary("results", "activation", 0, "tags", 1, "mean", slightly)),
    ("wall", "vertices of sites", summary("results", "activation", 0, "sites", 0, "vertices", 5)),
    ("pacing", "non-conducting tetrahedra", field("CellData/conducts", put(0, 0))),
    ("beam", "displacement of every frame", field(U, scale(slice(None), 1 + 1e-5), "_000002.hdf")),
    ("beam", "positions by velocities", field("PointData/velocity", scale(44, 1 + 1e-5), "_000003.hdf")),
    ("beam", "motion of fixed nodes", field("Points", add((0, 0), 1e-9), "_000001.hdf")),
    ("beam", "equation of a step", field("PointData/velocity", scale(slice(None), 1 + 1e-5), "_000004.hdf")),
    ("beam", "kinetic energy", summary("results", "energy", "final", "kinetic", slightly)),
    ("beam", "elastic energy", summary("results", "energy", "final", "elastic", slightly)),
    ("beam", "potential energy", summary("results", "energy", "final", "potential", slightly)),
    ("beam", "beam: place", summary("results", "objects", 0, "largest_displacement", slightly)),
    ("beam", "masses", summary("problem", "objects", 0, "mass", slightly)),
    ("beam", "history: kinetic", lambda copy: copy.text(".csv", lambda text: text.replace("\n2,0.02,0.", "\n2,0.02,1."))),
    ("beam", "files", lambda copy: os.remove(copy.path("_000001.hdf"))),
    ("beam", "most contacts", summary("results", "most_contacts", 5)),
    ("contact", "most contacts", summary("results", "most_contacts", lambda x: x - 1)),
    ("beam", "times of steps", summary("problem", "time_step", 0.02)),
    ("contact", "times of steps", summary("problem", "time_step", slightly)),
    ("free", "equation of a step", field("PointData/velocity", scale(9, 1 + 1e-5), "_000006.hdf")),
    ("resumed", "history: kinetic", lambda copy: copy.text(".csv", lambda text: text.replace("\n4,0.04,0.", "\n4,0.04,1."))),
    ("resumed", "number, time of frames", lambda copy: copy.text(".series", lambda text: text.replace(
        ',\n    {"name": "resumed_000003.hdf"', ',\n    {"name": "resumed_000003.hdf", "time": 0.03},\n    {"name": "resumed_000003.hdf"'))),
    ("contact", "depth in obstacles", field("Points", add((slice(None), 2), -1e-4), "_000006.hdf")),
    ("contact", "worst penetration", summary("results", "worst_penetration", 1e-3)),
    ("moved", "displacements of supports: a", field("PointData/imposed_a", scale(slice(None), 1 + 1e-5))),
    ("moved", "force to move: a", summary("results", "cases", 0, "imposed_force", 2, slightly)),
    ("moved", "elements of materials", summary("problem", "materials", 0, "elements", lambda x: x + 1)),
    ("moved", "residual: b", field("CellData/material", put(30, 0))),
    ("named", "residual: Druck µ", field(U + "_Druck___", scale(slice(None), 1 + 1e-5))),
    ("heavy", "weight: a", field("PointData/weight_a", scale(slice(None), 1 + 1e-5))),
    ("heavy", "residual: b", field("PointData/weight_b", scale(slice(None), 1 + 1e-4))),
    ("leaning", "weight: a", field("PointData/weight_a", scale(slice(None), 1 + 1e-5))),
    ("gripped", "force to move: a", summary("results", "cases", 0, "imposed_force", 2, slightly)),
    ("warm", "forces of temperature: a", field("PointData/thermal_force_a", scale(slice(None), 1 + 1e-5))),
    ("warm", "forces of temperature: b", field("PointData/temperature_change_b", scale(slice(None), 1 + 1e-5))),
    ("warm", "temperatures: b", summary("problem", "cases", 1, "temperature_change", "most", slightly)),
    ("hot", "forces of temperature: STEP 1", summary("problem", "material", "expansion", slightly)),
    ("hot", "strain_energy_density", field("CellData/strain_energy_density", scale(slice(None), 1 + 1e-5))),
    ("humming", "Rayleigh quotient: mode 2", summary("results", "frequencies", 1, slightly)),
    ("humming", "objective", summary("results", "objective", slightly)),
    ("humming", "residual: mode 1", field("PointData/mode_1", scale((slice(None), 2), 1 + 1e-4))),
    ("humming", "largest displacement: mode 3", field("PointData/mode_3", scale(slice(None), 1 + 1e-5))),
    ("humming", "number of frequencies", summary("problem", "frequencies", 4)),
    ("ringing", "held components: mode 1", field("PointData/mode_1", put(0, 1e-6))),
    ("buzzing", "Rayleigh quotient: mode 3", field("PointData/mode_3", scale((slice(None), 1), 1 + 1e-2))),
    ("buzzing", "residual: mode 2", field("PointData/mode_2", scale((slice(None), 2), 1 + 1e-3))),
    ("quarter", "residual: mode 2", summary("results", "antisymmetric_about", 1, lambda axes: "" if axes else "y")),
    ("quarter", "residual: mode 1", field("PointData/held_without_mirrors", put(slice(None), 0))),
    ("rigid", "rigid bodies: turn", field(U, put(6, 0))),
    ("hanging", "residual: STEP 1", field("PointData/weight", scale(slice(None), 1 + 1e-4))),
    ("cantilever", "residual: tip", field(U, scale(slice(None), 1 + 1e-5))),
    ("cantilever", "compliance of the cases", field("PointData/load", scale(slice(None), 1 + 1e-5))),
    ("printed", "densities outside 0 to 1", field("CellData/density", lambda density: density.__setitem__(density.argmax(), 1.006))),
    ("labelled", "surface: volume", summary("results", "surface", "volume", 1.65)),
    ("cantilever", "volume fraction", field("CellData/density", scale(40, 1 + 1e-5))),
    ("cantilever", "strain_energy_density", field("CellData/density", swap(0, 90))),
    ("cantilever", "densities outside 0 to 1", field("CellData/density", put(5, 1.5))),
    ("cantilever", "strain_energy_density", field("CellData/strain_energy_density", swap(1, 60))),
    ("cantilever", "objective", summary("results", "objective", slightly)),
    ("cantilever", "greyness", summary("results", "grey", slightly)),
    ("light", "volume fraction", field("CellData/density", scale(40, 1 + 1e-3))),
    ("light", "objective", summary("results", "objective", slightly)),
    ("light", "objectives of the steps", summary("results", "steps", "objective", 1, slightly)),
    ("light", "constraint: 1, compliance", summary("results", "constraints", 0, "value", slightly)),
    ("light", "constraint, excess: 2, stress", summary("results", "constraints", 1, "value", slightly)),
    ("light", "constraint, holds: 2, stress", summary("results", "constraints", 1, "holds", lambda x: not x)),
    ("dangling", "von_mises", field("CellData/von_mises", lambda v: v.__imul__(numpy.where(v > v.mean(), 1 + 1e-5, 1)))),
    ("share", "sections: force of each layer", summary("results", "sections", "force", 3, lambda x: 1.001 * x)),
    ("share", "sections: labels make the force", summary("results", "sections", "labels", "2", 3, lambda x: 1.001 * x)),
    ("share", "sections: balance", summary("results", "sections", "reaction", lambda x: 1.01 * x)),
    ("share", "sections: share, middle", summary("results", "sections", "share", "middle", "1", lambda x: 1.001 * x)),
    ("share", "response: mask_apparent_modulus", summary("results", "response", "mask_area", slightly)),
    ("grown", "sections: force of each layer", summary("results", "sections", "position", lambda x: [y - 1 for y in x])),
    ("cantilever", "compliance below its bound", summary("results", "bound", "value", lambda x: 10 * x)),
    ("cantilever", "excess over the bound", summary("results", "bound", "excess", slightly)),
    ("cantilever", "bound above the best of its kind", summary("results", "bound", "relaxed", lambda x: x / 2)),
    ("cantilever", "surface: volume", summary("results", "surface", "volume", lambda x: x * 1.001)),
    ("cantilever", "surface: triangles", truncate(".stl", 0.9)),
    ("tetra", "residual: STEP 1", field(U, scale(slice(None), 1 + 1e-5))),
    ("tetra", "volume fraction", field("CellData/density", scale(40, 1 + 1e-5))),
    ("stiff", "residual: STEP 1", field(U, scale(slice(None), 1 + 1e-5))),
    ("stubby", "strain_energy_density", field("CellData/strain_energy_density", swap(1, 14))),
    ("mixed", "residual: STEP 1", field("CellData/element_kind", lambda v: v.__setitem__(v == 6, 5))),
    ("linear", "strain_energy_density", field("CellData/strain_energy_density", swap(1, 14))),
    ("cantilever", "history: objective", summary("results", "steps", "objective", 1, slightly)),
    ("plate", "strain_energy_density", field(U, scale(slice(None), 1 + 1e-5))),
    ("plate", "stress = D strain", field("PointData/stress", swap(5, 50))),
    ("plate", "von_mises", field("PointData/von_mises", scale(9, 1 + 1e-5))),
    ("plate", "continuity of displacements", field(U, add((63, 0), 1e-6))),
    ("plate", "strain energy", summary("results", "strain_energy", slightly)),
    ("plate", "potential energy = - strain energy", summary("results", "potential_energy", lambda x: x * 1.001)),
    ("plate", "D is that of the material", summary("problem", "material", "young", lambda x: x * (1 + 1e-5))),
    ("plies", "D is that of the materials", summary("problem", "materials", 0, "elasticity", 11, lambda x: x * (1 + 1e-3))),
    ("plies", "D is that of the materials", summary("problem", "materials", 1, "poisson", lambda x: x + 1e-3)),
    ("plate", "balance of forces", summary("results", "total_load", 0, lambda x: x * 1.001)),
    ("plate", "reaction of supports[0]", summary("results", "reactions", 0, "force", 2, lambda x: x * 1.01)),
    ("plate", "max_displacement", summary("results", "max_displacement", "value", slightly)),
]
# What is too small to be seen in the numbers; the hashes see it.
HIDDEN = [
    ("cube", field("Points", scale((3, 0), 1 + 1e-15))),
    ("cube", field(U, scale((90, 0), 1 + 1e-14))),
    ("wall", field(TIME, lambda v: v.__setitem__(9, numpy.nextafter(v[9], numpy.float32(9))))),
    ("cantilever", field(U, scale((60, 2), 1 + 1e-14))),
]


class Verify(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.directory.cleanup)

    def folder(self, run):
        """The results of a run, which is done once."""
        place = os.path.join(self.directory.name, run)
        if not os.path.isdir(place):
            arguments = list({**RUNS, **UNFINISHED}[run])
            if isinstance(arguments[1], str) and arguments[1].startswith("*"):
                deck = os.path.join(self.directory.name, run + ".inp")
                with open(deck, "w") as file:
                    file.write(arguments[1])
                arguments[1] = deck
            if isinstance(arguments[1], dict):
                document = os.path.join(self.directory.name, run + ".json")
                with open(document, "w") as file:
                    json.dump(arguments[1], file)
                arguments[1] = document
            for more in RESUMED.get(run, [[]]):  # into the same folder
                more = [place + more[1:] if more.startswith("@") else more for more in more]
                process = subprocess.run(
                    [driver_case.EXECUTABLE, *arguments, *more, "-o", place, "-q", "--backend", "serial"], timeout=120,
                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=self.directory.name)
                self.assertEqual(process.returncode, 3 if run in UNFINISHED else 0, process.stderr)
            certify(Copy(place))
        return place

    def copy(self, run):
        place = os.path.join(self.directory.name, "copy")
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self.folder(run), place)
        return Copy(place)

    def test_it_agrees_with_every_run(self):
        for run in [*RUNS, *UNFINISHED]:
            with self.subTest(run=run):
                report, text = verify(self.folder(run), True)
                self.assertEqual(report.failures, [], text)
                self.assertGreaterEqual(report.checked, 8, text)

    def test_it_finds_every_falsification(self):
        self.assertGreaterEqual(len(FALSIFIED), 50)
        for number, (run, check, edit) in enumerate(FALSIFIED):
            with self.subTest(number=number, run=run, check=check):
                copy = self.copy(run)
                edit(copy)
                report, text = verify(copy.folder, False)
                self.assertIn(check, report.failures, text)

    def test_hashes_find_what_numbers_hide(self):
        for number, (run, edit) in enumerate(HIDDEN):
            with self.subTest(number=number):
                copy = self.copy(run)
                edit(copy)
                report, text = verify(copy.folder, False)
                self.assertEqual(report.failures, [], text)
                report, text = verify(copy.folder, True)
                self.assertEqual(report.failures, ["output " + os.path.basename(copy.path(".hdf"))], text)

    def test_runs_that_a_signal_ends(self):
        document = os.path.join(self.directory.name, "stopped.json")
        with open(document, "w") as file:
            json.dump({**PLATE, "mesh": {**PLATE["mesh"], "cells": [6, 6, 6]}, "order": 6}, file)
        for name, *arguments, until in (
                ("whole", "bone", *BONE, "--test", "homogenise", " 3/"), ("axial", "bone", *BONE, " 3/"),
                ("pfem", "pfem", document, "--preconditioner", "jacobi", "--tolerance", "1e-15", "--max-iterations", "1000000",
                 " 20/")):
            place = os.path.join(self.directory.name, "stopped-" + name)
            process = subprocess.Popen([driver_case.EXECUTABLE, *arguments, "-v", "-o", place, "--backend", "serial"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            next(line for line in process.stderr if until in line)
            process.terminate()
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, 75)
            report, text = verify(place, True)
            self.assertEqual(report.failures, [], text)
            self.assertGreaterEqual(report.checked, 8, text)
            copy = Copy(place)
            copy.summary(put("residual", "true", 1e-9))
            if "bone" in arguments:  # of a solve that has none
                self.assertIn("residual of the solves", verify(place, False)[0].failures)

    def test_a_signal_before_the_first_iteration_leaves_zeros(self):
        copy = self.copy("plate")

        def rest(content):
            results = content["results"]
            for one in (results["max_displacement"], results["max_von_mises"]):
                one["value"] = 0
            for one in results["reactions"]:
                one["force"] = [0, 0, 0]
            results.update(strain_energy=0, total_reaction=[0, 0, 0])
            content.update(status="interrupted", certificate={**content["certificate"], "passed": False, "checks": []})

        copy.summary(rest)
        for name in "displacement", "stress", "strain_energy_density", "von_mises":
            copy.field("PointData/" + name, lambda values: values.fill(0))
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # none divides by zero
            report, text = verify(copy.folder, False)
        self.assertEqual(report.failures, ["certificate passed"], text)

    def test_inputs_have_hashes(self):
        copy = self.copy("beam")
        self.assertEqual(verify(copy.folder, True)[0].failures, [])
        document = os.path.join(self.directory.name, "beam.json")
        with open(document) as file:
            content = file.read()
        with open(document, "w") as file:
            file.write(content.replace("0.4", "0.5", 1))
        self.assertIn("input beam.json", verify(copy.folder, True)[0].failures)
        with open(document, "w") as file:
            file.write(content)

    def test_hashes_are_those_of_the_specification(self):
        path = os.path.join(self.directory.name, "data")
        for size in (0, 1, 3, 4, 7, 8, 12, 31, 32, 33, 63, 100, 1027):
            data = bytes(7 * i % 251 for i in range(size))
            with open(path, "wb") as file:
                file.write(data)
            self.assertEqual(sys.modules["files"].hash_of(path), xxh64.xxh64(data), size)

    def run_program(self, code, *arguments):
        process = subprocess.run([sys.executable, PROGRAM, *arguments], stdout=subprocess.PIPE, timeout=60,
                                 stderr=subprocess.PIPE, text=True)
        self.assertEqual(process.returncode, code, process.stdout + process.stderr)
        return process

    def test_images_that_are_turned_mirrored_and_resampled(self):
        values = [900 + i * 37 % 101 for i in range(8 * 7 * 6)]
        for number, rows in enumerate(([(0, -0.5, 0, 4), (0.5, 0, 0, -2), (0, 0, 1.0, 9)],
                                       [(0.3, -0.4, 0, 4), (0.4, 0.3, 0, -2), (0, 0, -1.0, 9)])):
            image, out = (os.path.join(self.directory.name, f"turned{number}{end}") for end in (".nii.gz", ""))
            with open(image, "wb") as file:
                file.write(nifti_bytes((8, 7, 6), (0.5, 0.5, 1.0), "h", values, rows))
            for options in ((), ("--fields", "all", "--test", "torsion", "--overwrite", "--turn", "x=20,z=-35", "--plate-depth",
                                 "1")):
                subprocess.run([driver_case.EXECUTABLE, "bone", image, "--law", "linear", "--resample", "0.5", "-o", out,
                                "-q", "--backend", "serial", *options], check=True, timeout=120,
                               stdout=subprocess.DEVNULL)
                report, text = verify(out, True)
                self.assertEqual(report.failures, [], text)
                self.assertIn("reaction: upper plate: force", text)

    def test_cohorts(self):
        inputs = [write_specimen(os.path.join(self.directory.name, name), size)
                  for name, size in zip(("first.mhd", "second.mhd"), SPECIMENS)]
        done = os.path.join(self.directory.name, "cohort")
        subprocess.run([driver_case.EXECUTABLE, "bone", *inputs, "--law", "threshold", "--lower", "1", "-o", done, "-q",
                        "--no-hdf", "--backend", "serial"], check=True, timeout=120, stdout=subprocess.DEVNULL)
        report, text = verify(done, True)
        self.assertEqual((report.failures, "cohort.csv: second" in text), ([], True), text)

        def falsified(name, change):
            place = os.path.join(self.directory.name, "copy")
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(done, place)
            with open(os.path.join(place, name)) as file:
                content = file.read()
            with open(os.path.join(place, name), "w") as file:
                file.write(change(content))
            return verify(place, True)[0].failures

        def member(key, value):
            def change(content):
                summary = json.loads(content)
                summary["members"][1][key] = value
                return json.dumps(summary)
            return change

        for name, change, found in (
                ("cohort.csv", lambda content: content.replace("\nsecond,", "\nthird,"), ["cohort.csv: second"]),
                ("cohort.csv", lambda content: content.replace(",converged,0,0.05", ",converged,0,0.06", 1),
                 ["cohort.csv: first"]),
                ("cohort.csv", lambda content: content.rsplit("\nsecond,", 1)[0] + "\n", ["cohort.csv: rows"]),
                ("cohort.summary.json", member("status", "failed"), ["cohort.csv: second", "second: its summary"]),
                ("cohort.summary.json", member("xxh64", "0" * 16), [f"input {inputs[1]}"]),
                ("cohort.summary.json", member("exit_code", 3), ["cohort.csv: second", "status"])):
            self.assertEqual(sorted(falsified(name, change)), found)

    def test_exit_codes(self):
        good = self.run_program(0, self.folder("cube"), self.folder("wall") + "/wall.summary.json")
        self.assertIn(" 0 failed", good.stdout)
        copy = self.copy("cube")
        copy.summary(put("iterations", 9))
        self.assertIn("FAILED", self.run_program(1, copy.folder).stdout)
        self.run_program(2)
        self.run_program(2, os.path.join(self.directory.name, "nowhere"))
        self.run_program(2, ROOT)
        truncate(".summary.json", 0.5)(copy)
        self.assertIn("copy", self.run_program(2, copy.folder).stderr)


if __name__ == "__main__":
    driver_case.main()
