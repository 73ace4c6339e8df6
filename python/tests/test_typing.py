# SPDX-License-Identifier: Apache-2.0
"""Types: gallery and package pass mypy --strict with the stubs of the module."""
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PYTHON = pathlib.Path(__file__).parent.parent
PACKAGE = pathlib.Path(importlib.util.find_spec("ossatura").origin).parent


@unittest.skipUnless(importlib.util.find_spec("mypy"), "no mypy")
@unittest.skipUnless((PACKAGE / "_core.pyi").exists(), "no stubs: they are the target _core_stub")
class Types(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cache = tempfile.TemporaryDirectory()  # NumPy is read once
        cls.addClassCleanup(cls.cache.cleanup)

    def check(self, files):
        # silent: errors of what is imported are none of a user's
        done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir",
                               self.cache.name, *files], capture_output=True, text=True, timeout=300,
                              env={**os.environ, "MYPYPATH": str(PACKAGE.parent)})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_gallery(self):
        self.check(sorted((PYTHON / "examples").glob("*.py")))

    def test_package(self):
        optional = ("torch.py", "jax.py")  # whose types are those of packages that may not be here
        self.check([path for path in sorted(PACKAGE.glob("*.py")) if path.name not in optional])


if __name__ == "__main__":
    unittest.main()
