# SPDX-License-Identifier: Apache-2.0
"""Archives of Ansys for tests: bars as CDWRITE writes them."""

CELLS = 4  # of 1 m, in a row


def columns(width, numbers):
    return "".join(f"{n:{width}d}" for n in numbers)


def archive(types="ET,        1,185\n", loads="F,      5,FX  ,  0.500000000    ,  0.00000000    \n", end="/GO\nFINISH\n",
            behind=""):
    """A bar of 4 x 1 x 1 m, E = 6, held at x = 0 in the three directions as rollers do; `behind` follows each block."""
    points = [(i, j, k) for k in range(2) for j in range(2) for i in range(CELLS + 1)]
    number = {p: n + 1 for n, p in enumerate(points)}
    nodes = "".join(columns(9, (number[p], 0, 0)) + "".join(f"{x:21.13E}" for x in p) + "\n" for p in points)
    corners = ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1))
    elements = "".join(columns(9, [1, 1, 1, 1, 0, 0, 0, 0, 8, 0, e + 1] + [number[e + i, j, k] for i, j, k in corners]) +
                       "\n" for e in range(CELLS))
    wall, floor, side = ([number[p] for p in points if p[d] == 0] for d in range(3))
    component = "".join(f"CMBLOCK,{name},NODE,{len(members):8d}\n(8i10)\n" +
                        "".join(columns(10, members[n:n + 8]) + "\n" for n in range(0, len(members), 8))
                        for name, members in (("X0", wall), ("Y0", floor), ("Z0", side)))
    return ("/COM,ANSYS RELEASE\n/PREP7\n" + types +
            "RLBLOCK,       1,       2,       6\n(2i8,6g16.9)\n(7g16.9)\n       2       6  1.00000000     0.566900000E-07\n" +
            f"NBLOCK,6,SOLID,{len(points):9d},{len(points):9d}\n(3i9,6e21.13e3)\n{nodes}N,R5.3,LOC,       -1,\n{behind}"
            f"EBLOCK,19,SOLID,{CELLS:9d},{CELLS:9d}\n(19i9)\n{elements}{columns(9, [-1])}\n{behind}{component}{behind}"
            "MPTEMP,R5.0, 1, 1,  0.00000000    ,\nMPDATA,R5.0, 1,EX  ,       1, 1,  6.00000000    ,\n"
            "MPDATA,R5.0, 1,NUXY,       1, 1,  0.00000000    ,\nCMSEL,S,X0\nD,ALL,UX\nCMSEL,S,Y0\nD,ALL,UY\n"
            f"CMSEL,S,Z0\nD,ALL,UZ\nALLSEL\n{loads}{end}")
