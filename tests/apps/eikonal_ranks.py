# SPDX-License-Identifier: Apache-2.0
"""`ossatura eikonal` under a launcher: a mesh that is cut between ranks gives what one process gives,
to the bit."""
import json
import os
import sys

from support import driver_case
import ranks
from support.driver_case import BAD_FILE, DONE, NOT_CONVERGED, USAGE
from ranks import Ranks, without_times

SITES = {"one": ["vertices:100", "vertices:3000@t=3.5"], "other": ["vertices:7@t=-2"]}
ONE = ("--method", "spread", "--deterministic")


class EikonalRanks(Ranks):
    def content(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def run_of(self, num_ranks, *arguments, files, code=DONE):
        """What came of a run on so many ranks (0: without a launcher): problem and results without
        times of the clock, the content of files, and the engine."""
        arguments = ("eikonal", *arguments, "-q", "--json", "-")
        if num_ranks == 0:
            text = self.ossatura(*arguments, code=code).stdout
        else:
            text = self.launch(num_ranks, *arguments, code=code)[0]
        summary = json.loads(text)
        results = without_times(summary["results"])
        del results["million_tetrahedra_per_second"]
        found = [summary["status"], summary["problem"], results, summary["warnings"]]
        return found, [self.content(name) for name in files], summary["engine"]


class Results(EikonalRanks):
    def test_are_those_of_one_process_wherever_the_cuts_are(self):
        self.write("sites.json", json.dumps(SITES))
        arguments = ("--generate", "ventricles:h=3", "--sites", "sites.json", "--dat", "t.dat",
                     "--igb", "t.igb", "--backend", "serial")
        files = ("t_one.dat", "t_other.dat", "t_one.igb", "t_other.igb")
        expected = self.run_of(0, *arguments, *ONE, files=files)
        self.assertEqual(expected[2]["ranks"], 1)
        for num_ranks, options in ((2, ("--split", "mesh")), (3, ("--partition", "metis")),
                                   (4, ("--method", "spread", "--parts", "5"))):
            with self.subTest(ranks=num_ranks):
                for name in files:
                    os.remove(self.path(name))
                summary, written, engine = self.run_of(num_ranks, *arguments, *options, files=files)
                self.assertEqual(summary, expected[0])
                self.assertEqual(written, expected[1])
                self.assertEqual(engine["ranks"], num_ranks)
                self.assertEqual(engine["split"], "mesh")
                self.assertEqual(engine["transport"], "mpi")
                self.assertEqual(engine["partition"], "metis" if num_ranks == 3 else "curve")
                self.assertTrue(engine["deterministic"])
                self.assertEqual(engine["method"], "spread")
                self.assertLess(0, engine["largest_rank_ghosts"])

    def test_are_those_of_one_process_where_each_rank_has_sets_of_its_own(self):
        sites = {f"set{k}": [f"vertices:{k}", f"vertices:{40 * k}@t={k - 2}"] for k in range(5)}
        self.write("sites.json", json.dumps(sites))
        arguments = ("--generate", "box:n=6x5x4", "--velocity", "0.5", "--sites", "sites.json",
                     "--backend", "serial", "--deterministic", "--dat", "t.dat")
        files = [f"t_set{k}.dat" for k in range(5)]
        expected = self.run_of(0, *arguments, files=files)
        for num_ranks, options in ((1, ()), (2, ()), (4, ()), (7, ("--split", "sets")),
                                   (3, ("--method", "queue")), (3, ("--split", "mesh"))):
            with self.subTest(ranks=num_ranks, options=options):
                found = self.run_of(num_ranks, *arguments, *options, files=files)
                for summary in found[0], expected[0]:  # of a batch of fewer sets
                    for count in ("iterations", "evaluations", "evaluations_per_vertex",
                                  "local_solves", "local_solves_per_vertex"):
                        self.assertGreater(summary[2].get(count, 1), 0)
                        summary[2].pop(count, None)
                self.assertEqual(found[:2], expected[:2])
                self.assertEqual(found[2].get("split"), None if num_ranks == 1 else
                                 "mesh" if "mesh" in options else "sets")

    def test_of_several_precisions_metrics_and_more_ranks_than_points(self):
        for arguments in (("--precision", "double"), ("--metric", "products"),
                          ("--generate", "box:n=1")):
            if "--generate" not in arguments:
                arguments += ("--generate", "box:n=6x5x4")
            arguments += ("--velocity", "0.5", "--site", "vertices:0", "--dat", "t.dat",
                          "--backend", "serial")
            with self.subTest(arguments=arguments):
                expected = self.run_of(0, *arguments, *ONE, files=("t.dat",))
                found = self.run_of(3, *arguments, files=("t.dat",))
                self.assertEqual(found[:2], expected[:2])

    def test_of_late_starts(self):
        self.write("late.json", json.dumps({"one": ["vertices:5@t=9e5"], "two": ["vertices:7@t=3e4", "vertices:90@t=30001"]}))
        arguments = ("--generate", "box:n=6x5x4,jitter=0.3", "--velocity", "0.5", "--sites", "late.json", "--dat", "t.dat",
                     "--backend", "serial", "--deterministic")
        files = ("t_one.dat", "t_two.dat")
        expected = self.run_of(0, *arguments, files=files)
        for num_ranks, split in ((3, "mesh"), (2, "sets")):
            found = self.run_of(num_ranks, *arguments, "--split", split, files=files)
            self.assertEqual(found[1], expected[1])

    def test_with_output_directory_are_written_once(self):
        out, _ = self.launch(3, "eikonal", "--generate", "ventricles:h=3", "--backend", "openmp",
                             "-o", "out")
        self.assertEqual(out.count("total activation time"), 1)
        self.assertIn("3 by mpi, cut by curve", out)
        self.assertEqual(sorted(os.listdir(self.path("out"))),
                         ["ventricles.hdf", "ventricles.summary.json"])


class Refusals(EikonalRanks):
    def refused(self, code, message, *arguments):
        self.fails_once(3, message, "eikonal", *arguments, "-o", "out", code=code)
        self.assertFalse(os.path.exists(self.path("out/ventricles.hdf")))

    def test_name_the_option(self):
        generate = ("--generate", "ventricles:h=3")
        for method in ("queue", "scan", "patch"):
            self.refused(USAGE, f"--method {method}: a mesh that is cut between processes is solved "
                         "by spread", *generate, "--method", method)
        self.refused(USAGE, "--dry-run predicts one process", *generate, "--dry-run")

    def test_of_bad_input_come_once(self):
        self.refused(BAD_FILE, "nowhere", "nowhere.pts", "--velocity", "1", "--site", "vertices:0")
        self.refused(BAD_FILE, "a wave takes more than 1e6 ms", "--generate", "ventricles:h=3",
                     "--velocity", "1e-9")

    def test_a_solve_cut_short_ends_all_ranks_alike(self):
        arguments = ("--generate", "ventricles:h=3", "--max-iterations", "5", "--dat", "t.dat",
                     "--backend", "serial")
        expected = self.run_of(0, *arguments, *ONE, files=("t.dat",), code=NOT_CONVERGED)
        found = self.run_of(3, *arguments, files=("t.dat",), code=NOT_CONVERGED)
        self.assertEqual(found[:2], expected[:2])

    def test_a_signal_to_one_rank_stops_all(self):
        summary = self.stopped_summary("out/box.summary.json", "eikonal", "--generate", "box:n=100",
                                       "--site", "vertices:0", "--backend", "serial", "-v", "-o", "out",
                                       rank=1, line="set up in")
        self.assertEqual(summary["results"]["iterations"] % 24, 0)


if __name__ == "__main__":
    ranks.LAUNCHER = sys.argv.pop(2)
    driver_case.main()
