# SPDX-License-Identifier: Apache-2.0
"""Checks of ossatura topopt: the balance of forces of the final design, compliance, volume, surface."""
import numpy

from elastic import assemble, element_forces, held_bits, lame_of, volumes
from files import Fields


def check(run, report):
    check_surface(run, report)
    path = run.output(".hdf")
    if path is None or run.results.get("volume") is None:
        report.skip("design", "no fields were written, or no step was done")
        return
    fields, problem, results = Fields(path), run.problem, run.results
    density, role = fields["density"], fields.cells.get("role", numpy.zeros(len(fields.types)))
    held, corner = held_bits(fields["held"]), fields.point[fields.cell]
    report.same("elements, nodes, held, solid, void",
                [len(corner), len(fields.point), held.sum(), (role == 1).sum(), (role == 2).sum()],
                [problem[key] for key in ("elements", "nodes", "held_dofs", "solid_elements", "void_elements")], 0)
    volume = volumes(corner)
    report.true("volumes are positive", (volume > 0).all())
    report.bound("densities outside 0 to 1", max(0, -density.min(), density.max() - 1), 1e-12)
    report.bound("densities of passive elements", abs(density - (role == 1))[role > 0].max(initial=0), 1e-12)
    report.same("volume fraction", (volume * density).sum() / volume.sum(), results["volume"])
    free = volume * (role == 0)
    report.same("greyness", (free * 4 * density * (1 - density)).sum() / free.sum(), results["grey"])
    if run.status in ("converged", "steps done"):
        report.bound("volume above what is allowed", max(0, results["volume"] / problem["volume_fraction"] - 1), 1e-6)
    report.same("last change", results["steps"]["change"][-1], results["last_change"], 1e-12)
    report.bound("residuals of the steps", max(results["steps"]["residual"]), run.tolerance)
    if results.get("objective") is None:
        report.skip("compliance", "the final design was not analysed")
    else:
        check_balance(run, report, fields, held, corner, volume, density)


def check_balance(run, report, fields, held, corner, volume, density):
    young, names = run.problem["material"]["young"], [name for name in fields.points if name.startswith("displacement")]
    least = float(run.setting("min-modulus", run.input.get("min_modulus", 1e-9))) * young
    lame = lame_of(least + density ** run.results["steps"]["penalty"][-1] * (young - least),
                   run.problem["material"]["poisson"])
    spring, energy, found = fields.points.get("spring", 0), 0, []
    report.same("displacements of all cases", len(names), len(run.problem["cases"]), 0)
    for k, case in enumerate(run.problem["cases"]):
        suffix = "_" + "".join(c if c.isascii() and c.isalnum() else "_" for c in case["name"])
        suffix = "" if len(names) < 2 else suffix + f"_{k}" * (f"displacement{suffix}_{k}" in names)
        label, u, load = f": {case['name']}", fields["displacement" + suffix], fields["load" + suffix]
        report.same("total load" + label, load.sum(axis=0), case["total_force"], 1e-9, abs(load).sum())
        element = element_forces(corner, u[fields.cell], *lame)
        residual = (load - assemble(fields.cell, element, len(u)) - spring * u)[~held]
        report.bound("residual" + label, numpy.linalg.norm(residual) / numpy.linalg.norm(load[~held]),
                     1.001 * run.tolerance)
        report.bound("displacements of supports" + label, abs(u[held]).max(initial=0), 0)
        stored = (u[fields.cell] * element).sum(axis=(1, 2)) / 2
        energy = energy + stored / volume
        found.append((load * u).sum())
        report.bound("2 U = F u" + label, 1 - (2 * stored.sum() + (spring * u * u).sum()) / found[-1],
                     run.balance)
    report.bound("strain_energy_density", abs(fields["strain_energy_density"] - energy).max() / energy.max(), 1e-9)
    if run.problem["objective"] != "compliance":
        report.skip("objective", "where a mechanism's output is, is not in the file")
        return
    report.same("compliance of the cases", found, [one["value"] for one in run.results["cases"]])
    weights, steps = [case["weight"] for case in run.problem["cases"]], run.results["steps"]
    report.same("objective", numpy.dot(weights, found), run.results["objective"])
    report.same("objectives of the steps", numpy.array(steps["cases"]) @ weights, steps["objective"])


def check_surface(run, report):
    """The STL is closed: every edge is of two triangles, in opposite directions."""
    path, said = run.output(".stl"), run.results.get("surface")
    if path is None:
        report.skip("surface", "no STL was written")
        return
    with open(path, "rb") as file:
        content = file.read()
    kind = numpy.dtype([("normal", "<f4", 3), ("corner", "<f4", (3, 3)), ("unused", "<u2")])
    corner = numpy.frombuffer(content, kind, (len(content) - 84) // 50, 84)["corner"]
    report.same("surface: triangles", [len(content), int.from_bytes(content[80:84], "little")],
                [84 + 50 * said["triangles"], said["triangles"]], 0)
    vertex, number = numpy.unique(corner.reshape(-1, 3), axis=0, return_inverse=True)
    triangle = number.reshape(-1, 3)
    edge = numpy.concatenate([triangle[:, [0, 1]], triangle[:, [1, 2]], triangle[:, [2, 0]]])
    there, back = numpy.sort(edge @ [len(vertex), 1]), numpy.sort(edge @ [1, len(vertex)])
    report.true("surface is closed", (there == back).all(), "edges without a triangle beyond")
    unit = run.parameters.get("unit") or run.input.get("mesh", {}).get("unit", 1)
    volume = numpy.linalg.det(corner.astype(float) - vertex.mean(axis=0)).sum() / 6 * float(unit) ** 3
    report.same("surface: volume", volume, said["volume"], 1e-5)
