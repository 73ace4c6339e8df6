# SPDX-License-Identifier: Apache-2.0
"""Scenes of `ossatura softbody` and what tests ask of their runs."""
import json

from support import driver_case
from support.driver_case import DriverCase

STIFF = {"young": 1e5, "poisson": 0.3}
LAWS = ({"law": "corotational", **STIFF}, {"law": "corotational", "rotation": "qr", **STIFF},
        {"law": "stvk", **STIFF}, {"law": "neo_hookean", **STIFF},
        {"law": "mooney_rivlin", "c1": 1e4, "c2": 5e3, "bulk": 1e5})


def hexa_box(cells=(2, 1, 1), size=(2, 1, 1)):
    return {"hexa_box": {"cells": list(cells), "size": list(size)}}


def tetra_box(cells=(2, 1, 1), size=(2, 1, 1)):
    return {"tetra_box": {"cells": list(cells), "size": list(size)}}


def cloth(nodes=(3, 3), size=(1, 1)):
    return {"cloth": {"nodes": list(nodes), "size": list(size)}}


def body(mesh=None, material=None, **more):
    return {"name": "body", "mesh": mesh or hexa_box(), "material": material or STIFF, **more}


def scene(*objects, **more):
    return {"time_step": 0.01, "steps": 10, "objects": list(objects) or [body()], **more}


def tetrahedron(points="0 0 0\n1 0 0\n0 1 0\n0 0 1", cell="0 1 2 3"):
    """A .vtk file of one tetrahedron."""
    return ("# vtk DataFile Version 3.0\none\nASCII\nDATASET UNSTRUCTURED_GRID\n"
            f"POINTS {len(points.splitlines())} double\n{points}\nCELLS 1 5\n4 {cell}\n"
            "CELL_TYPES 1\n10\n")


class SoftbodyCase(DriverCase):
    backend = "serial"

    def write_scene(self, document, name="s.json"):
        return self.write(name, json.dumps(document))

    def run_scene(self, document, *arguments, code=driver_case.DONE):
        """The summary of a run in this directory."""
        self.write_scene(document)
        run = self.summary("softbody", "s.json", "-q", "--backend", self.backend, *arguments,
                           code=code)
        self.assert_finite(run["results"])
        return run

    def assert_finite(self, values):
        """JSON has null where a number is not finite."""
        if isinstance(values, dict):
            for key, value in values.items():
                if key not in ("breakdown", "last_time", "first_crossing_step"):
                    self.assert_finite(value)
        elif isinstance(values, list):
            for value in values:
                self.assert_finite(value)
        else:
            self.assertIsNotNone(values)

    def close(self, value, expected, relative=1e-8, scale=0):
        super().close(value, expected, relative, scale)

    def rows(self, name, seconds=("collect", "compress", "factor", "solve", "apply", "contact",
                                  "total")):
        return super().rows(name, seconds)


PLANE = {"plane": {"point": [0, 0, 0], "normal": [0.1, 0, 1], "friction": 0.4}}
FLOOR = {"plane": {"point": [0, 0, 0], "normal": [0, 0, 1], "friction": 0.5}}
DAMPING = {"mass": 0.1, "stiffness": 0.01}
WEIGHT = [0, 0, -9.81]


def soft(name, mesh, young, at, poisson=0.4, **more):
    return body(mesh, {"law": "corotational", "young": young, "poisson": poisson}, translate=at,
                **{**more, "name": name})


def ellipsoid(axes, cells):
    return {"ellipsoid": {"semi_axes": list(axes), "cells": cells}}


def liver():
    return scene(soft("liver", ellipsoid((0.1, 0.07, 0.04), 6), 5e3, [0, 0, 0.055], 0.45,
                      rotate={"axis": [0, 1, 0], "degrees": 20}),
                 steps=16, gravity=WEIGHT, damping={"mass": 0.1, "stiffness": 0.02},
                 obstacles=[PLANE], contact={"distance": 0.005})


def pile():
    return scene(soft("left", hexa_box((3, 3, 3), (0.1, 0.1, 0.1)), 8e3, [-0.12, -0.05, 0.002]),
                 soft("right", hexa_box((3, 3, 3), (0.1, 0.1, 0.1)), 8e3, [0.02, -0.05, 0.002]),
                 soft("slab", hexa_box((7, 3, 1), (0.3, 0.08, 0.04)), 8e3, [-0.155, -0.043, 0.105]),
                 soft("ball", ellipsoid((0.055, 0.05, 0.045), 4), 4e3, [0.003, 0.002, 0.2], 0.45),
                 steps=14, gravity=WEIGHT, damping=DAMPING, obstacles=[FLOOR],
                 contact={"between_objects": True, "friction": 0.4, "distance": 0.005})


def tower():
    # Smaller and turned from one to the next: no edge lies exactly on another.
    boxes = [soft(f"box{k}", hexa_box((2, 2, 2), (0.1 - 0.012 * k,) * 3), 2e4,
                  [0.007 * k, 0.004 * k, 0.001 + (0.1015 - 0.006 * (k - 1)) * k],
                  rotate={"axis": [0, 0, 1], "degrees": 3 * k}) for k in range(4)]
    return scene(*boxes, steps=14, gravity=WEIGHT, damping=DAMPING,
                 obstacles=[FLOOR],
                 contact={"between_objects": True, "friction": 0.4, "distance": 0.005})


def ball_on_cloth():
    corners = [{"box": [x, y, 0, x, y, 0]} for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
    return scene(body(cloth((12, 12)), {"young": 1e6, "poisson": 0.3, "thickness": 0.001},
                      name="cloth", density=300, translate=[-0.5, -0.5, 0], fixed=corners),
                 soft("ball", ellipsoid((0.1, 0.1, 0.1), 4), 5e4, [0.01, 0.02, 0.105],
                      velocity=[0, 0, -3]),
                 time_step=0.005, steps=12, gravity=WEIGHT,
                 damping={"mass": 0.5, "stiffness": 0.004},
                 contact={"between_objects": True, "friction": 0.3})


def cloth_on_sphere():
    return scene(body(cloth((10, 10)), {"young": 1e5, "poisson": 0.3, "thickness": 0.001},
                      density=300, translate=[-0.51, -0.48, 0.31]),
                 steps=25, gravity=WEIGHT, damping={"mass": 0.5, "stiffness": 0.004},
                 obstacles=[{"sphere": {"centre": [0, 0, 0], "radius": 0.3, "friction": 0.4}}])


def flush_tower():
    # All edges lie exactly on others.
    boxes = [soft(f"box{k}", hexa_box((3, 3, 3), (0.1, 0.1, 0.1)), 2e4, [0, 0, 0.001 + 0.1015 * k])
             for k in range(3)]
    return scene(*boxes, steps=30, gravity=WEIGHT, damping=DAMPING, obstacles=[FLOOR],
                 contact={"between_objects": True, "friction": 0.4, "distance": 0.005})


def column():
    # Symmetric, and too slender to stand: it falls to the side that rounding chooses.
    return scene(body(hexa_box((2, 2, 16), (0.05, 0.05, 0.8)), {"young": 3e4, "poisson": 0.3},
                      translate=[0, 0, 0.02], fixed=[{"box": [0, 0, 0.02, 0.05, 0.05, 0.02]}]),
                 steps=300, gravity=WEIGHT, damping=DAMPING, obstacles=[FLOOR])
