# SPDX-License-Identifier: Apache-2.0
"""Checks of ossatura topopt: the balance of forces of the final design, compliance, volume, surface."""
import pathlib

import numpy

from elastic import assemble, element_forces, mass_forces, shapes, solid, thermal, volumes
from files import pick, require


def check(run, report):
    with report.part("surface"):
        check_surface(run, report)
    require(run.results.get("volume") is not None, "design", "no step was done")
    fields, problem, results, steps = run.fields(), run.problem, run.results, run.results["steps"]
    density, role = fields["density"], fields.get("role", numpy.zeros(len(fields.types)))
    held, groups = (fields["held"][:, None] & [1, 2, 4]) > 0, list(kinds(fields))
    volume = numpy.empty(len(fields.types))
    for which, cell, rule in groups:
        volume[which] = volumes(fields.point[cell], rule)
    free = volume * (role == 0)
    report.same("elements, nodes, held, solid, void",
                [len(volume), len(fields.point), held.sum(), (role == 1).sum(), (role == 2).sum()],
                pick(problem, "elements nodes held_dofs solid_elements void_elements"), 0)
    report.true("volumes are positive", (volume > 0).all())
    most = 1.005 if "overhang" in (problem.get("manufacturing") or {}) else 1  # the excess of its filter
    excess = 0.02 if run.summary["engine"].get("filter") == "helmholtz" else 0  # of long elements
    report.bound("densities outside 0 to 1", density - density.clip(-excess, most + excess), 1e-12)
    report.bound("densities of passive elements", abs(density - (role == 1))[role > 0].max(initial=0), 1e-12)
    report.same("volume fraction", (volume * density).sum() / volume.sum(), results["volume"])
    report.same("greyness", (free * 4 * density * (1 - density)).sum() / free.sum(), results["grey"])
    if run.done and problem["volume_fraction"] is not None:  # null where the volume is the objective
        report.bound("volume above what is allowed", max(0, results["volume"] / problem["volume_fraction"] - 1), 1e-6)
    report.same("last change", steps["change"][-1], results["last_change"], 1e-12)
    report.bound("residuals of the steps", steps["residual"], run.summary["engine"].get("step_tolerance", run.tolerance))
    require(results.get("objective") is not None, "compliance", "the final design was not analysed")
    check_balance(run, report, fields, held, groups, volume, density)


def kinds(fields):
    """The elements of each kind: which, their nodes, slopes and weights; none of hexahedra of eight nodes, whose are known."""
    if "element_kind" not in fields:
        yield slice(None), fields.cell, None
        return
    for kind in numpy.unique(fields["element_kind"]):
        which = numpy.flatnonzero(fields["element_kind"] == kind)
        yield which, fields.elements(which), None if kind == 4 else solid(kind)


def stiffness_forces(fields, groups, u, young, poisson, size=numpy.positive):
    """K u by node, without springs, and u^T K u / 2 by element; with `size` = abs the sizes of what is added at a node."""
    forces, stored = numpy.zeros(u.shape), numpy.empty(len(young))
    poisson = numpy.broadcast_to(poisson, len(young))
    for which, cell, rule in groups:
        force = element_forces(fields.point[cell], u[cell], young[which], poisson[which], rule)
        forces += assemble(cell, size(force), len(u))
        stored[which] = (u[cell] * force).sum(axis=(1, 2)) / 2
    return forces, stored


def thermal_forces(fields, groups, u, change, expansion, young, poisson):
    """Forces of a temperature by node, and what it adds to u^T K u / 2 by element, so that this is strain energy."""
    forces, added = numpy.zeros(u.shape), numpy.zeros(len(young))
    poisson = numpy.broadcast_to(poisson, len(young))
    for which, cell, rule in groups:
        kind = 4 if rule is None else fields["element_kind"][which[0]]
        strain = expansion[which, None] * change[cell]
        force, still = thermal(fields.point[cell], strain, young[which], poisson[which], shapes(kind), rule)
        forces += assemble(cell, force, len(u))
        added[which] = still - (u[cell] * force).sum(axis=(1, 2))
    return forces, added


def rigid_motions(fields):
    """Of each rigid body its nodes, and an orthonormal base of its motions."""
    number = fields.get("rigid_body", numpy.zeros(0))
    for body in range(1, int(number.max(initial=0)) + 1):
        nodes = numpy.flatnonzero(number == body)
        arm = fields.point[nodes] - fields.point[nodes].mean(axis=0)
        turns = [numpy.cross(axis, arm) / abs(arm).max() for axis in numpy.eye(3)]
        shifts = [numpy.broadcast_to(axis, arm.shape) for axis in numpy.eye(3)]
        yield nodes, numpy.linalg.qr(numpy.stack([one.ravel() for one in (*shifts, *turns)], axis=1))[0]


def admissible(vector, fields):
    """What rigid bodies can have of a vector of nodes."""
    vector = numpy.array(vector)
    for nodes, base in rigid_motions(fields):
        vector[nodes] = (base @ (base.T @ vector[nodes].ravel())).reshape(-1, 3)
    return vector


def check_balance(run, report, fields, held, groups, volume, density):
    problem, results, steps, young = run.problem, run.results, run.results["steps"], run.problem["material"]["young"]
    poisson = problem["material"]["poisson"]
    if "materials" in problem:
        poisson = numpy.array([one["poisson"] for one in problem["materials"]])[fields["material"].astype(int)]
        young = numpy.array([one["young"] for one in problem["materials"]])[fields["material"].astype(int)]
        counts = numpy.bincount(fields["material"].astype(int), minlength=len(problem["materials"]))
        report.same("elements of materials", counts, [one["elements"] for one in problem["materials"]], 0)
    expansion = numpy.broadcast_to(problem["material"].get("expansion", 0.0), len(volume))
    if "expansion" in problem.get("materials", [{}])[0]:
        expansion = numpy.array([one["expansion"] for one in problem["materials"]])[fields["material"].astype(int)]
    least = young * float(run.options.get("min-modulus", run.input.get("min_modulus", 1e-9)))
    penalty, linear = steps["penalty"][-1], run.summary["engine"].get("linear_below", 0)
    power = numpy.where(density < linear, density * max(linear, 1e-300) ** (penalty - 1), density ** penalty)
    young = least + power * (young - least)
    # Voxels have the moduli that the solver has, in single precision.
    rounding = 2.0 ** -23 if run.summary["engine"].get("grid") == "voxels" else 0
    names, spring = [name for name in fields if name.startswith("displacement")], fields.get("spring", 0)
    report.same("displacements of all cases", len(names), len(problem["cases"]), 0)
    energy, work = numpy.zeros(len(volume)), []
    for k, case in enumerate(problem["cases"]):
        suffix = "_" + "".join(chr(b) if b < 128 and chr(b).isalnum() else "_" for b in case["name"].encode())
        suffix = "" if len(names) < 2 else suffix + f"_{k}" * (f"displacement{suffix}_{k}" in names)
        label, u, load = f": {case['name']}", fields["displacement" + suffix], fields["load" + suffix]
        weight = fields.get("weight" + suffix, numpy.zeros_like(u))
        inner, stored = stiffness_forces(fields, groups, u, young, poisson)
        inner += spring * u
        total = load + weight
        if case.get("temperature_change"):
            change = fields["temperature_change" + suffix]
            report.same("temperatures" + label, [change.min(), change.max()],
                        pick(case["temperature_change"], "least most"), 0)
            forces, added = thermal_forces(fields, groups, u, change, expansion, young, poisson)
            report.bound("forces of temperature" + label, abs(fields["thermal_force" + suffix] - forces).max(),
                         max(1e-9, rounding) * abs(forces).max())
            total, energy = total + forces, energy + added / volume
        if case.get("body_loads") and all("speed" not in one for one in case["body_loads"]):
            mass = [one["mass_density"] for one in problem.get("materials", [problem["material"]])]
            mass = numpy.array(mass)[fields["material"].astype(int) if "materials" in problem else 0]
            report.same("weight" + label, weight.sum(axis=0), (volume * density * mass).sum() * numpy.sum(
                [one["acceleration"] for one in case["body_loads"]], axis=0), 1e-9, abs(weight).sum())
        imposed, asked = fields.get("imposed" + suffix, numpy.zeros_like(u)), total
        if imposed.any():
            asked = total - stiffness_forces(fields, groups, imposed, young, poisson)[0]
        residual = admissible(total - inner, fields)[~held]
        energy += stored / volume
        twice = 2 * stored.sum() + (spring * u * u).sum()
        done = (numpy.where(held, inner, total) * u).sum()
        work.append(2 * (total * u).sum() - twice if imposed.any() else (total * u).sum())
        report.same("total load" + label, load.sum(axis=0), case["total_force"], 1e-9, max(abs(load).sum(), 1e-300))
        report.same("imposed displacements" + label, (imposed != 0).sum(), case.get("displacements", 0), 0)
        rounded = rounding and rounding * numpy.linalg.norm(stiffness_forces(fields, groups, u, young, poisson, abs)[0][~held])
        scale = numpy.linalg.norm(admissible(asked, fields)[~held])
        report.bound("residual" + label, numpy.linalg.norm(residual) / scale, 1.001 * run.tolerance + rounded / scale)
        report.bound("rigid bodies" + label, abs(admissible(u, fields) - u).max(), 1e-9 * abs(u).max())
        report.bound("displacements of supports" + label, abs((u - imposed)[held]).max(initial=0), 0)
        report.bound("2 U = F u" + label, 1 - twice / done, run.balance)
        if imposed.any():
            moved = numpy.where(imposed != 0, inner - total, 0).sum(axis=0)
            report.same("force to move" + label, moved, results["cases"][k]["imposed_force"], max(1e-9, rounding),
                        abs(numpy.where(held, inner, 0)).sum())
    report.bound("strain_energy_density", (fields["strain_energy_density"] - energy) / energy.max(), max(1e-9, rounding))
    if results.get("frequencies"):
        check_modes(run, report, fields, held, groups, density, young, poisson, rounding)
    check_constraints(report, problem, results, work)
    if problem["objective"] == "frequency":
        report.same("objective", results["frequencies"][0], results["objective"], 0)
        report.same("objectives of the steps", [one[0] for one in steps["frequencies"]], steps["objective"], 0)
        return
    require(problem["objective"] != "mechanism", "objective", "where a mechanism's output is, is not in the file")
    weights = [case["weight"] for case in problem["cases"]]
    # Forces of temperature, and those that move nodes, are of the moduli.
    of_moduli = any(one.get("temperature_change") or one.get("displacements") for one in problem["cases"])
    within = max(1e-9, rounding) if of_moduli else 1e-9
    report.same("compliance of the cases", work, [one["value"] for one in results["cases"]], within)
    if problem["objective"] == "volume":  # that of the file agrees with results.volume
        report.same("objective", results["volume"], results["objective"], 0)
        report.same("objectives of the steps", steps["volume"], steps["objective"], 0)
        return
    report.same("objective", numpy.dot(weights, work), results["objective"], within)
    check_bound(run, report)
    report.same("objectives of the steps", numpy.array(steps["cases"]) @ weights, steps["objective"])


def check_modes(run, report, fields, supported, groups, density, young, poisson, rounding):
    """Rayleigh quotients and residuals of the modes, with the consistent mass of all elements."""
    problem, frequencies = run.problem, run.results["frequencies"]
    mass = numpy.array([one["mass_density"] for one in problem.get("materials", [problem["material"]])])
    mass = mass[fields["material"].astype(int) if "materials" in problem else numpy.zeros(len(density), int)]
    rho = numpy.maximum(density, 0)
    mass = mass * numpy.where(rho >= 0.1, rho, 6e5 * rho ** 6 - 5e6 * rho ** 7)
    if "frequencies_below" in problem:
        report.true("number of frequencies", len(frequencies) <= problem["frequencies"])
        report.true("frequencies are in their range", frequencies[-1] <= problem["frequencies_below"])
    else:
        report.same("number of frequencies", len(frequencies), problem["frequencies"], 0)
    report.true("frequencies ascend", (numpy.diff(frequencies) >= 0).all())
    before = []  # of the modes so far K x with x . K x = 1, and the mirrors that they are antisymmetric about
    families = run.results.get("antisymmetric_about", [""] * len(frequencies))
    for i, frequency in enumerate(frequencies):
        label, u = f": mode {i + 1}", fields[f"mode_{i + 1}"]
        held = held_in_family(problem, fields, families[i]) if problem.get("mirrors") else supported
        stiff = admissible(stiffness_forces(fields, groups, u, young, poisson)[0] + fields.get("spring", 0) * u, fields)
        inert = numpy.zeros_like(u)
        for which, cell, rule in groups:
            kind = 4 if rule is None else fields["element_kind"][which[0]]
            inert += assemble(cell, mass_forces(fields.point[cell], u[cell], mass[which], kind), len(u))
        inert, square = admissible(inert, fields), (2 * numpy.pi * frequency) ** 2
        stiff[held], inert[held] = 0, 0
        report.same("Rayleigh quotient" + label, ((stiff * u).sum() / (inert * u).sum()) ** 0.5 / (2 * numpy.pi), frequency,
                    max(1e-9, rounding))
        sizes = stiffness_forces(fields, groups, u, young, poisson, abs)[0]
        sizes[held] = 0
        scale = square * numpy.linalg.norm(inert)
        report.bound("residual" + label, numpy.linalg.norm(stiff - square * inert) / scale,
                     1.001 * run.tolerance + rounding * numpy.linalg.norm(sizes) / scale)
        size = (stiff * u).sum() ** 0.5
        report.bound("orthogonal to those before" + label, max((abs((other * u).sum()) / size for other, axes in before if axes == families[i]), default=0), 1e-6)
        before.append((stiff / size, families[i]))
        report.bound("held components" + label, abs(u[held]).max(initial=0), 0)
        report.same("largest displacement" + label, numpy.linalg.norm(u, axis=1).max(), 1)


def held_in_family(problem, fields, axes):
    """What modes that are antisymmetric about mirrors along these axes have held: all but what is across these, in their planes."""
    held = (fields["held_without_mirrors"][:, None] & [1, 2, 4]) > 0
    slack = 2e-9 * numpy.linalg.norm(numpy.ptp(fields.point, axis=0))
    for mirror in problem["mirrors"]:
        across = numpy.arange(3) == "xyz".index(mirror["axis"])
        on_plane = abs(fields.point[:, across.argmax()] - mirror["place"]) <= slack
        held[on_plane] |= ~across if mirror["axis"] in axes.split() else across
    return held


def check_constraints(report, problem, results, work):
    """Values that are those of what was computed anew, and whether they hold; displacements and stresses are taken as said."""
    for number, one in enumerate(results.get("constraints", [])):
        label, ratio = f": {number + 1}, {one['kind']}", one["value"] / one["limit"]
        names = [case["name"] for case in problem["cases"]]
        if one["kind"] == "compliance" and (one["case"] is None or names.count(one["case"]) == 1):
            weights = [case["weight"] if one["case"] is None else case["name"] == one["case"] for case in problem["cases"]]
            report.same("constraint" + label, numpy.dot(weights, work), one["value"], 1e-6)
        if one["kind"] in ("volume", "frequency"):
            found = results["volume"] if one["kind"] == "volume" else results["frequencies"][0]
            report.same("constraint" + label, found, one["value"], 0)
        excess = 1 - ratio if one["bound"] == "at_least" else ratio - 1
        report.same("constraint, excess" + label, excess, one["excess"], 1e-12, 1 + abs(ratio))
        report.true("constraint, holds" + label, one["holds"] == (excess <= 1e-3), f"{one['holds']}, {excess}")


def check_bound(run, report):
    """That no number contradicts the bound: the solves that it is of are in no file."""
    bound, objective = run.results.get("bound"), run.results["objective"]
    if bound is None or bound["value"] is None:
        return
    value, size = bound["value"], abs(bound["value"])
    report.bound("compliance below its bound", max(0, (value - objective) / size), run.balance)
    report.bound("bound above the best of its kind", max(0, (value - bound["relaxed"]) / size), run.balance)
    report.same("excess over the bound", (objective - value) / size, bound["excess"])


def check_surface(run, report):
    """The STL is closed: every edge is of two triangles, in opposite directions."""
    path, said = run.output(".stl"), run.results.get("surface")
    require(path, "surface", "no STL was written")
    content = pathlib.Path(path).read_bytes()
    kind = numpy.dtype([("normal", "<f4", 3), ("corner", "<f4", (3, 3)), ("unused", "<u2")])
    corner = numpy.frombuffer(content, kind, (len(content) - 84) // 50, 84)["corner"]
    report.same("surface: triangles", [len(content), int.from_bytes(content[80:84], "little")],
                [84 + 50 * said["triangles"], said["triangles"]], 0)
    vertex, number = numpy.unique(corner.reshape(-1, 3), axis=0, return_inverse=True)
    edge = number.reshape(-1, 3)[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    there, back = numpy.sort(edge @ [len(vertex), 1]), numpy.sort(edge @ [1, len(vertex)])
    report.true("surface is closed", (there == back).all(), "edges without a triangle beyond")
    mesh = run.input.get("mesh", {})
    unit = 1e-3 if "lower" in mesh or "lower" in run.options else float(run.options.get("unit") or mesh.get("unit", 1))
    volume = numpy.linalg.det(corner.astype(float) - vertex.mean(axis=0)).sum() / 6 * unit ** 3
    report.same("surface: volume", volume, said["volume"], 1e-5)
