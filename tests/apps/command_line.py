# SPDX-License-Identifier: Apache-2.0
"""What femura does with its command line, before anything is computed."""
import re

import driver_case
from driver_case import BAD_FILE, UNAVAILABLE, USAGE, DriverCase


class Help(DriverCase):
    def test_help_lists_subcommands_and_exit_codes(self):
        for flag in ("--help", "-h", "help"):
            text = self.femura(flag).stdout
            self.assertIn("  bone ", text)
            self.assertIn("  eikonal ", text)
            self.assertIn("Exit codes", text)

    def test_help_of_a_subcommand_has_groups_defaults_examples_and_exit_codes(self):
        process = self.femura("bone", "--help")
        for part in ("Mechanical test:", "Solver:", "[default: 1e-06]", "Examples:", "Exit codes:",
                     "--largest-component", "--pistoia-strain"):
            self.assertIn(part, process.stdout)
        self.assertEqual(process.stderr, "")

    def test_help_wins_over_other_arguments(self):
        self.femura("bone", "no-such-file", "--help")

    def test_version_names_commit_kokkos_backends_and_compiler(self):
        text = self.femura("--version").stdout
        self.assertRegex(text, r"^femura \d+\.\d+\.\d+ \(git \w+")
        self.assertRegex(text, r"Kokkos \d+\.\d+\.\d+, backends: \w+")
        self.assertRegex(text, r"GNU|Clang|clang|gcc")


class Usage(DriverCase):
    def test_no_subcommand(self):
        self.fails(USAGE, "see femura --help")

    def test_misspelt_subcommand_is_suggested(self):
        self.fails(USAGE, "did you mean 'bone'?", "bnoe")
        self.fails(USAGE, "unknown subcommand 'quux'", "quux")

    def test_misspelt_option_is_suggested(self):
        self.fails(USAGE, "did you mean '--tolerance'?", "bone", "x.h5", "--tolerence", "1e-8")
        self.fails(USAGE, "did you mean '--tolerance'?", "bone", "x.h5", "--tolerence=1e-8")
        self.fails(USAGE, "unknown option '-Z'", "bone", "x.h5", "-Z")

    def test_a_second_input_is_unexpected(self):
        self.fails(USAGE, "unexpected argument 'b.h5'", "bone", "a.h5", "b.h5")

    def test_options_of_other_subcommands_are_not_silently_accepted(self):
        for option in ("--vtk-every=3", "--checkpoint=x", "--resume=x"):
            self.fails(USAGE, "unknown option", "bone", "x.h5", option)

    def test_values_out_of_their_kind(self):
        for arguments in (("--tolerance", "abc"), ("--max-iterations", "1.5"),
                          ("--threads", "many"), ("--size", "3,4"), ("--size", "3,x,4"),
                          ("--fix", "z+"), ("--force", "z+:z"), ("--labels", "1"),
                          ("--labels", "1=2,1=3"), ("--fields", "colour"), ("--seed", "-1"),
                          ("--precision", "single"), ("--test", "tensile")):
            with self.subTest(arguments=arguments):
                self.fails(USAGE, arguments[0], "bone", "x.h5", *arguments)

    def test_misspelt_value_is_suggested(self):
        self.fails(USAGE, "did you mean 'torsion'?", "bone", "x.h5", "--test", "torsoin")
        self.fails(USAGE, "did you mean 'von_mises'?", "bone", "x.h5", "--fields", "von-mises")

    def test_values_out_of_range_name_the_remedy(self):
        for arguments in (("--tolerance", "0"), ("--tolerance", "nan"), ("--max-iterations", "0"),
                          ("--poisson", "0.5"), ("--poisson", "-1"), ("--strain", "0"),
                          ("--strain", "inf"), ("--levels", "0"), ("--smoother-degree", "0"),
                          ("--coarse-degree", "33"), ("--coarse-visits", "0"),
                          ("--direct-nodes", "0"), ("--spacing", "0"),
                          ("--pistoia-volume", "1"), ("--threads", "0"),
                          ("--plate-depth", "-1"), ("--modulus", "0")):
            with self.subTest(arguments=arguments):
                self.fails(USAGE, arguments[0], "bone", "x.h5", *arguments)

    def test_options_without_effect_are_errors(self):
        for arguments in (("--feature", "20"), ("--angle", "3"), ("--labels", "1=2"),
                          ("--slope", "2"), ("--size", "8"), ("--fields", "sed"),
                          ("--test", "shear-xz", "--axis", "y"),
                          ("--test", "torsion", "--strain", "0.01"),
                          ("--test", "axial", "--fix", "z-:xyz"),
                          ("--smoothing-ratio", "16"),
                          ("--hierarchy", "paper", "--smoother", "fourth", "--smoothing-ratio", "16"),
                          ("--backend", "serial", "--threads", "2"),
                          ("--backend", "serial", "--device", "0"),
                          ("--histogram", "10")):
            with self.subTest(arguments=arguments):
                self.fails(USAGE, "", "bone", "x.h5", *arguments)

    def test_contradictions(self):
        for arguments in (("x.h5", "--generate", "cube"), (), ("x.h5", "-q", "-v"),
                          ("x.h5", "--strain", "0.01", "--displacement", "1"),
                          ("x.h5", "--hdf", "a.hdf", "--no-hdf"), ("x", "--format", "raw"),
                          ("--generate", "laminate"), ("--generate", "cube", "--law", "power"),
                          ("x.mha", "--law", "threshold"), ("x.mha", "--law", "labels"),
                          ("x.h5", "--test", "bending", "--axis", "x")):
            with self.subTest(arguments=arguments):
                self.fails(USAGE, "", "bone", *arguments)

    def test_a_backend_that_is_not_there_is_named_with_those_that_are(self):
        self.fails(UNAVAILABLE, "serial", "bone", "x.h5", "--backend", "quantum")


class Configuration(DriverCase):
    def given(self, *arguments):
        """Options that --print-config shows as given."""
        text = self.femura("bone", *arguments, "--print-config").stdout
        lines = [line for line in text.splitlines() if line and not line.startswith("#")]
        return dict(line.split(" = ", 1) for line in lines)

    def test_command_line_wins_over_file_over_default(self):
        self.write("c.toml", "# mine\ntolerance = 1e-9\nmax-iterations = 7\n"
                             "largest-component = true\n")
        given = self.given("--config", "c.toml", "--max-iterations", "9")
        self.assertEqual(given["tolerance"], "1e-9")
        self.assertEqual(given["max-iterations"], "9")
        self.assertEqual(given["largest-component"], "true")
        self.assertNotIn("levels", given)

    def test_printed_configuration_reads_back_to_itself(self):
        arguments = ("in put.h5", "--tolerance", "1e-9", "--fix", "z-:xyz,z+:z=-0.1", "--fix",
                     "1/2/3:x=1", "--labels", "1=17000:0.3,2=500", "--law", "labels", "--axis", "y",
                     "--timings", "-v")
        self.write("c.toml", self.femura("bone", *arguments, "--print-config").stdout)
        again = self.femura("bone", "--config", "c.toml", "--print-config").stdout
        self.assertEqual(self.read("c.toml"), again)
        self.assertIn("# levels = 32", again)
        self.assertIn('input = "in put.h5"', again)

    def test_every_option_is_printed_once(self):
        help_text = self.femura("bone", "--help").stdout.split("Examples:")[0]
        options = set(re.findall(r"^  (?:-\w,)?--([a-z-]+)", help_text, re.MULTILINE))
        text = self.femura("bone", "--print-config").stdout
        printed = re.findall(r"^(?:# )?([a-z-]+) = ", text, re.MULTILINE)
        self.assertEqual(sorted(printed), sorted(options - {"help", "config", "print-config"}))

    def test_unknown_keys_are_suggested(self):
        self.write("c.toml", "tolerence = 1e-9\n")
        self.fails(USAGE, "did you mean 'tolerance'?", "bone", "x.h5", "--config", "c.toml")

    def test_keys_of_the_command_line_alone_and_sections_are_errors(self):
        for text in ("config = \"d.toml\"\n", "print-config = true\n", "[bone]\ntolerance = 1\n"):
            with self.subTest(text=text):
                self.write("c.toml", text)
                self.fails(USAGE, "configuration", "bone", "x.h5", "--config", "c.toml")

    def test_values_of_a_file_are_checked_too(self):
        self.write("c.toml", "tolerance = abc\n")
        self.fails(USAGE, "tolerance", "bone", "x.h5", "--config", "c.toml")

    def test_missing_file_and_directory_are_unreadable(self):
        self.fails(BAD_FILE, "nothere.toml", "bone", "x.h5", "--config", "nothere.toml")
        self.fails(BAD_FILE, "", "bone", "x.h5", "--config", ".")


class Outputs(DriverCase):
    """Where results would go is checked before anything is read."""

    def test_unwritable_outputs_are_found_at_once(self):
        self.write("file", "")
        for arguments in (("--json", "nodir/x.json"), ("--json", "."), ("--history", "nodir/h.csv"),
                          ("-o", "file"), ("-o", "file/below")):
            with self.subTest(arguments=arguments):
                self.fails(BAD_FILE, "", "bone", "--generate", "cube", "--size", "2", *arguments)
        self.assertEqual(self.files(), ["file"])

    def test_stdout_that_cannot_be_written_is_reported(self):
        with open("/dev/full", "w") as full:
            process = driver_case.subprocess.run([driver_case.EXECUTABLE, "--help"], stdout=full,
                                                 stderr=driver_case.subprocess.PIPE, text=True)
        self.assertEqual(process.returncode, BAD_FILE)


if __name__ == "__main__":
    driver_case.main()
