#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What scripts/completion.bash offers.

    tests/apps/completion.py OSSATURA
"""
import pathlib
import subprocess

from support import driver_case
from support.driver_case import DriverCase

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "completion.bash"


class Completion(DriverCase):
    def complete(self, *words):
        """The completions of the last word."""
        program = ('source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ossatura; '
                   'printf "%s\\n" "${COMPREPLY[@]}"')
        process = subprocess.run(["bash", "-c", program, SCRIPT, driver_case.EXECUTABLE, *words],
                                 stdout=subprocess.PIPE, check=True, text=True)
        return process.stdout.split()

    def test_subcommands(self):
        self.assertEqual(self.complete("so"), ["softbody"])
        self.assertEqual(set(self.complete("")),
                         {"--help", "--version", "bone", "eikonal", "pfem", "softbody", "topopt"})

    def test_options_of_the_subcommand(self):
        offered = self.complete("bone", "--la")
        self.assertLessEqual({"--largest-component", "--law", "--labels", "--lateral"}, set(offered))
        self.assertTrue(all(word.startswith("--la") for word in offered), offered)
        self.assertEqual(self.complete("eikonal", "--law"), [])
        self.assertEqual(self.complete("bone", "--output"), ["--output-dir"])

    def test_choices_of_an_option(self):
        self.assertEqual(self.complete("bone", "--law", "l"), ["linear", "labels"])
        self.assertIn("serial", self.complete("topopt", "--backend", ""))

    def test_files_are_left_to_bash(self):
        self.assertEqual(self.complete("bone", "--config", ""), [])
        self.assertEqual(self.complete("bone", "sc"), [])


if __name__ == "__main__":
    driver_case.main()
