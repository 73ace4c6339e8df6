# SPDX-License-Identifier: Apache-2.0
"""The package and the executable have the same bits on `serial`, and the package's command line is the executable.
OSSATURA in the environment names the executable."""
import csv
import json
import logging
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import ossatura
from cases import porous_image
from ossatura import bone, eikonal, pfem, softbody, topopt

try:
    import h5py
except ImportError:
    h5py = None

EXECUTABLE = os.environ.get("OSSATURA")


def write_image(path, image, spacing):
    """A MetaImage of float32 [z, y, x] with its lower corner at 0, where nodes of arrays are counted from."""
    nz, ny, nx = image.shape
    header = (f"ObjectType = Image\nNDims = 3\nDimSize = {nx} {ny} {nz}\n"
              f"ElementSpacing = {spacing} {spacing} {spacing}\nOffset = {spacing / 2} {spacing / 2} {spacing / 2}\n"
              "ElementType = MET_FLOAT\nElementDataFile = LOCAL\n")
    path.write_bytes(header.encode() + image.astype("<f4").tobytes())


@unittest.skipUnless(EXECUTABLE, "OSSATURA names no executable")
class SameBits(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_command(self, *arguments):
        subprocess.run([EXECUTABLE, *map(str, arguments), "--backend", "serial", "-o", self.folder, "--json",
                        "run.json"], check=True, capture_output=True)
        return json.loads((self.folder / "run.json").read_text())["results"]

    def fields(self, name):
        """A function that reads datasets of NAME.hdf."""
        if h5py is None:
            self.skipTest("numbers are the same; no h5py to read the fields")
        file = h5py.File(self.folder / f"{name}.hdf")
        self.addCleanup(file.close)
        return lambda path: file["VTKHDF/" + path][()]

    def compare_test(self, options, keywords):
        image = porous_image((17, 13, 11))
        image[8, 6, 5] = 900  # an island, alone in a hole
        image[7:10, 5:8, 4:7][np.arange(27).reshape(3, 3, 3) != 13] = 0
        write_image(self.folder / "bone.mha", image, 0.1)
        there = self.run_command("bone", self.folder / "bone.mha", "--law", "modulus", *options)
        with self.assertLogs("ossatura"):
            here = bone.solve(image, 0.1, backend="serial", **keywords)
        self.assertEqual(here.num_dropped, 1)
        self.assertEqual(there["strain_energy"], here.strain_energy)
        self.assertEqual(there["solves"][0]["iterations"], here.iterations)
        self.assertEqual(there["solves"][0]["true_residual"], here.residual)
        self.assertAlmostEqual(there["pistoia"]["factor"] / here.failure_factor(), 1, delta=1e-6)
        for name, value in there["response"].items():
            self.assertEqual(getattr(here, "plate_displacement" if name == "displacement" else name), value, name)
        for support in there["reactions"]:
            reaction = here.reactions[support["support"]]
            self.assertEqual(tuple(support["force"]), reaction.force)
            self.assertEqual(tuple(support["moment"]), reaction.moment)
            self.assertEqual(support["contact_area"], reaction.contact_area)
        read = self.fields("bone")
        nodes = np.rint(read("Points") / 0.1).astype(int)
        x, y, z = nodes.T
        self.assertTrue(np.array_equal(read("PointData/displacement"),
                                       here.displacement[z, y, x].astype(read("PointData/displacement").dtype)))
        solid = here.energy_density > 0
        for name, field in (("sed", here.energy_density), ("von_mises", here.von_mises),
                            ("effective_strain", here.effective_strain)):
            self.assertTrue(np.array_equal(np.sort(read("CellData/" + name)), np.sort(field[solid])), name)

    def test_an_axial_test(self):
        self.compare_test(["--test", "axial"], {})

    def test_a_test_between_smooth_plates(self):
        self.compare_test(["--test", "uniaxial"], {"test": "uniaxial"})

    def test_torsion_about_x(self):
        self.compare_test(["--test", "torsion", "--axis", "x", "--angle", "1", "--tolerance", "1e-8"],
                          {"test": "torsion", "axis": "x", "tolerance": 1e-8})

    def test_the_same_doubts(self):
        image = porous_image((6, 5, 4))
        for factor, spacing, strain in ((1, 0.1, -0.01), (1e6, 0.1, -0.01), (1, 82.0, -0.01), (1, 5e-4, -0.01), (1, 0.1, -0.2)):
            write_image(self.folder / "bone.mha", factor * image, spacing)
            self.run_command("bone", self.folder / "bone.mha", "--law", "modulus", "--strain", strain, "--overwrite")
            there = [one["code"] for one in json.loads((self.folder / "run.json").read_text())["warnings"]]
            with self.assertLogs("ossatura") as seen:
                logging.getLogger("ossatura").info("the first", extra={"code": ""})
                bone.solve(factor * image, spacing, strain=strain, backend="serial")
            self.assertEqual(there, [record.code for record in seen.records[1:] if record.code])
            self.assertEqual(len(there), (factor, spacing, strain) != (1, 0.1, -0.01))

    def segmented(self):
        """Grey values with a mask, written as images: a shell, what it holds, a pad below, and a label on its own."""
        image = porous_image((16, 13, 11))
        mask = np.full(image.shape, 1, np.int16)
        mask[:, 3:10, 3:8] = 2
        mask[5, 5, 5] = -4
        mask[:, :2] = 0
        mask[:3] = 5
        image[:3] = -1000
        write_image(self.folder / "bone.mha", image, 0.1)
        write_image(self.folder / "mask.mha", mask, 0.1)
        return image, mask, ("bone", self.folder / "bone.mha", "--mask", self.folder / "mask.mha")

    def compare_labels(self, there, here):
        self.assertEqual(there["strain_energy"], here.strain_energy)
        for name, value in there["response"].items():
            self.assertEqual(getattr(here, "plate_displacement" if name == "displacement" else name), value, name)
        self.assertEqual({int(label) for label in there["labels"]}, set(here.labels))
        for label, numbers in there["labels"].items():
            of = here.labels[int(label)]
            self.assertEqual(numbers, {"elements": of.num_voxels, "modulus_mean": of.modulus_mean,
                                       "sed_mean": of.energy_density_mean, "von_mises_mean": of.von_mises_mean,
                                       "von_mises_maximum": of.von_mises_max,
                                       "effective_strain_mean": of.effective_strain_mean,
                                       "effective_strain_maximum": of.effective_strain_max,
                                       "energy_share": of.energy_share})
        sections = there["sections"]
        self.assertEqual(sections["axis"], here.sections.axis)
        self.assertEqual((sections["first_free"], sections["last_free"]), (here.sections.first_free, here.sections.last_free))
        self.assertEqual(sections["reaction"], here.sections.reaction)
        self.assertEqual(sections["position"], here.sections.position.tolist())
        self.assertEqual(sections["force"], here.sections.force.tolist())
        self.assertEqual(sections["labels"], {str(k): v.tolist() for k, v in here.sections.label_force.items()})
        middle = (here.sections.first_free + here.sections.last_free + 1) // 2
        for label, share in sections["share"]["middle"].items():
            self.assertEqual(share, here.sections.share(int(label))[middle])
        self.assertAlmostEqual(there["pistoia"]["factor"] / here.failure_factor(), 1, delta=1e-6)

    def test_a_mask_with_laws_by_label_and_pads(self):
        image, mask, run = self.segmented()
        there = self.run_command(*run, "--label-laws", "1=linear:slope=2:intercept=30,2=power:coefficient=3:exponent=1.1:"
                                 "poisson=0.25,-4=constant:modulus=9000", "--pads", "5=2500:0.4")
        laws = {1: bone.Law("linear", slope=2, intercept=30), 2: bone.Law("power", coefficient=3, exponent=1.1, poisson=0.25),
                -4: bone.Law("constant", modulus=9000)}
        before = image.copy()
        here = bone.solve(image, 0.1, mask=mask, label_laws=laws, pads={5: (2500, 0.4)}, backend="serial")
        self.assertTrue(np.array_equal(image, before))
        self.compare_labels(there, here)
        self.assertEqual(here.modulus[0, 5, 5], 2500)
        self.assertEqual(here.modulus[5, 5, 5], 9000)
        self.assertEqual(float(np.count_nonzero(here.modulus[3:, :2])), 0)
        turned = bone.solve(image.swapaxes(0, 2), 0.1, mask=mask.swapaxes(0, 2), label_laws=laws, pads={5: (2500, 0.4)},
                            backend="serial", axes="xyz")
        self.assertEqual(turned.labels, here.labels)
        self.assertEqual(turned.failure_factor(), here.failure_factor())

    def test_a_label_without_a_law_is_refused(self):
        """Its values would be taken for moduli, as densities of the bone beside a shell."""
        image, mask, run = self.segmented()
        done = subprocess.run([EXECUTABLE, *map(str, run), "--label-laws", "1=linear:slope=2,-4=constant:modulus=9000", "--pads",
                               "5=2500", "-o", self.folder], capture_output=True, text=True)
        self.assertEqual(done.returncode, 5)
        given = {"mask": mask, "pads": {5: 2500}, "backend": "serial"}
        laws = {1: bone.Law("linear", slope=2), -4: bone.Law("constant", modulus=9000)}
        with self.assertRaises(ossatura.InputError) as caught:
            bone.solve(image, 0.1, label_laws=laws, **given)
        for text in (done.stderr, str(caught.exception)):
            self.assertRegex(text, "the label 2(, which)? has no law: give it one")
        bone.solve(image, 0.1, label_laws={**laws, 2: bone.Law("modulus")}, **given)
        bone.solve(image, 0.1, label_laws=laws, mask_labels=[1, -4], **given)

    def test_labels_of_a_mask(self):
        image, mask, run = self.segmented()
        image[:3] = 700
        write_image(self.folder / "bone.mha", image, 0.1)
        there = self.run_command(*run, "--law", "modulus", "--mask-labels", "5,2", "--axis", "y", "--test", "confined")
        here = bone.solve(image, 0.1, mask=mask, mask_labels=(2, 5), axis="y", test="confined", backend="serial")
        self.compare_labels(there, here)
        self.assertEqual(set(here.labels), {2, 5})

    def test_remodelling(self):
        image, mask, run = self.segmented()
        density = np.where(mask == 5, 0, image / 1000).astype(np.float32)
        write_image(self.folder / "bone.mha", density, 0.1)
        there = self.run_command(*run, "--law", "power", "--coefficient", "4000", "--exponent", "2", "--pads", "5=2500",
                                 "--remodel", "3", "--remodel-stimulus", "0.1", "--remodel-lazy", "0.2", "--remodel-rate",
                                 "0.5", "--remodel-range", "0.3,1.6")
        here = bone.remodel(density, 0.1, steps=3, coefficient=4000, exponent=2, stimulus=0.1, lazy=0.2, rate=0.5,
                            limits=(0.3, 1.6), mask=mask, pads={5: 2500}, backend="serial")
        self.assertEqual(len(here.states), 4)
        names = {field: getattr(here.states[0], field) for field in there["remodelling"]["steps"][0]}
        for state, expected in zip(here.states, there["remodelling"]["steps"]):
            self.assertEqual({name: getattr(state, name) for name in names}, expected)
        self.assertGreater(here.states[0].mean_change, 0)
        self.compare_labels(there, here.result)
        bone_of = here.density[here.density > 0]
        self.assertAlmostEqual(bone_of.mean() / here.states[-1].mean_density, 1, delta=1e-6)
        self.assertAlmostEqual(bone_of.sum() * 1e-3 * 0.1**3 / here.states[-1].mass, 1, delta=1e-6)
        whole = bone.remodel(np.where(mask > 0, density, 0)[3:], 0.1, steps=1, coefficient=4000, exponent=2, stimulus=0.1,
                             rate=0.5, limits=(0.3, 1.6), backend="serial")  # without a mask
        write_image(self.folder / "bone.mha", np.where(mask > 0, density, 0)[3:], 0.1)
        there = self.run_command("bone", self.folder / "bone.mha", "--law", "power", "--coefficient", "4000", "--exponent", "2",
                                 "--remodel", "1", "--remodel-stimulus", "0.1", "--remodel-rate", "0.5", "--remodel-range",
                                 "0.3,1.6")
        self.assertEqual([state.mass for state in whole.states], [step["mass"] for step in there["remodelling"]["steps"]])
        self.assertEqual(whole.result.labels, {})

    def test_homogenisation(self):
        image = porous_image((9, 8, 7))
        write_image(self.folder / "bone.mha", image, 0.1)
        there = self.run_command("bone", self.folder / "bone.mha", "--law", "modulus", "--test", "homogenise")
        here = bone.homogenise(image, 0.1, backend="serial")
        self.assertEqual(there["homogenised"]["stiffness"], here.stiffness.tolist())
        self.assertEqual([solve["true_residual"] for solve in there["solves"]], [one.residual for one in here.solves])
        found = there["homogenised"]
        self.assertEqual(found["orthotropic"]["axes"], here.orthotropic.axes.tolist())
        for along, constants in ((found, here.engineering), (found["orthotropic"], here.orthotropic.engineering)):
            self.assertEqual(along["engineering"], {"young": list(constants.young), "shear": list(constants.shear),
                                                    "poisson": [list(row) for row in constants.poisson]})

    def test_a_unit_cell(self):
        image = porous_image((9, 8, 7))
        write_image(self.folder / "bone.mha", image, 0.1)
        there = self.run_command("bone", self.folder / "bone.mha", "--law", "modulus", "--test", "homogenise",
                                 "--boundary", "periodic")
        here = bone.homogenise(image, 0.1, boundary="periodic", backend="serial")
        self.assertEqual(there["homogenised"]["stiffness"], here.stiffness.tolist())
        self.assertEqual(there["homogenised"]["boundary"], here.boundary)

    def test_activation_of_ventricles(self):
        for precision in ("double", "single"):
            self.run_command("eikonal", "--generate", "ventricles:h=3", "--velocity", "0.6,0.4,0.2", "--precision",
                             precision, "--site", "vertices:100", "--site", "vertices:900@t=3.5", "--overwrite")
            read = self.fields("ventricles")
            tetra = read("Connectivity").reshape(-1, 4)
            solver = eikonal.Solver(read("Points"), tetra, tags=read("CellData/tag"), fibres=read("CellData/fibre"),
                                    sheets=read("CellData/sheet"), velocities=(0.6, 0.4, 0.2), precision=precision,
                                    backend="serial")
            times = solver.solve({100: 0.0, 900: 3.5})
            self.assertEqual(times.dtype, read("PointData/activation_time").dtype)
            self.assertTrue(np.array_equal(times, read("PointData/activation_time")))

    def test_a_sphere_of_high_order(self):
        there = self.run_command("pfem", "sphere", "--order", "5", "--no-hdf")
        mesh = pfem.sphere_octant(1.0, 2.0)
        model = pfem.Model(mesh, order=5, young=1.0, poisson=0.3, backend="serial")
        for axis in range(3):
            model.hold(mesh.points[:, axis] < 1e-9, "xyz"[axis])
        model.add_pressure(np.isclose(mesh.radii, 1.0), 1.0)
        here = model.solve()
        self.assertEqual(there["strain_energy"], here.strain_energy)
        self.assertEqual(there["potential_energy"], here.strain_energy - here.compliance)

    def test_a_design(self):
        (self.folder / "beam.json").write_text(json.dumps({
            "mesh": {"box": {"cells": [12, 6, 4], "size": [12, 6, 4]}}, "material": {"young": 1, "poisson": 0.3},
            "supports": [{"box": [0, 0, 0, 0, 6, 4]}],
            "cases": [{"name": "end", "loads": [{"box": [12, 0, 0, 12, 0, 0], "total_force": [0, 0, -1]}]}],
            "volume_fraction": 0.4, "filter": {"kind": "density", "radius": 1.6}, "steps": 6}))
        self.run_command("topopt", self.folder / "beam.json")
        points, hexa = topopt.box((12, 6, 4), (12, 6, 4))
        force = np.zeros(points.shape)
        force[(points == (12, 0, 0)).all(1)] = (0, 0, -1)
        optimizer = topopt.Optimizer(points, hexa, young=1, held=points[:, 0] == 0, loads=force, volume=0.4, radius=1.6,
                                     max_steps=6, backend="serial")
        with open(self.folder / "beam.csv") as file:
            rows = list(csv.DictReader(file))
        for row, step in zip(rows, optimizer, strict=True):
            for name in ("objective", "volume", "change", "grey"):
                self.assertEqual(float(row[name]), getattr(step, name), name)

    def test_steps_of_a_soft_body(self):
        (self.folder / "cube.json").write_text(json.dumps({
            "time_step": 0.01, "steps": 25, "gravity": [0, 0, -9.81], "damping": {"mass": 0.1, "stiffness": 0.01},
            "objects": [{"name": "cube", "mesh": {"hexa_box": {"cells": [4, 4, 4], "size": [0.1, 0.1, 0.1]}},
                         "translate": [0, 0, 0.01], "density": 1000,
                         "material": {"law": "corotational", "young": 20000, "poisson": 0.3}}],
            "obstacles": [{"plane": {"point": [0, 0, 0], "normal": [0, 0, 1], "friction": 0.4}}]}))
        self.run_command("softbody", self.folder / "cube.json")
        points, hexa = topopt.box((4, 4, 4), (0.1, 0.1, 0.1))
        world = softbody.World(time_step=0.01, rayleigh_mass=0.1, rayleigh_stiffness=0.01, backend="serial")
        world.add_plane(friction=0.4)
        world.add(points + [0, 0, 0.01], hexa, young=2e4, poisson=0.3, density=1000)
        with open(self.folder / "cube.csv") as file:
            rows = [row for row in csv.DictReader(file) if int(row["step"]) > 0]
        self.assertEqual(len(rows), 25)
        for row in rows:
            step = world.step()
            self.assertEqual([float(row[name]) for name in ("kinetic", "elastic", "potential")], list(world.energy))
            self.assertEqual(int(row["contacts"]), step.contacts)
            self.assertEqual(int(row["iterations"]), step.iterations)
        self.assertGreater(step.contacts, 0)


def console_script():
    """The command that pip installed for this package, or where the package is in a build tree what it would be."""
    script = pathlib.Path(sys.executable).with_name("ossatura")
    installed = pathlib.Path(ossatura.__file__).is_relative_to(sys.prefix)
    return [str(script)] if installed else [sys.executable, "-c", "from ossatura.__main__ import main; main()"]


MODULE = [sys.executable, "-m", "ossatura"]
SPHERE = ["pfem", "sphere", "--order", "3", "--backend", "serial"]
DESIGN = ["topopt", "mbb", "--steps", "100000", "--backend", "serial"]


MEASURED = re.compile(r"second|\b(kB|MB|ms|s)\b|^ +\d+\.\d{3} |^  (collect|compress|factor|solve|apply|contact|total) ")


def without_measured(text):
    """The lines of `text`, without the numbers of those with seconds and memory, which differ from run to run."""
    return [re.sub(r" +", " ", re.sub(r"[\d.]+(e[+-]?\d+)?", "#", line) if MEASURED.search(line) else line)
            for line in text.splitlines()]


def results_of(file):
    """The results of a summary, without seconds."""
    def kept(value):
        if isinstance(value, dict):
            return {name: kept(one) for name, one in value.items() if "second" not in name}
        return [kept(one) for one in value] if isinstance(value, list) else value
    return kept(json.loads(file.read_text())["results"])


@unittest.skipUnless(EXECUTABLE, "OSSATURA names no executable")
class Command(unittest.TestCase):
    """`python -m ossatura` and the command `ossatura` are the executable."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_all(self, *arguments, programs=None, **options):
        """What the executable, the module and the script do with the same arguments, each in a folder of its own
        that has the files of this test."""
        done = []
        for number, program in enumerate(programs or ([EXECUTABLE], MODULE, console_script())):
            folder = self.folder / f"run{number}"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            for file in self.folder.iterdir():
                if file.is_file():
                    (folder / file.name).write_bytes(file.read_bytes())
            process = subprocess.run([*program, *map(str, arguments)], capture_output=True, text=True, timeout=60,
                                     cwd=folder, **options)
            files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
            done.append((process.returncode, process.stdout, process.stderr, files))
        return done

    def same(self, *arguments, code=0, **options):
        """All three end with this code, texts and files; returns the texts of one."""
        alone, *others = self.run_all(*arguments, **options)
        self.assertEqual(alone[0], code, alone[2])
        for other in others:
            self.assertEqual(other[0], code, other[2])
            self.assertEqual(other[3], alone[3])
            for mine, theirs in zip(other[1:3], alone[1:3]):
                self.assertEqual(without_measured(mine), without_measured(theirs))
        return alone[1:3]

    def test_texts(self):
        out, _ = self.same("--version")
        self.assertIn(ossatura.__version__, out)
        for arguments in (["--help"], ["bone", "--help"], ["help", "eikonal"], ["topopt", "mbb", "--print-config"]):
            runs = self.run_all(*arguments)
            self.assertEqual(*[run[:3] for run in runs[:2]]) # no line of them is measured
            self.assertEqual(runs[0][:3], runs[2][:3])
            self.assertEqual(runs[0][0], 0)

    def test_every_system(self):
        write_image(self.folder / "bone.mha", porous_image((9, 8, 7)), 0.1)
        (self.folder / "scene.json").write_text(json.dumps({
            "time_step": 0.01, "steps": 3, "gravity": [0, 0, -9.81],
            "objects": [{"name": "cube", "mesh": {"hexa_box": {"cells": [2, 2, 2], "size": [0.1, 0.1, 0.1]}},
                         "density": 1000, "material": {"law": "corotational", "young": 2e4, "poisson": 0.3}}]}))
        for arguments, file in ((["bone", "bone.mha", "--law", "modulus"], "bone.hdf"), (SPHERE[:-2], "sphere.hdf"),
                                (["eikonal", "--generate", "ventricles:h=3", "--site", "vertices:9"], "ventricles.hdf"),
                                (["softbody", "scene.json"], "scene.csv"),
                                (["topopt", "mbb", "--cells", "12x2x4", "--steps", "2"], "mbb.csv")):
            with self.subTest(arguments[0]):
                out, _ = self.same(*arguments, "--backend", "serial", "-o", "out", "--json", "all.json")
                self.assertIn("out/" + file, out)
                results = [results_of(self.folder / run / "out" / "all.json") for run in ("run0", "run1", "run2")]
                self.assertGreater(len(results[0]), 2)
                self.assertEqual(results, results[:1] * 3)

    def test_exit_codes(self):
        out, _ = self.same(*SPHERE, "--max-iterations", "1", code=3)
        self.assertIn("NOT CONVERGED", out)
        for code, text, *arguments in ((2, "--nonsense", "bone", "--nonsense"), (2, "no subcommand"),
                                       (4, "'cuda' is not in this build", *SPHERE[:-1], "cuda"),
                                       (5, "/nowhere/bone.mha", "bone", "/nowhere/bone.mha")):
            out, message = self.same(*arguments, code=code)
            self.assertEqual(out, "")
            self.assertIn(text, message)

    def test_signals_that_python_ignores(self):
        for closed in (["bone", "--help"], SPHERE):
            ends = []
            for program in ([EXECUTABLE], MODULE, console_script()):
                reader, writer = os.pipe()
                os.close(reader)
                done = subprocess.run([*program, *closed], stdout=writer, stderr=subprocess.PIPE, text=True, timeout=60,
                                      cwd=self.folder)
                os.close(writer)
                ends.append((without_measured(done.stderr), done.returncode))
            self.assertEqual(ends[0], ends[1])
            self.assertEqual(ends[0], ends[2])
            self.assertEqual(ends[0][1], 5)
        size = 4096
        _, message = self.same(*SPHERE, "-o", "out", "-q", code=5, preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_FSIZE, (size, size)))
        self.assertIn("File too large", message)

    def test_ctrl_c_and_the_second_start(self):
        inherited = {name: value for name, value in os.environ.items()
                     if name not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "GLIBC_TUNABLES")}
        seen = []
        for program in ([EXECUTABLE], MODULE, console_script()):
            folder = self.folder / str(len(seen))
            folder.mkdir()
            with subprocess.Popen([*program, *DESIGN[:-1], "openmp"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  text=True, cwd=folder, env=inherited) as process:
                for line in process.stderr:
                    if "1/100000" in line:
                        break
                own = pathlib.Path("/proc") / str(process.pid)
                state = {"name": (own / "comm").read_text()} | {
                    name: value for name, _, value in (text.partition("=") for text in
                                                       (own / "environ").read_text().split("\0"))
                    if name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "GLIBC_TUNABLES")}
                state["caught"] = [line for line in (own / "status").read_text().splitlines()
                                   if line.startswith(("SigIgn", "SigCgt", "SigBlk"))]
                process.send_signal(signal.SIGINT)
                state["said"] = "stopped by a signal" in process.stderr.read()
                state["code"] = process.wait(60)
            state["files"] = sorted(path.name for path in folder.rglob("*"))
            seen.append(state)
        self.assertEqual(seen[0], seen[1])
        self.assertEqual(seen[0], seen[2])
        self.assertEqual((seen[0]["code"], seen[0]["said"], seen[0]["name"]), (75, True, "ossatura\n"))
        self.assertIn("GOMP_SPINCOUNT", seen[0])
        self.assertIn("GLIBC_TUNABLES", seen[0])

    def test_as_many_threads_where_openmp_binds(self):
        for binding in ("false", "close"):
            environment = {**os.environ, "OMP_PROC_BIND": binding}
            environment.pop("OMP_NUM_THREADS", None)
            self.same(*SPHERE[:-1], "openmp", env=environment)

    def test_the_script_for_step_files(self):
        (self.folder / "part.step").write_text("ISO-10303-21;\n")
        (self.folder / "p.json").write_text(json.dumps({
            "mesh": {"file": "part.step", "unit": 0.001, "voxel": 0.01}, "material": {"young": 1, "poisson": 0.3},
            "supports": [{"faces": [5]}], "cases": [{"name": "tip", "loads": [{"faces": [6], "traction": [0, 0, -1]}]}],
            "volume_fraction": 0.6, "steps": 3}))
        python = self.folder / "python"
        python.write_text("#!/bin/sh\ntest -f \"$1\" && echo \"$(basename \"$1\") $2\" >&2\nexit 1\n")
        python.chmod(0o755)
        environment = {**os.environ, "OSSATURA_PYTHON": str(python)}
        for code, out, message, _ in self.run_all("topopt", "p.json", env=environment):
            self.assertEqual((code, out), (5, ""))
            self.assertTrue(message.endswith("mesh_step.py ended with 1: mesh_step.py --triangles\n"), message)

    def test_standard_descriptors_that_are_closed(self):
        for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
            done = self.run_all(*SPHERE, "-o", "out", programs=[
                ["sh", "-c", f'exec "$@" {closed}', "sh", *program]
                for program in ([EXECUTABLE], MODULE, console_script())])
            self.assertEqual([one[::3] for one in done], [done[0][::3]] * 3, closed)

    def test_the_command_line_needs_no_numpy(self):
        names = subprocess.run([sys.executable, "-c", "import ossatura, sys; print(*sys.modules)"], check=True,
                               text=True, capture_output=True).stdout.split()
        self.assertIn("ossatura._core", names)
        self.assertEqual([name for name in names if name.startswith(("numpy", "ossatura.bone"))], [])

    def test_without_the_executable_it_says_so(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "ossatura").mkdir()
            package = pathlib.Path(ossatura.__file__).parent
            for path in package.iterdir():
                if path.is_file():
                    (pathlib.Path(folder) / "ossatura" / path.name).symlink_to(path.resolve())
            libraries = package.with_name("ossatura.libs")  # of a wheel
            if libraries.exists():
                (pathlib.Path(folder) / libraries.name).symlink_to(libraries)
            done = subprocess.run([*MODULE, "--version"], capture_output=True, text=True, timeout=60,
                                  cwd=folder, env={**os.environ, "PYTHONPATH": folder})
            self.assertEqual(done.returncode, 4)
            self.assertIn("without the executable", done.stderr)


if __name__ == "__main__":
    unittest.main()
