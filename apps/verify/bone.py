# SPDX-License-Identifier: Apache-2.0
"""Checks of ossatura bone: the balance of forces in every free node, supports, energy, fields, statistics."""
import numpy

from elastic import CENTRE, assemble, element_forces, gradients, held_bits, lame_of, strain_stress, von_mises
from files import Fields

SIX = (..., [0, 1, 2, 0, 1, 0], [0, 1, 2, 1, 2, 2])  # xx, yy, zz, xy, yz, xz of a tensor
SINGLE = 6e-8  # rounding of a number in single precision


def check(run, report):
    path, poisson = run.output(".hdf"), run.problem["poisson"]
    if path is None or not is_written(run, "displacement"):
        report.skip("everything else", "displacements were not written")
    elif poisson["maximum"] - poisson["minimum"] > 1e-7:
        report.skip("everything else", "Poisson's ratio varies and is not in the file")
    else:
        Specimen(run, report, Fields(path)).check()


def is_written(run, name):
    return not {"all", name}.isdisjoint(run.parameters["fields"].split(","))


class Specimen:
    """Vectors are along the axes of the image, in mm from its lower corner."""

    def __init__(self, run, report, fields):
        self.run, self.report, self.fields, self.cell = run, report, fields, fields.cell
        self.problem, self.results, self.options = run.problem, run.results, run.parameters
        self.turn = numpy.array(self.problem["direction"], float)  # column d is axis d of the image
        self.point, self.edge = (fields.point - self.problem["origin"]) @ self.turn, self.problem["spacing"]
        self.u, self.held = fields["displacement"] @ self.turn, held_bits(fields["held"])
        self.load = fields["load"] @ self.turn if "load" in fields.points else 0 * self.u

    def check(self):
        self.report.same("elements, nodes, held", [len(self.cell), len(self.point), self.held.sum()],
                         [self.problem[key] for key in ("elements", "nodes", "held_dofs")], 0)
        site = self.point / self.edge
        low = site[self.cell].min(axis=1, keepdims=True)
        shape = site[self.cell] - low
        self.report.bound("voxels are cubes on a lattice",
                          max(abs(site - numpy.rint(site)).max(), abs(shape - shape[:1]).max()), 1e-6)
        counts = [len(numpy.unique(numpy.rint(x).astype(int), axis=0)) for x in (low[:, 0], shape[0])]
        self.report.true("each voxel is there once", counts == [len(self.cell), 8])
        self.report.same("volume of the bone", len(self.cell) * self.edge ** 3, self.problem["bone_volume"])
        self.corner = self.point[self.cell[:1]]  # all are congruent
        self.find_moduli()
        self.check_forces()
        self.check_fields()

    def find_moduli(self):
        """Young's moduli: of the file, one for all, or those that make the energy densities."""
        said, self.poisson = self.problem["modulus"], self.problem["poisson"]["minimum"]
        lame = lame_of(numpy.ones(len(self.cell)), self.poisson)
        self.strain, self.stress = strain_stress(gradients(self.corner, CENTRE)[0], self.u[self.cell], *lame)
        self.energy = (self.strain * self.stress).sum(axis=(1, 2)) / 2  # of modulus 1
        self.exact, self.derived, self.young = 1e-12, False, numpy.full(len(self.cell), said["mean"])
        if "modulus" in self.fields.cells:
            self.young = self.fields["modulus"]
        elif said["minimum"] != said["maximum"]:
            # Less strain is rounding of displacements: plates move these voxels, and moduli do nothing.
            strained = self.energy > (1e-8 * abs(self.u).max() / self.edge) ** 2
            self.young[strained] = self.fields["sed"][strained] / self.energy[strained]
            self.exact, self.derived = 2 * SINGLE, True
        if self.derived and not strained.all():
            self.report.skip("moduli", "they are not in the file (--fields modulus)")
        else:
            self.report.same("moduli", [self.young.min(), self.young.max(), self.young.mean()],
                             [said["minimum"], said["maximum"], said["mean"]], max(1e-9, 2 * self.exact))
        self.stress *= self.young[:, None, None]

    def forces_of(self, u):
        """K u, and the sum of the magnitudes that it is made of, [nodes, 3]."""
        force = element_forces(self.corner, u[self.cell], *lame_of(self.young, self.poisson))
        return assemble(self.cell, force, len(u)), assemble(self.cell, abs(force), len(u))

    def check_forces(self):
        report, free, load = self.report, ~self.held, self.load
        (force, magnitude), norm = self.forces_of(self.u), numpy.linalg.norm
        start = norm((load - self.forces_of(numpy.where(free, 0, self.u))[0])[free])
        residual, rounding = norm((load - force)[free]) / start, self.exact * norm(magnitude[free]) / start
        said, outer = self.run.summary["residual"]["true"], numpy.where(free, load, force)
        energy = (self.u * force).sum() / 2
        report.bound("residual, less the summary's", residual - said, 0.01 * said + rounding)
        report.same("strain energy", energy, self.results["strain_energy"], 1e-9 + 2 * self.exact)
        if self.run.status == "converged":
            report.bound("residual", residual, 1.001 * self.run.tolerance + rounding)
            arm, bound, work = self.point - self.point.mean(axis=0), self.run.balance + rounding, self.u * outer
            size = norm(outer, axis=1)
            report.bound("balance of forces", abs(outer.sum(axis=0)).max() / size.sum(), bound)
            report.bound("balance of moments", abs(numpy.cross(arm, outer).sum(axis=0)).max()
                         / (norm(arm, axis=1) * size).sum(), bound)
            report.bound("2 U = F u", (2 * energy - work.sum()) / max(2 * energy, abs(work).sum()), bound)
        reactions, groups, bound = self.results["reactions"], self.supports(), 1e-9 + 10 * self.exact
        if groups:
            report.same("nodes of supports", [group.any(axis=1).sum() for group in groups],
                        [one["nodes"] for one in reactions], 0)
        else:
            report.skip("reactions", "walls of a confined test share nodes")
        for group, one in zip(groups, reactions):
            part = numpy.where(group, force - load, 0)
            for name, values, arm in (("force", part, 1),
                                      ("moment", numpy.cross(self.point - one["centre"], part), self.point.max())):
                report.same(f"reaction: {one['support']}: {name}", values.sum(axis=0), one[name], bound,
                            abs(part).sum() * arm)
        self.check_response(self.results.get("response") or {}, reactions)

    def supports(self):
        """The held components of each support: of plates by the options, else by mask and displacement."""
        test = self.results["test"]
        if test == "file":
            key = numpy.column_stack([self.held @ [1, 2, 4], numpy.where(self.held, self.u, 0)])
            key = numpy.round(key, 12 - int(numpy.ceil(numpy.log10(abs(self.u).max())))) + 0.0
            kinds = numpy.unique(key[key[:, 0] > 0], axis=0)
            groups = [(key == one).all(axis=1)[:, None] & self.held for one in kinds]
            return groups if len(groups) <= 8 else [self.held]
        test = self.options["test"] if test.startswith("shear") else test
        axis = along = "xyz".index(test[6] if test.startswith("shear") else self.options["axis"])
        place, given = self.point[:, axis] - self.point[:, axis].min(), self.options["displacement"]
        depth = self.edge * (numpy.floor(float(self.options["plate-depth"]) / self.edge + 1e-9) + 0.01)
        lower, upper = place <= depth, place >= place.max() - depth
        if test not in ("torsion", "bending"):
            along = "xyz".index(test[7]) if test.startswith("shear") else axis
            move = float(self.options["strain"]) * place.max() if given is None else float(given)
            self.report.bound("displacement of the plates", max(
                abs(self.u[lower][:, along]).max(), abs(self.u[upper][:, along] - move).max()) / abs(move), 1e-9)
        self.report.true("plates are held", self.held[lower].any(axis=1).all() and self.held[upper].any(axis=1).all())
        return [] if test == "confined" else [plate[:, None] & self.held for plate in (lower, upper)]

    def check_response(self, said, reactions):
        for name, over, under in (("rotational_stiffness", "moment", "angle"), ("strain", "displacement", "height"),
                                  ("stress", "force", "area"), ("stiffness", "force", "displacement"),
                                  ("apparent_modulus", "stress", "strain")):
            if name in said:
                self.report.same(f"response: {name}", said[over] / said[under], said[name], 1e-12)
        for kind in {"force", "moment"} & set(said):
            self.report.true("response: " + kind, any(said[kind] in one[kind] for one in reactions))

    def check_fields(self):
        """Fields are those of the displacements; statistics are those of the fields, or of what they would be."""
        report, found = self.report, {"sed": self.young * self.energy, "von_mises": von_mises(self.stress[SIX]),
                                      "effective_strain": numpy.sqrt(2 * self.energy)}
        for name, tensor, shear in (("strain", self.strain, 2), ("stress", self.stress, 1)):
            if is_written(self.run, name):  # along the axes of the world
                world = (self.turn @ tensor @ self.turn.T)[SIX] * [1, 1, 1, shear, shear, shear]
                report.bound(name, abs(self.fields[name] - world).max() / abs(world).max(), 1e-6)
        for name, values in found.items():
            said, precise = self.results[name], 1e-6
            if is_written(self.run, name):
                precise, here = 1e-9, self.fields[name]
                if name == "sed" and self.derived:
                    report.skip(name, "it gives the moduli; von_mises has to agree")
                else:
                    report.bound(name, (abs(here - values) / (values + 1e-6 * values.max())).max(), 1e-6)
                values = found[name] = here
            numbers = {"count": len(values), "mean": values.mean(), "sd": values.std(), "minimum": values.min(),
                       "maximum": values.max()}
            ranks = said["percentiles"]
            numbers.update(zip(ranks, numpy.percentile(values, [float(rank) for rank in ranks])))
            for label, number in numbers.items():
                report.same(f"{name}: {label}", number, {**said, **ranks}[label], precise, 1e-3 * values.max())
        said = self.results.get("pistoia")
        if said:
            at = float(numpy.quantile(found["effective_strain"], 1 - said["volume"]))
            loads = [(said["factor"] * self.results["response"][kind], said[kind]) for kind in ("force", "moment")
                     if kind in said]
            report.same("pistoia: strain, factor", [at / said["strain_at_volume"],
                                                    said["critical_strain"] / at / said["factor"]], [1, 1], 1e-7)
            report.same("pistoia: load", *zip(*loads), 1e-12)
