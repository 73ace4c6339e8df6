# SPDX-License-Identifier: Apache-2.0
"""Checks of ossatura softbody: supports, motion and contact of the frames, energies, the equation of a step."""
import numpy

from elastic import CENTRE, assemble, element_forces, gradients, lame_of, volumes
from files import CORNERS, Fields, NotThere, read_json


def check(run, report):
    steps, results = run.results["steps"], run.results
    if not steps["step"]:
        report.skip("everything else", "no step was done")
        return
    for name in ("penetration", "complementarity", "friction_residual", "contact_residual"):
        if steps["every"] == 1:
            report.same(f"worst {name}", max(steps[name]), results[f"worst_{name}"], 1e-12)
    energy = dict(results["energy"]["final"])
    report.same("energy: total", energy.pop("total"), sum(energy.values()), 1e-12, sum(map(abs, energy.values())))
    report.same("energy: last step", [steps[name][-1] for name in energy], list(energy.values()), 1e-12)
    path = run.output(".hdf.series")
    if path is None:
        report.skip("frames", "none were written")
    else:
        times = [one["time"] for one in read_json(path)["files"]]
        report.same("number, time of frames", [len(times), times[-1]], [results["frames"], results["last_time"]])
        Motion(run, report, [Fields(frame) for frame in run.frames(path)], times).check()


class Motion:
    def __init__(self, run, report, frames, times):
        self.run, self.report, self.frames, self.last = run, report, frames, frames[-1]
        first, step = frames[0], run.problem["time_step"]
        self.objects, self.scene = run.problem["objects"], run.input.get("objects", [])
        self.rest = first.point - first["displacement"]
        self.size = numpy.ptp(self.rest, axis=0).max()
        self.pairs = [k for k in range(1, len(frames)) if abs(times[k] - times[k - 1] - step) < 1e-6 * step]
        self.node, self.cell = numpy.zeros(len(self.rest), int), []  # of each object, [m, corners]
        for k in range(len(self.objects)):
            mine = numpy.flatnonzero(first.cells["object"] == k)
            self.cell.append(first.corners[first.offset[mine][:, None] + numpy.arange(CORNERS[first.types[mine[0]]])])
            self.node[self.cell[k]] = k
        report.same("elements and nodes", [len(cell) for cell in self.cell] + list(numpy.bincount(self.node)),
                    [one[key] for key in ("elements", "nodes") for one in self.objects], 0)

    def check(self):
        self.check_frames()
        if self.scene:
            self.read_scene()
            self.check_contact()
            self.check_energies()
        else:
            self.report.skip("supports, contact, energies", "the scene is not where it was")

    def check_frames(self):
        if any(one.corners.shape != self.last.corners.shape or (one.corners != self.last.corners).any() for one in self.frames):
            raise NotThere("frames are of different meshes")
        self.report.bound("displacement of every frame", max(
            abs(one.point - one["displacement"] - self.rest).max() for one in self.frames) / self.size, 1e-12)
        if self.run.results["halved_steps"] or not self.pairs:
            self.report.skip("positions by velocities", "steps were halved, or no two frames are a step apart")
        else:
            self.report.bound("positions by velocities", max(abs(
                self.frames[k].point - self.frames[k - 1].point - self.run.problem["time_step"] *
                self.frames[k]["velocity"]).max() for k in self.pairs) / self.size, 1e-12)
        for k, said in enumerate(self.run.results["objects"]):
            point, rest = self.last.point[self.node == k], self.rest[self.node == k]
            self.report.same(f"{said['name']}: place", [*point.mean(axis=0), *point.min(axis=0), *point.max(axis=0),
                                                        numpy.linalg.norm(point - rest, axis=1).max()],
                             said["mean_position"] + said["lower"] + said["upper"] + [said["largest_displacement"]],
                             1e-12, self.size)

    def chosen(self, k, choice):
        """Nodes of object k in a box, or by number."""
        mine = numpy.flatnonzero(self.node == k)
        low, high = numpy.reshape(choice.get("box", 6 * [0]), (2, 3)) + [[-1e-9 * self.size], [1e-9 * self.size]]
        inside = ((self.rest[mine] >= low) & (self.rest[mine] <= high)).all(axis=1)
        return mine[choice["nodes"]] if "nodes" in choice else mine[inside]

    def read_scene(self):
        """Supports, loads, and masses lumped at the nodes, to each the same part of its elements."""
        self.fixed, self.load = numpy.zeros(len(self.rest), bool), numpy.zeros(self.rest.shape)
        self.mass, totals = numpy.zeros(len(self.rest)), []
        for k, (one, cell) in enumerate(zip(self.scene, self.cell)):
            for choice in one.get("fixed", []):
                self.fixed[self.chosen(k, choice)] = True
            for choice in one.get("loads", []):
                nodes = self.chosen(k, choice)
                self.load[nodes] += choice.get("force", numpy.array(choice.get("total_force", 0)) / len(nodes))
            corner, count = self.rest[cell], cell.shape[1]
            size = volumes(corner) if count > 3 else one["material"]["thickness"] / 2 * numpy.linalg.norm(
                numpy.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]), axis=1)
            share = numpy.repeat(one.get("density", 1000) * size / count, count)
            mass = numpy.bincount(cell.ravel(), share, len(self.rest))
            self.mass += one["node_mass"] * (self.node == k) if "node_mass" in one else mass
            totals.append(self.mass[self.node == k].sum())
        self.report.same("masses", totals, [one["mass"] for one in self.objects])
        self.report.same("fixed nodes", numpy.bincount(self.node, self.fixed), [one["fixed_nodes"] for one in self.objects], 0)
        self.report.bound("motion of fixed nodes", max(abs(one.point - self.rest)[self.fixed].max(initial=0)
                                                       for one in self.frames), 0)

    def check_contact(self):
        worst, point = 0.0, numpy.concatenate([one.point[~self.fixed] for one in self.frames[1:]] or [[]])
        for kind, one in (item for obstacle in self.run.input.get("obstacles", []) for item in obstacle.items()):
            if kind == "plane":
                gap = (point - one["point"]) @ one["normal"] / numpy.linalg.norm(one["normal"])
            else:
                gap = numpy.linalg.norm(point - one["centre"], axis=1) - one["radius"]
            worst = max(worst, -gap.min())
        if self.run.problem["obstacles"]:
            self.report.bound("depth in obstacles", worst,
                              self.run.results["worst_penetration"] * (1 + 1e-6) + 1e-12 * self.size)

    def forces(self, lame, x, w, rest):
        """Sum of R K0 (R^T w - rest X), and the energy; R is the nearest rotation to the deformation in the
        middle of an element."""
        total, energy = numpy.zeros(x.shape), 0.0
        for cell, constants in zip(self.cell, lame):
            corner = self.rest[cell]
            u, _, v = numpy.linalg.svd(x[cell].transpose(0, 2, 1) @ gradients(corner, CENTRE)[0])
            u[:, :, 2] *= numpy.sign(numpy.linalg.det(u @ v))[:, None]
            local = w[cell] @ (u @ v) - rest * corner
            force = element_forces(corner, local, *constants)
            energy += (local * force).sum() / 2
            total += assemble(cell, force @ (u @ v).transpose(0, 2, 1), len(x))
        return total, energy

    def check_energies(self):
        last, said, shift = self.last, self.run.results["energy"]["final"], self.last.point - self.rest
        kinetic = (self.mass * (last["velocity"] ** 2).sum(axis=1)).sum() / 2
        outer = self.mass[:, None] * self.run.problem["gravity"] + self.load
        scale = kinetic + abs((outer * shift).sum())
        self.report.same("kinetic energy", kinetic, said["kinetic"])
        self.report.same("potential energy", -(outer * shift).sum(), said["potential"], 1e-9, scale)
        laws = [one["material"] for one in self.objects]
        if any(law["law"] != "corotational" or law["rotation"] != "polar" or cell.shape[1] == 3 or "regions" in one
               for law, cell, one in zip(laws, self.cell, self.scene)):
            self.report.skip("elastic energy, equation of a step", "a law other than polar corotational, or regions")
            return
        lame = [lame_of(law["young"] * numpy.ones(len(cell)), law["poisson"]) for law, cell in zip(laws, self.cell)]
        self.report.same("elastic energy", self.forces(lame, last.point, last.point, 1)[1], said["elastic"], 1e-9, scale)
        results = self.run.results
        if (results["halved_steps"] or results["most_contacts"] or not self.pairs or results["steps_not_converged"]
                or results["newton_iterations"] != results["steps_taken"]):
            self.report.skip("equation of a step", "contact, halved steps, no convergence, or several iterations")
            return
        # A dv = b, see Method of docs/softbody.md.
        one, h, damping = self.frames[self.pairs[-1] - 1], self.run.problem["time_step"], self.run.problem["damping"]
        alpha, beta, v = damping["mass"], damping["stiffness"], one["velocity"]
        dv, mass = self.frames[self.pairs[-1]]["velocity"] - v, self.mass[:, None]
        inner, slow, fast = (self.forces(lame, one.point, w, rest)[0] for w, rest in ((one.point, 1), (v, 0), (dv, 0)))
        right = h * (outer - inner - (h + beta) * slow - alpha * mass * v)[~self.fixed]
        left = ((1 + h * alpha) * mass * dv + h * (h + beta) * fast)[~self.fixed]
        self.report.bound("equation of a step", numpy.linalg.norm(right - left) / numpy.linalg.norm(right),
                          1.001 * self.run.tolerance + 1e-10)
