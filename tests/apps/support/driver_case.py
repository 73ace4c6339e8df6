# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: they run the ossatura executable as a user would."""
import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

EXECUTABLE = None
STOPPED = 75
DONE, INTERNAL, USAGE, NOT_CONVERGED, UNAVAILABLE, BAD_FILE = 0, 1, 2, 3, 4, 5


class DriverCase(unittest.TestCase):
    """Runs ossatura in a directory of its own, which is empty at the start of each test."""

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def path(self, name):
        return os.path.join(self.directory.name, name)

    def write(self, name, content):
        with open(self.path(name), "wb" if isinstance(content, bytes) else "w") as file:
            file.write(content)
        return self.path(name)

    def read(self, name):
        with open(self.path(name)) as file:
            return file.read()

    def files(self):
        return sorted(os.listdir(self.directory.name))

    def close(self, value, expected, relative=1e-6, scale=0):
        """The two differ by no more than this part of `expected`, or of `scale` if that is more."""
        self.assertLessEqual(abs(value - expected), relative * max(abs(expected), scale),
                             f"{value} is not {expected}")

    def rows(self, name, seconds):
        """The lines of a history, without the seconds that they took."""
        with open(self.path(name)) as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            for phase in seconds:
                self.assertGreaterEqual(float(row.pop(phase)), 0)
        return rows

    def ossatura(self, *arguments, code=DONE):
        """Runs ossatura and checks the exit code, or that it is among these. Returns the finished process."""
        process = subprocess.run([EXECUTABLE, *map(str, arguments)], cwd=self.directory.name,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                 timeout=600)
        self.assertIn(process.returncode, code if isinstance(code, tuple) else (code,),
                      f"ossatura {' '.join(map(str, arguments))}\n{process.stdout}{process.stderr}")
        return process

    def interrupt(self, is_step, *arguments):
        """Stops a run by a signal soon after its first step, which shows as a line that is_step()
        knows. Returns what it said from then on."""
        process = subprocess.Popen([EXECUTABLE, *arguments], cwd=self.directory.name,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        with process.stderr as log:
            for line in log:
                if is_step(line):
                    break
            time.sleep(0.05)
            process.send_signal(signal.SIGTERM)
            message = log.read()
        self.assertEqual(process.wait(timeout=60), STOPPED)
        self.assertIn("stopped by a signal", message)
        return message

    def fails(self, code, message, *arguments):
        """Runs ossatura, which fails with this code, a message with this text, and nothing else."""
        process = self.ossatura(*arguments, code=code)
        self.assertIn(message, process.stderr)
        self.assertEqual(process.stdout, "")
        return process

    def summary(self, *arguments, code=DONE):
        """The JSON summary of a run, which is alone on stdout."""
        return json.loads(self.ossatura(*arguments, "--json", "-", code=code).stdout)


def backends():
    """The backends of the build that this machine can run."""
    version = subprocess.run([EXECUTABLE, "--version"], stdout=subprocess.PIPE, text=True,
                             check=True).stdout
    names = version.split("backends:")[1].splitlines()[0].split()
    if "cuda" in names and not os.path.exists("/dev/nvidiactl"):
        names.remove("cuda")
    return names


def main():
    sys.modules[__name__].EXECUTABLE = os.path.abspath(sys.argv.pop(1))
    unittest.main(module="__main__", verbosity=2)
