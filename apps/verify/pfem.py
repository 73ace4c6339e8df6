# SPDX-License-Identifier: Apache-2.0
"""Checks of ossatura pfem. The samples of an element fix its polynomials: strains follow from displacements,
moduli from strains and stresses, and then energies, forces at vertices and reactions by quadrature."""
import numpy

from elastic import TENSOR, assemble, jacobians, slopes, strains, von_mises
from files import pick, require

FACES = [[0, 1, 2, 3], [4, 5, 6, 7], [0, 1, 4, 5], [2, 3, 6, 7], [0, 2, 4, 6], [1, 3, 5, 7]]


def check(run, report):
    results, problem = run.results, run.problem
    forces, load = numpy.array([one["force"] for one in results["reactions"]]), numpy.array(results["total_load"])
    total, scale = forces.sum(axis=0), max(abs(forces).sum(axis=0).max(), abs(load).max())
    report.same("sum of reactions", total, results["total_reaction"], 1e-9, scale)
    if run.done:  # an iteration that ended early is not in balance
        report.bound("balance of forces", (total + load) / scale, run.balance)
    report.same("elements, dofs", [sum(one["elements"] for one in problem["orders"]),
                                   sum(problem["dofs_by_part"].values())], pick(problem, "elements dofs"), 0)
    fields = run.fields()
    u, mises, place = fields["displacement"], fields["von_mises"], places(fields.point)
    report.same("samples", len(u), results["samples"], 0)
    report.same("max_displacement", numpy.linalg.norm(u, axis=1).max(), results["max_displacement"]["value"])
    report.same("max_von_mises", mises.max(), results["max_von_mises"]["value"])
    report.bound("von_mises", (von_mises(fields["stress"]) - mises) / size_of(mises), 1e-9)
    is_known = run.input or not any(one["path"].endswith(".json") for one in run.provenance.get("inputs", []))
    if run.done and is_known and not any(any(one.get("displacement", [])) for one in run.input.get("supports", [])):
        energy = results["strain_energy"]
        report.bound("potential energy = - strain energy", (results["potential_energy"] + energy) / (energy or 1), run.balance)
    first = numpy.unique(place, return_index=True)[1][place]
    report.bound("continuity of displacements", (u - u[first]) / size_of(u), 1e-9)
    check_elements(run, report, fields)


def size_of(values):
    """The largest magnitude, to divide by: all are 0 where a signal ends a run before its first iteration."""
    return abs(values).max() or 1


def places(point):
    """The number of the place of each point: points of several elements may be at one."""
    grid = numpy.rint((point - point.min(axis=0)) / (1e-7 * numpy.ptp(point, axis=0).max())).astype(int)
    return numpy.unique(grid, axis=0, return_inverse=True)[1].ravel()


def moduli_of(material):
    """Of a material of the summary [9, 9], which makes rows of stresses of rows of strains, both tensors."""
    d = numpy.zeros((6, 6))  # by xx, yy, zz, yz, zx, xy
    if "elasticity" in material:
        d[numpy.triu_indices(6)] = material["elasticity"]
        d += numpy.triu(d, 1).T
    else:
        young, poisson = material["young"], material["poisson"]
        shear = young / (2 * (1 + poisson))
        d[:3, :3] = 2 * shear * poisson / (1 - 2 * poisson)
        d[range(6), range(6)] += numpy.array(3 * [2 * shear] + 3 * [shear])
    six = [0, 5, 4, 5, 1, 3, 4, 3, 2]
    return d[six][:, six]


def check_elements(run, report, fields):
    number, said = fields["element"], {one["order"]: one for one in run.problem["orders"]}
    first, count = numpy.unique(number, return_index=True, return_counts=True)[1:]
    samples, orders = numpy.rint(count ** (1 / 3)).astype(int), fields["order"][first]
    report.same("elements of each order", [(orders == p).sum() for p in said],
                [one["elements"] for one in said.values()], 0)
    straight = run.problem["geometry"] == "trilinear"
    require((samples >= orders).all() and (straight or samples.min() >= 4), "strains, energy, forces",
            "--samples are fewer than order or shape ask for")
    exact = 1e-7 if straight else 2e-2  # samples follow a map that is no polynomial to about this
    start = numpy.full(len(count), len(fields.point))
    numpy.minimum.at(start, number, fields.cell.min(axis=1))
    materials = run.problem.get("materials") or [run.problem["material"]]
    moduli = [moduli_of(one) for one in materials]
    groups = [samples_of(n, start[(samples == n) & (orders == p)], fields, said[p]["quadrature_points_per_axis"], moduli)
              for n, p in sorted(set(zip(samples.tolist(), orders.tolist())))]
    folded, density, stress, material, energy, force, corner = zip(*groups)
    report.true("no element is folded", not any(folded))
    report.bound("strain_energy_density", density, exact)
    report.bound("stress = D strain", stress, exact)
    report.bound("D is that of the material" + ("s" if len(moduli) > 1 else ""), material, exact if straight else 5e-2)
    # An error in the energy norm is twice as large in the energy.
    report.same("strain energy", sum(energy), run.results["strain_energy"],
                max(exact, 2 * run.tolerance) if run.in_energy else exact)
    check_vertices(run, report, fields, numpy.concatenate(force), numpy.concatenate(corner),
                   max(exact, 1000 * run.tolerance))


def samples_of(n, start, fields, points, materials):
    """Of elements with (n + 1)^3 samples from `start` on: whether one is folded, misfits of energy density, stress, and
    stress by the moduli of the nearest of the materials, the energy, and the forces at their vertices [elements, 8, 3],
    and which samples these are."""
    numbers = numpy.arange((n + 1) ** 3)
    nodes, ends = start[:, None] + numbers, numbers.reshape(3 * [n + 1])[::n, ::n, ::n].ravel()
    point, u, shape = fields.point[nodes], fields["displacement"][nodes], (len(nodes), -1, 9)
    stress, density = fields["stress"][nodes][TENSOR].reshape(shape), fields["strain_energy_density"][nodes]
    slope = slopes(n, numpy.linspace(-1, 1, n + 1))
    strain = strains(u, slope, jacobians(point, slope)[0]).reshape(shape)
    moduli = numpy.linalg.pinv(strain, rcond=1e-9) @ stress
    misfits = [abs((strain * stress).sum(axis=2) / 2 - density).max() / size_of(density),
               abs(strain @ moduli - stress).max() / size_of(stress),
               numpy.min([abs(strain @ one - stress).max(axis=(1, 2)) for one in materials], axis=0).max() / size_of(stress)]
    at, weight = numpy.polynomial.legendre.leggauss(points)
    slope, weights = slopes(n, at), numpy.einsum("i,j,k->ijk", weight, weight, weight).ravel()
    inverse, volume = jacobians(point, slope)
    volume *= numpy.sign(volume[:, :1])  # axes of the samples may be those of the element in another order
    strain, folded = strains(u, slope, inverse).reshape(shape), (volume <= 0).any()
    stress = strain @ moduli * (volume * weights)[:, :, None]
    force = numpy.einsum("paj,epji->eai", slopes(1, at), inverse @ stress.reshape(inverse.shape), optimize=True)
    return folded, *misfits, (strain * stress).sum() / 2, force, nodes[:, ends]


def check_vertices(run, report, fields, force, corner, bound):
    """Inside the body the forces of elements balance; on planes they are the reactions."""
    point, u, document, loads = fields.point, fields["displacement"], run.input, run.input.get("loads", [])
    place, slack = places(point[corner.ravel()]).reshape(-1, 8), 1e-9 * numpy.ptp(point, axis=0).max()
    at = point[corner.ravel()[numpy.unique(place, return_index=True)[1]]]
    total = assemble(place, force, len(at))
    report.same("vertices", len(at), run.problem["vertices"], 0)
    faces = numpy.sort(place[:, FACES].reshape(-1, 4), axis=1)
    faces, times = numpy.unique(faces, axis=0, return_counts=True)
    inner = numpy.setdiff1d(place, faces[times == 1])
    if not run.done:
        report.skip("balance of inner vertices", "the iteration ended early")
    elif not document or any("body_force" in one or "vertices" in one for one in loads):
        report.skip("balance of inner vertices", "loads may act there")
    else:
        report.bound("balance of inner vertices", abs(total[inner]).max(initial=0) / size_of(force), bound)
    loaded = [one.get("plane", "").split("=") for one in loads]
    for one, said in zip(document.get("supports", []), run.results["reactions"]):
        with report.part("supports"):
            require("plane" in one, said["support"], "it is no plane")
            axis, here = "xyz".index(one["plane"][0]), float(one["plane"][2:])
            held = ["xyz".index(c) for c in one.get("components", "xyz")]
            misfit = (u - one.get("displacement", [0, 0, 0]))[abs(point[:, axis] - here) <= slack][:, held]
            report.bound("displacement of " + said["support"], misfit / size_of(u), 1e-9)
            require(all(load[0] == one["plane"][0] and float(load[1]) != here for load in loaded),
                    "reaction of " + said["support"], "loads may act on its vertices")
            found = numpy.isin(range(3), held) * total[abs(at[:, axis] - here) <= slack].sum(axis=0)
            report.same("reaction of " + said["support"], found, said["force"], bound)
