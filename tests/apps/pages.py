#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands of the pages work, and the numbers that docs/first-hour.md shows are those of its commands.

    tests/apps/pages.py OSSATURA

Those of docs/first-hour.md and docs/scan-to-strength.md run as they stand, in their order; all others of README.md and docs/ with
--dry-run and at a small size. Files that a reader has to bring are named below; any other that is not
there is a fault of the page.
"""
import csv
import gzip
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import zlib

from support import driver_case
from support.driver_case import BAD_FILE, DONE, DriverCase

ROOT = pathlib.Path(__file__).resolve().parents[2]
YOURS = {"tibia.h5", "heart.pts", "heart.vtu", "bracket.inp", "raptor=raptorTetra_8418.vtu", "study/*.h5", "L3.nii.gz", "femur.nii.gz",
         "scenes/*.json", "part.json", "P001/CT",
         "examples/topopt/anchor.json",  # takes gmsh: topopt/topopt_step_files.py
         "arm.inp", "examples/topopt/wheel.json"}  # of scripts: topopt_examples.py
FEMUR = ".deps/data/femur.off"  # of scripts/fetch_femur


def commands(page, programs=("ossatura",)):
    """Lines of the code blocks of a page that begin with a program, continued ones joined, as words."""
    found, block, begun = [], False, ""
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.lstrip().startswith("```"):
            block = not block
        elif block or line.startswith("    "):
            begun += line.strip()
            if begun.endswith("\\"):
                begun = begun[:-1]
                continue
            if begun.split(" ")[0] in programs:
                found.append(shlex.split(begun, comments=True))
            begun = ""
    return found


def small(words):
    """The same command at a size that takes no time."""
    words = list(words)
    for k, word in enumerate(words):
        if words[k - 1] == "--size":
            words[k] = "32"
        if words[k - 1] == "--feature":
            words[k] = "16"
        if words[k - 1] == "--cells":
            words[k] = "12x6x6"
        words[k] = re.sub(r"^(ventricles|slab)(:h=[\d.]+)?$", r"\1:h=2", word) \
            if words[k - 1] == "--generate" else words[k]
    return words


class Pages(DriverCase):
    def setUp(self):
        super().setUp()
        for name in ("examples", "scripts"):
            os.symlink(ROOT / name, self.path(name))
        if (ROOT / FEMUR).exists():
            os.symlink(ROOT / ".deps", self.path(".deps"))

    def has(self, words):
        """Whether all files of a command are there but the reader's own."""
        if FEMUR in words:
            return (ROOT / FEMUR).exists()
        return not YOURS.intersection(words) and "$model" not in words

    def run_page(self, name):
        """Runs the commands of a page as they stand; returns their programs."""
        ran = []
        for words in commands(ROOT / "docs" / name, ("ossatura", "python3", "mkdir")):
            if not self.has(words):
                continue
            if words[0] == "ossatura":
                self.ossatura(*map(self.readable, words[1:]), "--backend", "serial")
            else:
                program = sys.executable if words[0] == "python3" else words[0]
                process = subprocess.run([program, *words[1:]], cwd=self.directory.name,
                                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                self.assertEqual(process.returncode, 0, f"{words}\n{process.stdout}")
            ran.append(words[0])
        return ran

    def readable(self, word):
        """A folder of DICOM slices, or the same as NIfTI where the build does not read it."""
        if not os.path.isdir(self.path(word)) or not os.path.exists(self.path(word + ".nii.gz")):
            return word
        process = self.ossatura("bone", word, "--law", "threshold", "--lower", "200", "--resample", "1", "--dry-run",
                                "-q", code=(DONE, BAD_FILE))
        return word + ".nii.gz" if "which this build does not read" in process.stderr else word

    def summary_of(self, place):
        with open(self.path(place), encoding="utf-8") as file:
            return json.load(file)

    def test_from_a_scan_to_a_strength(self):
        ran = self.run_page("scan-to-strength.md")
        self.assertGreater(ran.count("ossatura"), 5)
        text = (ROOT / "docs/scan-to-strength.md").read_text(encoding="utf-8")
        strength = self.summary_of("out/P1-strength/P1.summary.json")
        self.assertEqual([w["code"] for w in strength["warnings"]], ["no-ultimate-load"])
        strength = strength["results"]["strength"]
        shown = {name: float(value.replace(" ", "")) for name, value in
                 re.findall(r"^\| `([a-z ]+)` \| (-?[\d ]+\d) N", text, re.MULTILINE)}
        self.assertEqual(set(shown), {"stiffness", "yield load", "ultimate load"})
        for name, value in (("stiffness", strength["stiffness"]), ("yield load", strength["yield"]["force"]),
                            ("ultimate load", strength["ultimate"]["force"])):
            self.close(shown[name], value, 1e-3)
        with open(self.path("out/cohort/cohort.csv"), encoding="utf-8") as file:
            rows = {row["specimen"]: row for row in csv.DictReader(file)}
        listed = re.findall(r"^\| (P\d) \| ([\d ]+) \| (-?[\d ]+) \| ([\d.]+) \|", text, re.MULTILINE)
        self.assertEqual([one[0] for one in listed], sorted(rows))
        for name, stiffness, force, share in listed:
            self.close(float(stiffness.replace(" ", "")), float(rows[name]["elastic_stiffness"]), 1e-3)
            self.close(float(force.replace(" ", "")), float(rows[name]["yield_force"]), 1e-3)
            self.close(float(share), float(rows[name]["label_2_force_share"]), 5e-3)
        self.close(float(rows["P1"]["yield_force"]), strength["yield"]["force"], 1e-9)

    def test_the_first_hour(self):
        ran = self.run_page("first-hour.md")
        self.assertGreater(ran.count("ossatura"), 10)
        self.assertGreater(ran.count("python3"), 2)

        text = (ROOT / "docs/first-hour.md").read_text(encoding="utf-8")
        with open(self.path("out/radius/radius.summary.json"), encoding="utf-8") as file:
            results = json.load(file)["results"]
        shown = {name: float(value.replace(" ", "")) for name, value in
                 re.findall(r"^\| `([a-z ]+)` \| (-?[\d ]+\d) (?:N|MPa)", text, re.MULTILINE)}
        self.assertEqual(set(shown), {"stiffness", "apparent modulus", "failure load"})
        computed = (results["response"]["stiffness"], results["response"]["apparent_modulus"],
                    results["pistoia"]["force"])
        for name, value in zip(("stiffness", "apparent modulus", "failure load"), computed):
            self.assertLess(abs(shown[name] / value - 1), 2e-4, name)

    def test_the_other_pages(self):
        pages = [ROOT / "README.md", *(page for page in sorted((ROOT / "docs").glob("**/*.md"))
                                       if page.parent.name != "performance")]
        ran = {}
        for page in pages:
            if page.name in ("first-hour.md", "scan-to-strength.md"):
                continue
            for words in commands(page):
                if not self.has(words) or "--resume" in words or "table3" in words:
                    continue
                if "--backend" in words:  # the build may lack it
                    words[words.index("--backend") + 1] = "serial"
                with self.subTest(page=page.name, command=" ".join(words)):
                    self.ossatura(*small(word for word in words[1:] if word != "--dry-run"),
                                "--dry-run")
                ran[words[1]] = ran.get(words[1], 0) + 1
        for subcommand in ("bone", "eikonal", "softbody", "topopt", "pfem"):
            self.assertGreater(ran.get(subcommand, 0), 2, subcommand)

    def test_the_page_of_examples(self):
        text = (ROOT / "examples/README.md").read_text(encoding="utf-8")
        found = [shlex.split(line) for line in re.findall(r"`ossatura (.*?)`", text)]
        for words in found:
            there = [re.sub(r"^(vtx:)?(.*)$", r"\1examples/\2", word)
                     if (ROOT / "examples" / word.split(":")[-1]).is_file() else word
                     for word in words]
            with self.subTest(command=" ".join(words)):
                self.ossatura(*small(there), "--dry-run")
        self.assertGreater(len(found), 6)

    def test_the_scripts_make_the_files_that_are_there(self):
        """But for how they are compressed."""
        for system, maker, names in (
                ("bone", "radius", ("radius.mha", "radius-labels.nii.gz")),
                ("eikonal", "wall", ("wall.pts", "wall.elem", "wall.lon", "endocardium.vtx")),
                ("topopt", "bracket", ("bracket.stl",)), ("topopt", "stand", ("stand.nii.gz",))):
            script = ROOT / "examples" / system / f"make_{maker}.py"
            subprocess.run([sys.executable, script, self.directory.name], check=True)
            for name in names:
                contents = []
                for path in (ROOT / "examples" / system / name, pathlib.Path(self.path(name))):
                    content = path.read_bytes()
                    if name.endswith(".gz"):
                        content = gzip.decompress(content)
                    elif name.endswith(".mha"):
                        header, content = content.split(b"LOCAL\n")
                        content = re.sub(rb"CompressedDataSize = \d+", b"", header) + \
                            zlib.decompress(content)
                    contents.append(content)
                self.assertEqual(contents[0], contents[1], name)


if __name__ == "__main__":
    driver_case.main()
