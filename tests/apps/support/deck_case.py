# SPDX-License-Identifier: Apache-2.0
"""A bar as a deck of CalculiX or Abaqus, and runs of it, for tests of what decks and problems say."""
from support.driver_case import BAD_FILE
from support.designs import TopoptCase

CELLS = (8, 2, 2)  # of 0.5 m each


def points():
    return [(i, j, k) for k in range(CELLS[2] + 1) for j in range(CELLS[1] + 1) for i in range(CELLS[0] + 1)]


def chosen(choose):
    return [n + 1 for n, p in enumerate(points()) if choose(*p)]


def rows(numbers):
    return "".join(f"{n},\n" for n in numbers)


def mesh():
    """A bar of 4 x 1 x 1 m with sets of nodes at its ends and sides, and of elements LEFT (x < 1) and RIGHT."""
    row, layer = CELLS[0] + 1, (CELLS[0] + 1) * (CELLS[1] + 1)
    corners = (0, 1, row + 1, row, layer, layer + 1, layer + row + 1, layer + row)
    first = [i + j * row + k * layer for k in range(CELLS[2]) for j in range(CELLS[1]) for i in range(CELLS[0])]
    nodes = "".join(f"{n + 1}, {x / 2}, {y / 2}, {z / 2}\n" for n, (x, y, z) in enumerate(points()))
    elements = "".join(f"{e + 1}, " + ", ".join(str(n + c + 1) for c in corners) + "\n" for e, n in enumerate(first))
    sets = {"X0": lambda x, y, z: x == 0, "Y0": lambda x, y, z: y == 0, "Z0": lambda x, y, z: z == 0,
            "X1": lambda x, y, z: x == CELLS[0]}
    return (f"*NODE, NSET=ALL\n{nodes}*ELEMENT, TYPE=C3D8, ELSET=BODY\n{elements}" +
            "".join(f"*NSET, NSET={name}\n{rows(chosen(choose))}" for name, choose in sets.items()) +
            f"*ELSET, ELSET=LEFT\n{rows(e + 1 for e in range(len(first)) if e % CELLS[0] < 2)}"
            f"*ELSET, ELSET=RIGHT\n{rows(e + 1 for e in range(len(first)) if e % CELLS[0] >= 2)}")


ROLLERS = "*BOUNDARY\nX0, 1\nY0, 2\nZ0, 3\n"
ONE = "*MATERIAL, NAME=M\n*ELASTIC\n6., 0.\n*DENSITY\n3.\n*SOLID SECTION, ELSET=BODY, MATERIAL=M\n"
TWO = ("*MATERIAL, NAME=STIFF\n*ELASTIC\n6., 0.\n*DENSITY\n3.\n*MATERIAL, NAME=SOFT\n*ELASTIC\n2., 0.\n*DENSITY\n1.\n"
       "*SOLID SECTION, ELSET=LEFT, MATERIAL=STIFF\n*SOLID SECTION, ELSET=RIGHT, MATERIAL=SOFT\n")
SOLID = ("--steps", "1", "--start", "0.999999", "--volume", "0.999999", "--filter", "none", "--tolerance", "1e-10")
FLEXIBILITY = 1 / 6 + 3 / 2  # of both, sum of L / (E A)


def step(*lines):
    return "*STEP\n*STATIC\n" + "".join(line + "\n" for line in lines) + "*END STEP\n"


class Decks(TopoptCase):
    def first(self, deck, *arguments):
        """The summary of one step from the solid body."""
        self.write("deck.inp", deck)
        return self.optimise("deck.inp", *SOLID, *arguments)

    def refused(self, deck, message, *arguments):
        self.write("deck.inp", deck)
        self.fails(BAD_FILE, message, "topopt", "deck.inp", *arguments)

    def pull(self, force=0.5, place=CELLS[0]):
        """A uniform traction on the far end, or inside, in forces of its nodes."""
        share = {0: 1, CELLS[1]: 1}
        return ["*CLOAD"] + [f"{n}, 1, {force * share.get(points()[n - 1][1], 2) * share.get(points()[n - 1][2], 2) / 16}"
                             for n in chosen(lambda x, y, z: x == place)]
