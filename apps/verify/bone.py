# SPDX-License-Identifier: Apache-2.0
"""Checks of ossatura bone: the balance of forces in every free node, supports, energy, fields, statistics."""
import numpy
from numpy.linalg import norm

from elastic import MIDDLE, SIX, assemble, element_forces, jacobians, strains, stresses, von_mises
from files import pick, require

SINGLE = 6e-8  # rounding of a number in single precision
RATIOS = {"rotational_stiffness": "moment angle", "strain": "displacement height", "stress": "force area",
          "stiffness": "force displacement", "apparent_modulus": "stress strain"}


def check(run, report):
    if "strength" in run.results:
        check_strength(report, run.results["strength"])
        require(False, "everything else", "voxels have yielded, and what follows is of linear elasticity")
    require("remodelling" not in run.results, "everything else", "moduli are not those of the image any more")
    fields, poisson = run.fields(), run.problem["poisson"]
    require(is_written(run, "displacement"), "everything else", "displacements were not written")
    require(poisson["maximum"] - poisson["minimum"] <= 1e-7, "everything else",
            "Poisson's ratio varies and is not in the file")
    specimen = Specimen(run, report, fields)
    specimen.check_voxels()
    specimen.find_moduli()
    specimen.check_fields()
    specimen.check_forces()
    specimen.check_reactions()
    specimen.check_sections()


def is_written(run, name):
    return not {"all", name}.isdisjoint(run.options["fields"].split(","))


def for_plate(text, plate):
    """What an option says of one plate: VALUE, or upper=VALUE,lower=VALUE; the last holds."""
    values = [item.split("=")[-1] for item in text.split(",") if "=" not in item or item.startswith(plate + "=")]
    return values[-1] if values else "flat"


def check_strength(report, strength):
    """Works and loads from the curve of the steps."""
    steps = strength["steps"]
    require(steps, "strength", "no step was made")
    kind = ("moment", "angle") if "moment" in steps[0] else ("force", "displacement")
    force, moved = numpy.array([[0, 0]] + [pick(step, " ".join(kind)) for step in steps]).T
    if not any(step["halvings"] for step in steps):  # else there are points of the curve between the steps
        report.same("work done", numpy.sum(numpy.diff(moved) * (force[1:] + force[:-1])) / 2,
                    steps[-1]["external_work"], 1e-4)
    lost, part = (("dissipated_energy", "damaged_fraction") if "fracture_energy" in strength
                  else ("plastic_work", "plastic_fraction"))
    work, elastic, plastic = numpy.array([pick(step, "external_work elastic_energy " + lost) for step in steps]).T
    report.bound("work done less elastic and plastic", abs(work - elastic - plastic).max() / work.max(), 1e-3)
    report.true("plastic work and voxels do not decrease", (numpy.diff(plastic) >= 0).all()
                and (numpy.diff([step[part] for step in steps]) >= 0).all())
    most = abs(force).argmax()
    report.same("ultimate load", [force[most], moved[most]], pick(strength["ultimate"], " ".join(kind)), 0)
    if "yield" in strength:  # on the curve, or on the chord behind it where the curve bends between two steps
        at, said = abs(strength["yield"]["displacement"]), strength["yield"]["force"]
        found, behind = numpy.interp(at, abs(moved), force), numpy.searchsorted(abs(moved), at)
        if abs(said) > 1.01 * abs(found) and behind + 1 < len(moved):
            (a, b), (f, g) = abs(moved[behind:behind + 2]), force[behind:behind + 2]
            found = f + (g - f) * (at - a) / (b - a)
        report.same("yield load", found, said, 1e-9)


class Specimen:
    """Vectors are along the axes of the image, in mm from its lower corner."""

    def __init__(self, run, report, fields):
        self.run, self.report, self.fields, self.cell = run, report, fields, fields.cell
        self.problem, self.results, self.poisson = run.problem, run.results, run.problem["poisson"]["minimum"]
        self.turn = numpy.array(self.problem["direction"], float)  # column d is axis d of the image
        self.point, self.edge = (fields.point - self.problem["origin"]) @ self.turn, self.problem["spacing"]
        if numpy.linalg.det(self.turn) < 0:  # hexahedra are of positive volume in the world
            self.cell = self.cell[:, [4, 5, 6, 7, 0, 1, 2, 3]]
        self.u, self.held = fields["displacement"] @ self.turn, (fields["held"][:, None] & [1, 2, 4]) > 0
        self.bone = fields["cap"] == 0 if "cap" in fields else numpy.ones(len(self.cell), bool)
        self.load = fields["load"] @ self.turn if "load" in fields else 0 * self.u
        self.corner = self.point[self.cell[:1]]  # all are congruent

    def check_voxels(self):
        report, site = self.report, self.point / self.edge
        low = site[self.cell].min(axis=1, keepdims=True)
        shape = site[self.cell] - low
        counts = [len(numpy.unique(numpy.rint(x).astype(int), axis=0)) for x in (low[:, 0], shape[0])]
        report.same("elements, nodes, held", [len(self.cell), len(self.point), self.held.sum()],
                    pick(self.problem, "elements nodes held_dofs"), 0)
        report.bound("voxels are cubes on a lattice",
                     [abs(misfit).max() for misfit in (site - numpy.rint(site), shape - shape[0])], 1e-6)
        report.true("each voxel is there once", counts == [len(self.cell), 8])
        report.same("volume of the bone", self.bone.sum() * self.edge ** 3, self.problem["bone_volume"])

    def find_moduli(self):
        """Young's moduli: of the file, one for all, or those that make the energy densities."""
        said, fields = pick(self.problem["modulus"], "minimum maximum mean"), self.fields
        self.strain = strains(self.u[self.cell], MIDDLE[8], jacobians(self.corner, MIDDLE[8])[0])
        self.stress = stresses(self.strain, 1, self.poisson)  # of modulus 1
        self.energy = (self.strain * self.stress).sum(axis=(1, 2)) / 2
        self.young = fields["modulus"] if "modulus" in fields else numpy.full(len(self.cell), said[2])
        self.derived = "modulus" not in fields and (said[0] != said[1] or not self.bone.all())
        self.exact = 2 * SINGLE if self.derived else 1e-12
        # Less strain is rounding of displacements: these voxels move as a plate does, or hang on others without a load,
        # and their moduli do nothing.
        self.known = (self.energy > (1e-8 * abs(self.u).max() / self.edge) ** 2) | (not self.derived)
        if self.derived:
            self.young[self.known] = fields["sed"][self.known] / self.energy[self.known]
        if not self.known.all():
            self.report.skip("moduli", "they are not in the file (--fields modulus)")
        else:
            young = self.young[self.bone]
            self.report.same("moduli", [young.min(), young.max(), young.mean()], said, max(1e-9, 2 * self.exact))
        self.stress *= self.young[:, None, None]

    def check_forces(self):
        report, u, free, load, said = self.report, self.u, ~self.held, self.load, self.run.summary["residual"]["true"]
        force, of_held = (element_forces(self.corner, v[self.cell], self.young, self.poisson)
                          for v in (u, numpy.where(free, 0, u)))
        self.force, start, magnitude = (assemble(self.cell, x, len(u)) for x in (force, of_held, abs(force)))
        start = norm((load - start)[free])
        residual, rounding = norm((load - self.force)[free]) / start, self.exact * norm(magnitude[free]) / start
        if said is None:  # a signal ended the iteration, and nobody computed it
            report.true("residual, less the summary's", self.run.status == "interrupted", "the summary has none")
        else:
            report.bound("residual, less the summary's", residual - said, 0.01 * said + rounding)
        energy = (u * self.force).sum() / 2
        report.same("strain energy", energy, self.results["strain_energy"], 1e-9 + 2 * self.exact)
        if self.run.status == "converged":
            outer, arm = numpy.where(free, load, self.force), self.point - self.point.mean(axis=0)
            moment, size, work = numpy.cross(arm, outer), norm(outer, axis=1), u * outer
            report.bound("residual", residual, 1.001 * self.run.tolerance + rounding)
            for name, unbalanced, scale in (("balance of forces", outer.sum(axis=0), size.sum()),
                                            ("balance of moments", moment.sum(axis=0), size @ norm(arm, axis=1)),
                                            ("2 U = F u", 2 * energy - work.sum(), max(2 * energy, abs(work).sum()))):
                report.bound(name, unbalanced / scale, self.run.balance + rounding)

    def check_reactions(self):
        report, reactions, response = self.report, self.results["reactions"], self.results.get("response") or {}
        if self.results["test"] == "symshear":
            work = 2 * self.results["strain_energy"] / (response["strain"] * response["height"] * response["area"])
            report.same("response: stress", work, response["stress"], self.run.balance + 1e-9)
        for name in [name for name in RATIOS if response.keys() >= {name, *RATIOS[name].split()}]:
            over, under = pick(response, RATIOS[name])
            report.same(f"response: {name}", over / under, response[name], 1e-12)
        if "mask_apparent_modulus" in response:
            report.same("response: mask_apparent_modulus", response["force"] / response["mask_area"] / response["strain"],
                        response["mask_apparent_modulus"], 1e-12)
        for kind in [kind for kind in ("force", "moment") if kind in response]:
            felt = [one[kind] for one in reactions]
            if self.results["test"] == "bending":  # both plates turn
                felt = [[(upper - lower) / 2 for lower, upper in zip(*felt[:2])]]
            report.true("response: " + kind, any(response[kind] in one for one in felt))
        if "moment" in response and "strength" not in self.results:
            report.same("response: moment times angle", 2 * self.results["strain_energy"],
                        response["moment"] * response["angle"], self.run.balance + 1e-6)
        require(self.results["test"] != "symshear", "reactions", "sides of a symmetric shear share nodes")
        groups = self.nodes_of_file() if self.results["test"] == "file" else self.nodes_of_plates()
        require(self.results["test"] != "confined", "reactions", "walls of a confined test share nodes")
        report.same("nodes of supports", [group.any(axis=1).sum() for group in groups],
                    [one["nodes"] for one in reactions], 0)
        for group, one in zip(groups, reactions):
            part = numpy.where(group, self.force - self.load, 0)
            moment, size = numpy.cross(self.point - one["centre"], part), abs(part).sum()
            for name, values, scale in (("force", part, size), ("moment", moment, size * self.point.max())):
                report.same(f"reaction: {one['support']}: {name}", values.sum(axis=0), one[name],
                            1e-9 + 10 * self.exact, scale)

    def nodes_of_file(self):
        """The held components of each support, which differ in mask or displacement."""
        key = numpy.column_stack([self.held @ [1, 2, 4], numpy.where(self.held, self.u, 0)])
        key = numpy.round(key, 12 - int(numpy.ceil(numpy.log10(abs(self.u).max())))) + 0.0
        kinds = numpy.unique(key[key[:, 0] > 0], axis=0)
        return [(key == one).all(axis=1)[:, None] & self.held for one in kinds] if len(kinds) <= 8 else [self.held]

    def nodes_of_plates(self):
        """The held components of the lower and of the upper plate, by the options."""
        options, test = self.run.options, self.results["test"]
        test = options["test"] if test.startswith("shear") else test
        axis, along = ("xyz".index(c) for c in (test[6:] if test.startswith("shear") else 2 * options["axis"]))
        place = self.point[:, axis] - self.point[:, axis].min()
        depth = self.edge * (numpy.floor(float(options["plate-depth"]) / self.edge + 1e-9) + 0.01)
        plates = [place <= depth, place >= place.max() - depth]
        require("plate-labels" not in options, "reactions", "plates touch labels of the mask")
        for upper, name in enumerate(("lower", "upper")):
            if for_plate(options.get("surface", "flat"), name) == "visible":
                reach = float(for_plate(str(options["surface-depth"]), name)) + 0.01 * self.edge
                plates[upper] = self.is_seen(axis, upper) & (place >= place.max() - reach if upper else place <= reach)
        lower, upper = plates
        if test not in ("torsion", "bending"):
            move = float(options["displacement" if "displacement" in options else "strain"])
            move *= 1 if "displacement" in options else place.max()
            misfits = [self.u[lower][:, along], self.u[upper][:, along] - move]
            self.report.bound("displacement of the plates", numpy.concatenate(misfits) / move, 1e-9)
        self.report.true("plates are held", all(self.held[plate].any(axis=1).all() for plate in plates))
        # What holds a specimen between smooth plates against its motions as a whole is of no plate.
        is_smooth = test == "uniaxial" or (test == "axial" and options.get("lateral") == "free")
        components = numpy.arange(3) == axis if is_smooth else numpy.ones(3, bool)
        return [plate[:, None] & self.held & components for plate in plates]

    def check_sections(self):
        """Forces through the layers of voxels across the axis, from stresses, and what labels have of them."""
        said = self.results.get("sections")
        if not said:
            return
        axis, place = "xyz".index(said["axis"]), numpy.array(said["position"])
        centre = self.point[self.cell].mean(axis=1)[:, axis]
        layer = numpy.rint((centre - place[0]) / self.edge).astype(int)
        force = numpy.bincount(layer, self.stress[:, axis, axis] * self.edge ** 2, len(place))
        self.report.same("sections: force of each layer", force, said["force"], 1e-5)
        if self.bone.all():
            self.report.same("sections: labels make the force", numpy.sum(list(said["labels"].values()), axis=0),
                             said["force"])
        free = slice(said["first_free"], said["last_free"] + 1)
        self.report.same("sections: balance", numpy.array(said["force"])[free], 0 * force[free] + said["reaction"], 1e-3)
        for end, shares in said.get("share", {}).items():
            at = {"lower": free.start, "middle": (free.start + free.stop) // 2, "upper": free.stop - 1}[end]
            self.report.same(f"sections: share, {end}", list(shares.values()),
                             [said["labels"][label][at] / said["force"][at] for label in shares])

    def is_seen(self, axis, upper):
        """Of each node, whether it is one of an outer face of the voxels of its column."""
        site = numpy.rint(self.point / self.edge).astype(int)
        low, (a, b) = site[self.cell].min(axis=1), ((axis + 1) % 3, (axis + 2) % 3)
        end = {}
        for row in low[numpy.argsort(low[:, axis])[::1 if upper else -1]]:  # the last one stays
            end[row[a], row[b]] = row[axis] + upper
        return numpy.array([any(end.get((s[a] - i, s[b] - j)) == s[axis] for i in (0, 1) for j in (0, 1))
                            for s in site])

    def check_fields(self):
        """Fields are those of the displacements, along the axes of the world; statistics are those of the fields, or
        of what they would be."""
        strain, stress = ((self.turn @ tensor @ self.turn.T)[SIX] for tensor in (self.strain, self.stress))
        found = {"strain": strain * [1, 1, 1, 2, 2, 2], "stress": stress, "sed": self.young * self.energy,
                 "von_mises": von_mises(stress), "effective_strain": numpy.sqrt(2 * self.energy)}
        for name, values in found.items():
            written, size = is_written(self.run, name), norm(values.reshape(len(values), -1), axis=1)
            found[name] = self.fields[name] if written else values
            known = self.known | (name in ("strain", "effective_strain"))
            if written and name == "sed" and self.derived:
                self.report.skip(name, "it gives the moduli; von_mises has to agree")
            elif written and not known.any():
                self.report.skip(name, "moduli are not in the file (--fields modulus)")
            elif written:
                misfit = (found[name] - values)[known].T / (size[known] + 1e-6 * size.max())
                self.report.bound(name, misfit, 1e-6)
            if name in self.results:
                least, most = pick(self.problem["modulus"], "minimum maximum")  # of bone whose moduli are not known
                doubt = 0 if written else most / least * abs(values[~known]).max(initial=0)
                self.check_statistics(name, found[name][self.bone], 1e-9 if written else 1e-6, doubt)
        if self.results.get("pistoia"):
            said, response = self.results["pistoia"], self.results.get("response", {})
            kinds = [kind for kind in ("force", "moment") if kind in said]
            at = numpy.quantile(found["effective_strain"][self.bone], 1 - said["volume"])
            self.report.same("pistoia: strain, factor", [at / said["strain_at_volume"],
                                                         said["critical_strain"] / at / said["factor"]], [1, 1], 1e-7)
            self.report.same("pistoia: load", [said["factor"] * response[kind] for kind in kinds],
                             [said[kind] for kind in kinds], 1e-12)

    def check_statistics(self, name, values, precise, doubt):
        """To a part `precise`, and to `doubt` of values."""
        said, ranks = self.results[name], self.results[name]["percentiles"]
        numbers = {"count": len(values), "mean": values.mean(), "sd": values.std(), "minimum": values.min(),
                   "maximum": values.max(), **{rank: numpy.percentile(values, float(rank)) for rank in ranks}}
        for label, number in numbers.items():
            self.report.same(f"{name}: {label}", number, {**said, **ranks}[label], precise,
                             max(1e-3 * values.max(), doubt / precise))
