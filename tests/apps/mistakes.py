# SPDX-License-Identifier: Apache-2.0
"""Numbers that users mistake: of another unit, in another order, without effect. Each is refused, or warned
of, and what is right is neither."""
import json

from support import driver_case
from support.driver_case import BAD_FILE, USAGE, DriverCase
from support.specimens import nifti_bytes


class MistakesCase(DriverCase):
    def codes(self, *arguments):
        """Of the warnings of a run that ends well."""
        run = self.summary(*arguments, "-q", "--backend", "serial")
        return [warning["code"] for warning in run["warnings"]]

    def refused(self, code, message, *arguments):
        self.fails(code, message, *arguments, "-q", "--backend", "serial")


class Configuration(MistakesCase):
    def test_a_name_that_is_there_twice(self):
        cube = ("bone", "--generate", "cube", "--size", "2", "--config", "c.toml")
        for lines in (('fix = "z-:xyz"', 'force = "z+:z=-1"', 'fix = "z+:xy"'),
                      ("tolerance = 1e-3", "levels = 3", "tolerance = 1e-9")):
            self.write("c.toml", "\n".join(lines) + "\n")
            self.refused(USAGE, "is there twice", *cube)
        self.write("c.toml", 'fix = ["z-:xyz", "z+:xy"]\nforce = "z+:z=-1"\n')
        self.assertEqual(self.codes(*cube), [])


if __name__ == "__main__":
    driver_case.main()
