# SPDX-License-Identifier: Apache-2.0
"""Archives of Ansys through the executable: what is solved, what is noted, and what is refused by line and remedy."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import driver_case
from support.ansys_archive import archive, columns
from support.driver_case import BAD_FILE
from support.designs import TopoptCase

SOLID = ("--steps", "1", "--start", "0.999999", "--volume", "0.999999", "--filter", "none", "--tolerance", "1e-10")


def pull(value=0.125):
    return "".join(f"F,{n:7d},FX  ,  {value}    ,  0.00000000    \n" for n in (5, 10, 15, 20))


class Archives(TopoptCase):
    def first(self, text):
        self.write("bar.cdb", text)
        return self.optimise("bar.cdb", *SOLID)

    def notes(self, text):
        warnings = self.first(text)["warnings"]
        self.assertEqual({warning["code"] for warning in warnings} - {"mesh-note"}, set())
        return [warning["text"] for warning in warnings]

    def refused(self, text, *messages):
        self.write("bar.cdb", text)
        for message in messages:
            self.fails(BAD_FILE, message, "topopt", "bar.cdb")


class Bars(Archives):
    def test_a_bar_that_is_pulled(self):
        run = self.first(archive(loads=pull()))
        self.close(run["results"]["steps"]["objective"][0], 0.5 * 0.5 * 4 / 6, 1e-5)  # F^2 L / (E A)
        self.assertEqual(run["warnings"], [])


class Rows(Archives):
    def test_rows_of_no_command_are_refused(self):
        row = columns(9, (21, 0, 0)) + "  1.0  2.0  3.0\n"
        whole = archive(loads=pull())
        self.refused(archive(loads=pull(), behind=row), "bar.cdb: line 31: this row belongs to no command", "remove the row")
        for place in ("ALLSEL\n", "CMSEL,S,Y0\n", "D,ALL,UY\n", "/GO\n"):
            line = whole[:whole.index(place) + len(place)].count("\n") + 1
            self.refused(whole.replace(place, place + row), f"line {line}: this row belongs to no command")
        # A force whose command was cut off, and the format of a block.
        self.refused(archive(loads=pull() + "        5, 7.0\n"), "this row belongs to no command")
        self.refused(archive(loads=pull() + "(8i10)\n"), "this row belongs to no command")

    def test_rows_with_more_than_was_counted_are_refused(self):
        whole = archive(loads=pull())
        self.refused(whole.replace("CMBLOCK,X0,NODE,       4", "CMBLOCK,X0,NODE,       3"), "'16' behind the last column")
        first = next(line for line in whole.splitlines() if line.endswith("        8        0        1        1        2"
                     "        7        6       11       12       17       16"))
        self.refused(whole.replace(first, first + "       20"), "'20' behind the last column")
        self.assertEqual(self.first(whole.replace(first, first + "        0"))["warnings"], [])


class Elements(Archives):
    def test_other_integration_is_noted(self):
        for types, said in (("ET,1,185\nKEYOP,1,2,1\n", "SOLID185 with reduced integration (KEYOPT(2) = 1)"),
                            ("ET,1,185,,2\n", "SOLID185 with enhanced strains (KEYOPT(2) = 2)"),
                            ("ET,1,SOLID185\nKEYOPT,1,2,3\n", "SOLID185 with simplified enhanced strains"),
                            ("ET,1,185\nKEYOP,1,6,1\n", "SOLID185 with mixed formulation (KEYOPT(6) = 1)"),
                            ("ETBLOCK,1,1\n(2i9,19a9)\n" + columns(9, [1, 185, 0, 2] + [0] * 17) + "\n       -1\n",
                             "SOLID185 with enhanced strains (KEYOPT(2) = 2)"),
                            ("ET,1,45\n", "SOLID45 with the extra displacement shapes"),
                            ("ET,1,45,1,1\n", "SOLID45 with reduced integration")):
            with self.subTest(types=types):
                notes = self.notes(archive(types, pull()))
                self.assertEqual(len(notes), 1)
                self.assertIn(said, notes[0])
                self.assertIn("solved as hexahedra with full integration", notes[0])
        # Of other types, of none, and what changes no stiffness.
        for types in ("ET,1,185\nET,2,185\nKEYOP,2,2,2\n", "ET,1,185\nKEYOP,1,2,0\n", "ET,1,45,1\n", "ET,1,185\nKEYOP,1,2,2\nET,1,185\n",
                      "ETBLOCK,1,1\n(2i9,19a9)\n" + columns(9, [1, 185] + [0] * 19) + "\n       -1\n",
                      "ETBLOCK,1,1\n(2i9,19a9)\n" + columns(9, [1, 185]) + "\n       -1\n"):
            self.assertEqual(self.notes(archive(types, pull())), [])

    def test_layers_are_refused(self):
        self.refused(archive("ET,1,185\nKEYOP,1,3,1\n", pull()), "is of layers (KEYOPT(3) = 1 of SOLID185)")


class Loads(Archives):
    def test_expansion_is_refused_in_any_order(self):
        warm, tiny = "BFUNIF,TEMP,100\n", "BFUNIF,TEMP,_TINY\n"
        grows = "MP,ALPX,1,1e-5\n"
        message = "material 1 expands (MP,ALPX) from "
        for loads, said in ((grows + "TREF,20\n" + warm, "20 (TREF, MP,REFT) to a temperature of 100"),
                            (warm + "TREF,20\n" + grows, "20 (TREF, MP,REFT) to a temperature of 100"),
                            ("TREF,100\n" + warm + grows + "TREF,20\n", "20 (TREF, MP,REFT) to a temperature of 100"),
                            (grows + tiny + "TREF,20\nMP,REFT,1,50\n", "50 (TREF, MP,REFT) to a temperature of 20"),
                            (grows + "BFUNIF,TEMP,WARM\n", "0 (TREF, MP,REFT) to a temperature of nan")):
            self.refused(archive(loads=pull() + loads), message + said)
        for loads in (grows + "TREF,20\n" + tiny, warm, grows + "TREF,100\n" + warm, warm + "MP,ALPX,7,1e-5\n",
                      grows + "TREF,20\nMP,REFT,1,20\n"):
            self.assertEqual(self.first(archive(loads=pull() + loads))["warnings"], [])

    def test_what_is_solved_is_the_whole(self):
        part = "ESEL,S,ELEM,,1\n"
        said = "a part of the nodes or elements is selected where SOLVE solves"
        self.refused(archive(loads=pull() + part + "SOLVE\n"), said, "ALLSEL")
        self.refused(archive(loads=pull() + "CMSEL,S,X0\nSOLVE\n"), said)
        self.refused(archive(loads=pull() + part), "a part of the elements is selected (ESEL, CMSEL) at the end")
        for loads in (part + "ALLSEL\nSOLVE\n", part + "ESEL,ALL\nSOLVE\n", part + "ALLSEL\n", "CMSEL,S,X0\nNSEL,ALL\nSOLVE\n"):
            self.first(archive(loads=pull() + loads))
        # What lies below a selection is not known.
        for loads in ("ESEL,S,MAT,,2\nALLSEL,BELOW,ELEM\nF,ALL,FX,3\n", "ESEL,S,MAT,,2\nALLSEL,BELOW\nF,ALL,FX,3\n",
                      "NSEL,S,LOC,X,4\nALLSEL,ALL,ELEM\nF,ALL,FX,3\n"):
            self.refused(archive(loads=loads), "ALL means a selection of nodes that is not read")
        self.refused(archive(loads=pull() + part + "ALLSEL,ALL,NODE\nSOLVE\n"), said)
        self.first(archive(loads="NSEL,S,LOC,X,4\nALLSEL,ALL,NODE\nF,ALL,FX,3\nALLSEL,ALL,ALL\nSOLVE\n"))

    def test_lumped_masses_are_noted(self):
        modes = "MP,DENS,1,3\nANTYPE,MODAL\nMODOPT,LANB,1\n"
        self.assertEqual(self.notes(archive(loads=pull() + modes)), [])
        (note,) = self.notes(archive(loads=pull() + modes + "LUMPM,ON\n"))
        self.assertIn("consistent masses", note)


if __name__ == "__main__":
    driver_case.main()
