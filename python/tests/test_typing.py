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

    def check(self, *what):
        # silent: errors of what is imported are none of a user's. What is installed mypy finds, and refuses in its path.
        found = {} if PACKAGE.parent.name == "site-packages" else {"MYPYPATH": str(PACKAGE.parent)}
        done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir",
                               self.cache.name, *what], capture_output=True, text=True, timeout=300,
                              env={**os.environ, **found})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_gallery(self):
        self.check(*sorted((PYTHON / "examples").glob("*.py")))

    @unittest.skipIf(sys.version_info < (3, 11), "NumPy for 3.10 lacks types, and mypy rejects *names in an index there")
    def test_package(self):
        optional = ("torch", "jax")  # whose types are those of packages that may not be here
        modules = sorted(path.stem for path in PACKAGE.glob("*.py") if path.stem not in ("__init__", *optional))
        self.check("-m", "ossatura", *(word for name in modules for word in ("-m", f"ossatura.{name}")))


if __name__ == "__main__":
    unittest.main()
