# SPDX-License-Identifier: Apache-2.0
"""Checks of ossatura pfem. The samples of an element fix its polynomials: strains follow from displacements,
moduli from strains and stresses, and then energies, forces at vertices and reactions by quadrature."""
import numpy

from elastic import SIGNS, shape_derivatives, von_mises
from files import Fields

# The six strains (xx yy zz xy yz xz, shear doubled) of the derivatives du_i/dx_j.
STRAIN = numpy.zeros((6, 3, 3))
for row, (i, j) in enumerate(((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2))):
    STRAIN[row, i, j] = STRAIN[row, j, i] = 1
FACES = [[0, 1, 2, 3], [4, 5, 6, 7], [0, 1, 4, 5], [2, 3, 6, 7], [0, 3, 4, 7], [1, 2, 5, 6]]


def check(run, report):
    results, problem, path = run.results, run.problem, run.output(".hdf")
    forces = numpy.array([one["force"] for one in results["reactions"]])
    total, scale = forces.sum(axis=0), max(abs(forces).sum(axis=0).max(), numpy.abs(results["total_load"]).max())
    report.same("sum of reactions", total, results["total_reaction"], 1e-9, scale)
    report.bound("balance of forces", abs(total + results["total_load"]).max() / scale, run.balance)
    report.same("elements, dofs", [sum(one["elements"] for one in problem["orders"]),
                                   sum(problem["dofs_by_part"].values())], [problem["elements"], problem["dofs"]], 0)
    if path is None:
        report.skip("fields", "none were written")
        return
    fields = Fields(path)
    u, mises = fields["displacement"], fields["von_mises"]
    report.same("samples", len(u), results["samples"], 0)
    for name, values in (("max_displacement", numpy.linalg.norm(u, axis=1)), ("max_von_mises", mises)):
        report.same(name, values.max(), results[name]["value"])
    report.bound("von_mises", abs(von_mises(fields["stress"]) - mises).max() / mises.max(), 1e-9)
    place = places(fields.point)
    order = numpy.argsort(place, kind="stable")
    first = order[numpy.searchsorted(place[order], place)]
    report.bound("continuity of displacements", abs(u - u[first]).max() / abs(u).max(), 1e-9)
    Elements(run, report, fields).check()


def places(point):
    """The number of the place of each point: points of several elements may be at one."""
    grid = numpy.rint((point - point.min(axis=0)) / (1e-7 * numpy.ptp(point, axis=0).max())).astype(int)
    return numpy.unique(grid, axis=0, return_inverse=True)[1].ravel()


def lagrange(samples, at):
    """Values and derivatives at `at` of the polynomials through equidistant points of [-1, 1]."""
    legendre = numpy.polynomial.legendre
    invert = numpy.linalg.inv(legendre.legvander(numpy.linspace(-1, 1, samples + 1), samples))
    slope = legendre.legder(numpy.eye(samples + 1))
    return legendre.legvander(at, samples) @ invert, legendre.legvander(at, samples - 1) @ slope @ invert


class Elements:
    def __init__(self, run, report, fields):
        self.run, self.report, self.fields = run, report, fields

    def check(self):
        run, report, number = self.run, self.report, self.fields.cells["element"]
        first, count = numpy.unique(number, return_index=True, return_counts=True)[1:]
        samples, orders = numpy.rint(count ** (1 / 3)).astype(int), self.fields.cells["order"][first]
        said = {one["order"]: one for one in run.problem["orders"]}
        report.same("elements of each order", [(orders == p).sum() for p in said],
                    [one["elements"] for one in said.values()], 0)
        straight = run.problem["geometry"] == "trilinear"
        if (samples < orders).any() or not straight and samples.min() < 4:
            report.skip("strains, energy, forces", "--samples are fewer than order or shape ask for")
            return
        exact = 1e-7 if straight else 2e-2  # samples follow a map that is no polynomial to about this
        start = numpy.full(len(count), len(self.fields.point))
        numpy.minimum.at(start, number, self.fields.cell.min(axis=1))
        found = []
        for n, p in sorted(set(zip(samples.tolist(), orders.tolist()))):
            nodes = start[(samples == n) & (orders == p)][:, None] + numpy.arange((n + 1) ** 3)
            found.append(self.of_group(n, nodes, said[p]["quadrature_points_per_axis"]))
        energy, misfit, folded, total, force, corner = zip(*found)
        report.true("no element is folded", not any(folded))
        report.bound("strain_energy_density", max(energy), exact)
        report.bound("stress = D strain", max(misfit), exact)
        report.same("strain energy", sum(total), run.results["strain_energy"], exact)
        self.check_vertices(numpy.concatenate(force).reshape(-1, 3), numpy.concatenate(corner).ravel(),
                            max(exact, 1000 * run.tolerance))

    def gradients(self, n, values, at):
        """d values / d xi [elements, points, components, 3] at the tensor points of `at`."""
        v, d = lagrange(n, at)
        grid = values.reshape(len(values), n + 1, n + 1, n + 1, 3)
        parts = [numpy.einsum("ai,bj,ck,ekjix->ecbax", *(d if axis == c else v for c in range(3)), grid,
                              optimize=True) for axis in range(3)]
        return numpy.stack(parts, axis=-1).reshape(len(values), -1, 3, 3)

    def strains(self, n, nodes, at):
        """Strains [elements, points, 6], inverse Jacobians and determinants."""
        jacobian = self.gradients(n, self.fields.point[nodes], at)
        inverse = numpy.linalg.inv(jacobian)
        slope = self.gradients(n, self.fields["displacement"][nodes], at) @ inverse
        return numpy.einsum("rij,epij->epr", STRAIN, slope), inverse, numpy.linalg.det(jacobian)

    def of_group(self, n, nodes, points):
        """Misfits of energy density and stress, whether an element is folded, the energy, and forces of elements
        at their vertices [elements, 8, 3], and which samples these are."""
        strain = self.strains(n, nodes, numpy.linspace(-1, 1, n + 1))[0]
        stress, energy = self.fields["stress"][nodes], self.fields["strain_energy_density"][nodes]
        misfit = abs((strain * stress).sum(axis=2) / 2 - energy).max() / energy.max()
        moduli = numpy.linalg.pinv(strain, rcond=1e-9) @ stress
        other = abs(strain @ moduli - stress).max() / abs(stress).max()
        at, weight = numpy.polynomial.legendre.leggauss(points)
        strain, inverse, volume = self.strains(n, nodes, at)
        sign = numpy.sign(volume[:, :1])  # axes of the samples may be those of the element in another order
        folded = (volume * sign <= 0).any()
        volume = volume * sign * numpy.einsum("i,j,k->ijk", weight, weight, weight).ravel()
        stress = strain @ moduli
        slope = numpy.array([shape_derivatives(numpy.array([x, y, z])) for z in at for y in at for x in at])
        force = numpy.einsum("paj,epji,epik,ep->eak", slope, inverse, numpy.einsum("rij,epr->epij", STRAIN, stress),
                             volume, optimize=True)
        corner = ((SIGNS > 0) * n) @ [1, n + 1, (n + 1) ** 2]
        return misfit, other, folded, ((strain * stress).sum(axis=2) * volume).sum() / 2, force, nodes[:, corner]

    def check_vertices(self, force, corner, bound):
        """Inside the body the forces of elements balance; on planes they are the reactions."""
        report, document, point = self.report, self.run.input, self.fields.point
        place = places(point[corner])
        total = numpy.stack([numpy.bincount(place, force[:, c]) for c in range(3)], axis=1)
        at = numpy.zeros(total.shape)
        at[place] = point[corner]
        report.same("vertices", len(at), self.run.problem["vertices"], 0)
        faces, times = numpy.unique(numpy.sort(place.reshape(-1, 8)[:, FACES].reshape(-1, 4), axis=1), axis=0,
                                    return_counts=True)
        inner = numpy.setdiff1d(place, faces[times == 1])
        if not document or any("body_force" in one or "vertices" in one for one in document.get("loads", [])):
            report.skip("balance of inner vertices", "loads may act there")
        else:
            report.bound("balance of inner vertices", abs(total[inner]).max(initial=0) / abs(force).max(), bound)
        loaded = [one.get("plane", "").split("=") for one in document.get("loads", [])]
        slack = 1e-9 * numpy.ptp(point, axis=0).max()
        for one, said in zip(document.get("supports", []), self.run.results["reactions"]):
            if "plane" not in one:
                report.skip(said["support"], "it is no plane")
                continue
            axis, held = "xyz".index(one["plane"][0]), ["xyz".index(c) for c in one.get("components", "xyz")]
            here, wanted = float(one["plane"][2:]), numpy.array(one.get("displacement", [0, 0, 0]), float)
            u = self.fields["displacement"]
            misfit = (u - wanted)[abs(point[:, axis] - here) <= slack][:, held]
            report.bound("displacement of " + said["support"], abs(misfit).max() / abs(u).max(), 1e-9)
            if all(load[0] == one["plane"][0] and float(load[1]) != here for load in loaded):
                found = numpy.isin(range(3), held) * total[abs(at[:, axis] - here) <= slack].sum(axis=0)
                report.same("reaction of " + said["support"], found, said["force"], bound)
            else:
                report.skip("reaction of " + said["support"], "loads may act on its vertices")
