# SPDX-License-Identifier: Apache-2.0
"""The certificate in the summary of each subcommand: checks that pass, checks that are made to fail,
and hashes that another XXH64 confirms."""
import json
import os
import struct

from support import driver_case
from support.driver_case import NOT_CONVERGED, DriverCase
from support.xxh64 import xxh64

BALANCES = ["force_balance", "moment_balance", "energy_balance"]
SCENE = {"time_step": 0.01, "steps": 6, "gravity": [0, 0, -9.81],
         "obstacles": [{"plane": {"point": [0, 0, -0.001], "normal": [0, 0, 1], "friction": 0.3}}],
         "objects": [{"name": "body", "mesh": {"hexa_box": {"cells": [2, 2, 2], "size": [1, 1, 1]}},
                      "density": 1000, "material": {"young": 1e6, "poisson": 0.3}}]}
PROBLEM = {"mesh": {"generator": "cube", "cells": [2, 1, 1], "size": [2, 1, 1]}, "order": 3,
           "material": {"young": 8, "poisson": 0.25},
           "supports": [{"plane": "x=0", "components": "xyz"}],
           "loads": [{"plane": "x=2", "traction": [4, 1, 0]}]}
CANTILEVER = ("topopt", "cantilever", "--cells", "6x3x3", "--steps", "2")


class Certificates(DriverCase):
    def run_one(self, *arguments, code=driver_case.DONE, threads=("--backend", "serial")):
        """The certificate of a run into `out`, with what holds of every one."""
        process = self.ossatura(*arguments, *threads, "-q", "-o", "out", "--json", "run.json",
                                code=code)
        self.warned = process.stderr
        self.table = process.stdout
        self.run_summary = json.loads(self.read("out/run.json"))
        certificate = self.run_summary["certificate"]
        for check in certificate["checks"]:
            self.assertEqual(check["passed"], check["value"] is not None
                             and check["value"] <= check["bound"], check)
        self.assertEqual(certificate["passed"], all(c["passed"] for c in certificate["checks"]))
        self.assertEqual(certificate["checks"][-1]["name"], "not_finite")
        names = []
        for folder, files in ((self.directory.name, certificate["inputs"]),
                              (self.path("out"), certificate["files"])):
            for file in files:
                with open(os.path.join(folder, file["file"]), "rb") as stream:
                    content = stream.read()
                self.assertEqual((file["bytes"], file["xxh64"]), (len(content), xxh64(content)),
                                 file["file"])
                names.append(file["file"])
        self.assertEqual(len(names), len(set(names)))
        return certificate

    def passes(self, checks, files, *arguments):
        certificate = self.run_one(*arguments)
        self.assertTrue(certificate["passed"], certificate)
        self.assertEqual([c["name"] for c in certificate["checks"]], checks + ["not_finite"])
        self.assertEqual(sorted(f["file"] for f in certificate["files"]), files)
        self.assertIn(f"Certificate\n  checks  {len(checks) + 1} checks passed\n", self.table)
        return certificate

    def fails_in(self, name, *arguments, warning="check-failed"):
        """A run whose solves converge, and of which the check `name` fails, or the design, as another warning says."""
        certificate = self.run_one(*arguments, code=NOT_CONVERGED)
        failed = [c["name"] for c in certificate["checks"] if not c["passed"]]
        self.assertIn(name, failed)
        self.assertEqual(self.run_summary["status"], "not converged")
        codes = [w["code"] for w in self.run_summary["warnings"]]
        self.assertIn(warning, codes)
        self.assertEqual("check-failed" in codes, warning == "check-failed")
        if warning == "check-failed":
            self.assertRegex(self.warned, f"{name} is [0-9.e+-]+, at most [0-9.e+-]+ may be")
        self.assertRegex(self.table, f"{name} +[0-9.e+-]+, at most [0-9.e+-]+ may be  FAILED")
        return certificate

    def layered(self, contrast, size=8):
        """Moduli of a specimen of which the two layers in the middle are soft."""
        head = (f"ObjectType = Image\nNDims = 3\nDimSize = {size} {size} {size}\n"
                "ElementSpacing = 1 1 1\nElementType = MET_DOUBLE\n"
                "ElementByteOrderMSB = False\nElementDataFile = LOCAL\n")
        moduli = [1.0 if z in (3, 4) else contrast for z in range(size) for _ in range(size**2)]
        self.write("soft.mha", head.encode() + struct.pack(f"<{len(moduli)}d", *moduli))
        return ("bone", "soft.mha", "--law", "modulus", "--modulus-unit", "MPa", "--poisson", "0.3",
                "--test", "axial")

    def test_xxh64_is_that_of_the_field(self):
        self.assertEqual(xxh64(b""), "ef46db3751d8e999")
        self.assertEqual(xxh64(b"abc"), "44bc2cf5ad770999")
        # xxh64sum of xxhash 0.8.1
        self.assertEqual(xxh64(64 * struct.pack("<f", 1000)), "27fe5f3edf1ab3b5")

    def test_bone(self):
        checks = ["residual", *BALANCES, "bone_volume"]
        certificate = self.passes(checks, ["h.csv", "p.h5", "soft.hdf"], *self.layered(1e3),
                                  "--history", "h.csv", "--parosol-output", "p.h5")
        self.assertEqual([f["file"] for f in certificate["inputs"]], ["soft.mha"])
        self.assertEqual(certificate["tolerance"], 1e-6)
        for test in ("torsion", "bending", "shear-xy", "confined"):
            self.passes(checks, [], "bone", "--generate", "perlin", "--size", "16", "--feature", "8",
                        "--fraction", "0.4", "--largest-component", "--test", test, "--no-hdf")
        self.passes(checks, [], "bone", "--generate", "cube", "--size", "4", "--fix", "z-:xyz=0",
                    "--force", "z+:x=3", "--test", "file", "--no-hdf")
        self.passes(["residual", "bone_volume", "stiffness_asymmetry"], [], "bone", "--generate",
                    "perlin", "--size", "12", "--feature", "6", "--fraction", "0.5",
                    "--largest-component", "--test", "homogenise", "--no-hdf")

    def test_supports_out_of_balance_behind_a_small_residual(self):
        for contrast in (1e5, 1e9):
            certificate = self.fails_in("force_balance", *self.layered(contrast))
            values = {c["name"]: c for c in certificate["checks"]}
            self.assertTrue(values["residual"]["passed"])
            upper, lower = (r["force"][2] for r in self.run_summary["results"]["reactions"])
            self.assertGreater(abs(upper + lower), 1e-3 * min(abs(upper), abs(lower)))
        self.assertGreater(values["force_balance"]["value"], 0.1)
        # To be had right: 3.22209 N, which the plate above has all along.
        self.passes(["residual", *BALANCES, "bone_volume"], ["soft.hdf"], *self.layered(1e9),
                    "--tolerance", "1e-14", "--precision", "double")
        for reaction in self.run_summary["results"]["reactions"]:
            self.close(abs(reaction["force"][2]), 3.22209, 1e-5)

    def test_a_solve_that_did_not_converge(self):
        certificate = self.run_one(*self.layered(10), "--max-iterations", "2", code=NOT_CONVERGED)
        self.assertFalse(certificate["checks"][0]["passed"])
        self.assertEqual([w["code"] for w in self.run_summary["warnings"]], ["not-converged"])

    def test_eikonal(self):
        for start in ("0", "-5"):  # unreached vertices are -1 and NaN
            self.write("v.json", json.dumps({"tags": {"1": {"vl": 0.6}}}))
            self.passes(["residual", "certificate"], ["box.hdf", "t.dat", "t.igb"], "eikonal",
                        "--generate", "box:n=4", "--velocity", "0.6", "--site",
                        f"vertices:0@t={start}", "--dat", "t.dat", "--igb", "t.igb")

    def test_softbody(self):
        self.write("s.json", json.dumps(SCENE))
        certificate = self.passes(
            ["momentum_residual", "contact_penetration", "contact_residual"],
            ["s.csv", "s.hdf.series", "s_000000.hdf", "s_000003.hdf", "s_000006.hdf"],
            "softbody", "s.json", "--vtk-every", "3", "--checkpoint", "c.h5")
        self.assertEqual([f["file"] for f in certificate["inputs"]], ["s.json"])
        self.assertIn("c.h5", os.listdir(self.path("out")))
        self.write("s.json", json.dumps({**SCENE, "obstacles": []}))
        self.passes(["momentum_residual"], ["h.csv"], "softbody", "s.json", "--no-hdf",
                    "--history", "h.csv")

    def test_topopt(self):
        checks = ["step_residual", "residual", *BALANCES, "volume", "density_bounds"]
        self.passes(checks, ["cantilever.csv", "cantilever.hdf", "cantilever.hdf.series",
                             "cantilever.stl", "cantilever_000002.hdf"], *CANTILEVER,
                    "--vtk-every", "2", "--checkpoint", "c.h5", "--stl-level", "0.2")
        self.passes(checks, ["inverter.csv", "inverter.hdf"], "topopt", "inverter", "--cells",
                    "6x3x3", "--steps", "3", "--no-stl")
        certificate = self.fails_in("volume", *CANTILEVER, "--start", "0.9", "--move", "0.05", warning="volume-exceeded")
        self.assertEqual(sum(not c["passed"] for c in certificate["checks"]), 1)

    def test_pfem(self):
        self.write("p.json", json.dumps(PROBLEM))
        self.passes(["residual", *BALANCES], ["h.csv", "p.hdf"], "pfem", "p.json", "--history",
                    "h.csv")
        moved = [{"plane": "x=2", "components": "xy", "displacement": [0.1, 0, 0]}]
        self.write("p.json", json.dumps({**PROBLEM, "supports": PROBLEM["supports"] + moved}))
        self.passes(["residual", *BALANCES], [], "pfem", "p.json", "--no-hdf")
        # A tolerance that says nothing.
        self.write("p.json", json.dumps({**PROBLEM, "mesh": {
            "generator": "cube", "cells": [8, 1, 1], "size": [8, 1, 1]}, "loads": [
                {"plane": "x=8", "traction": [4, 1, 0]}]}))
        self.fails_in("force_balance", "pfem", "p.json", "--tolerance", "0.9", "--preconditioner",
                      "jacobi", "--no-hdf")

    def test_table3(self):
        process = self.ossatura("pfem", "table3", "--elements", "8", "--max-order", "2", "--json",
                                "-", "-q", "--backend", "serial")
        certificate = json.loads(process.stdout)["certificate"]
        self.assertTrue(certificate["passed"])
        self.assertEqual([c["name"] for c in certificate["checks"]], ["largest_difference"])

    def test_names_outside_the_folder_of_the_summary(self):
        os.mkdir(self.path("far"))
        self.ossatura("bone", "--generate", "cube", "--size", "3", "--backend", "serial", "-q",
                      "--hdf", self.path("far/a.hdf"), "--history", "b.csv", "--json",
                      "far/s.json")
        files = json.loads(self.read("far/s.json"))["certificate"]["files"]
        self.assertEqual([f["file"] for f in files], ["b.csv", "a.hdf"])

    def test_a_dry_run_has_no_proof(self):
        self.ossatura("bone", "--generate", "cube", "--size", "3", "--dry-run", "-q", "-o", "out")
        certificate = json.loads(self.read("out/cube.dry-run.json"))["certificate"]
        self.assertEqual((certificate["passed"], certificate["checks"]), (False, []))


if __name__ == "__main__":
    driver_case.main()
