# SPDX-License-Identifier: Apache-2.0
"""Checks of ossatura softbody: supports, motion and contact of the frames, energies, the equation of a step."""
import numpy

from elastic import MIDDLE, assemble, derivatives, element_forces, jacobians, volumes
from files import Fields, pick, require


def check(run, report):
    steps, results = run.results["steps"], run.results
    require(steps["step"], "everything else", "no step was done")
    for name in ("penetration", "complementarity", "friction_residual", "contact_residual"):
        if steps["every"] == 1:
            report.same(f"worst {name}", max(steps[name]), results[f"worst_{name}"], 1e-12)
    if steps["every"] == 1:
        report.same("most contacts", max(steps["contacts"]), results["most_contacts"], 0)
    since = numpy.subtract(steps["time"], results["last_time"])
    report.same("times of steps", since, run.problem["time_step"] * numpy.subtract(steps["step"], last_step(results)),
                1e-9, abs(results["last_time"]))
    kinds, said = ["kinetic", "elastic", "potential"], results["energy"]["final"]
    energy = numpy.array([said[kind] for kind in kinds])
    report.same("energy: total", energy.sum(), said["total"], 1e-12, abs(energy).sum())
    report.same("energy: last step", [steps[kind][-1] for kind in kinds], energy, 1e-12)
    path = run.output(".hdf.series")
    require(path, "frames", "none were written")
    motion = Motion(run, report, path)
    motion.check_frames()
    require(motion.scene, "supports, contact, energies", "the scene is not where it was")
    motion.read_scene()
    motion.check_contact()
    motion.check_energies()
    motion.check_step()


def nearest_rotations(f):
    u, stretch, v = numpy.linalg.svd(f)
    u[:, :, 2] *= numpy.sign(numpy.linalg.det(u @ v))[:, None]
    return u @ v


def turning_forces(corner, w, turn, f, last_f, law, spared):
    """V [d_a]^T G [d_b] w_b, [d] u = d x u, with gradients d at the middle as it is turned there. G has c / 2 along each
    principal axis of the strain that the last step ended at, from where it turned elements to f from last_f: c = the stresses
    over the stretches of the two others, less what is spared of c times the squares of gradients and the nodes, where that
    pulls."""
    stretched = nearest_rotations(last_f).transpose(0, 2, 1) @ f
    stretch, axes = numpy.linalg.eigh((stretched + stretched.transpose(0, 2, 1)) / 2)
    axes = turn @ axes
    inverse, determinant = jacobians(corner, MIDDLE[corner.shape[1]])
    volume = determinant * {4: 1 / 6, 8: 8}[corner.shape[1]]
    shear, sums = law["young"] / (2 + 2 * law["poisson"]), stretch.sum(axis=1, keepdims=True)
    stress = 2 * shear * (law["poisson"] / (1 - 2 * law["poisson"]) * (sums - 3) + stretch - 1)
    others = numpy.maximum(sums - stretch, 0.2)
    rest = MIDDLE[corner.shape[1]] @ inverse
    spared = spared / ((rest ** 2).sum(axis=(1, 2)) * corner.shape[1])
    c = numpy.maximum((stress.sum(axis=1, keepdims=True) - stress) / others - spared[:, None], 0)
    gradient = MIDDLE[corner.shape[1]] @ inverse @ turn.transpose(0, 2, 1)
    moment = numpy.cross(gradient, w).sum(axis=1, keepdims=True) @ axes
    return numpy.cross((moment * (volume[:, None] * c / 2)[:, None]) @ axes.transpose(0, 2, 1), gradient)


def last_step(results):
    return results["first_step"] + results["steps_taken"]


class Motion:
    def __init__(self, run, report, path):
        self.run, self.report, self.frames = run, report, [Fields(frame) for frame, _ in run.frames(path)]
        self.step, self.objects, self.scene = *pick(run.problem, "time_step objects"), run.input.get("objects", [])
        first, self.last, times = self.frames[0], self.frames[-1], [time for _, time in run.frames(path)]
        report.same("number, time of frames", [len(times), times[-1]], pick(run.results, "frames last_time"))
        self.rest = first.point - first["displacement"]
        self.size = numpy.ptp(self.rest, axis=0).max()
        near = abs(numpy.diff(times) / self.step - 1) < 1e-6
        self.pairs = [pair for pair, good in zip(zip(self.frames, self.frames[1:]), near)
                      if good and not run.results["halved_steps"]]
        self.cell = [first.elements(first["object"] == k) for k in range(len(self.objects))]
        self.node = numpy.zeros(len(self.rest), int)  # of which object
        for k, cell in enumerate(self.cell):
            self.node[cell] = k
        report.same("elements and nodes", [*map(len, self.cell), *numpy.bincount(self.node)],
                    [one[key] for key in ("elements", "nodes") for one in self.objects], 0)

    def check_frames(self):
        report, last = self.report, self.last
        report.true("frames are of one mesh", all(numpy.array_equal(one.corners, last.corners) for one in self.frames))
        report.bound("displacement of every frame",
                     [abs(one.point - one["displacement"] - self.rest).max() / self.size for one in self.frames], 1e-12)
        for k, said in enumerate(self.run.results["objects"]):
            point, rest = last.point[self.node == k], self.rest[self.node == k]
            report.same(f"{said['name']}: place", [*point.mean(axis=0), *point.min(axis=0), *point.max(axis=0),
                                                   numpy.linalg.norm(point - rest, axis=1).max()],
                        said["mean_position"] + said["lower"] + said["upper"] + [said["largest_displacement"]],
                        1e-12, self.size)
        with report.part("motion"):
            require(self.pairs, "positions by velocities", "steps were halved, or no two frames are a step apart")
            misfits = [abs(new.point - old.point - self.step * new["velocity"]).max() for old, new in self.pairs]
            report.bound("positions by velocities", max(misfits) / self.size, 1e-12)

    def chosen(self, k, choice):
        """Nodes of object k in a box, or by number."""
        mine = numpy.flatnonzero(self.node == k)
        if "nodes" in choice:
            return mine[choice["nodes"]]
        low, high = numpy.reshape(choice["box"], (2, 3)) + [[-1e-9 * self.size], [1e-9 * self.size]]
        return mine[((self.rest[mine] >= low) & (self.rest[mine] <= high)).all(axis=1)]

    def read_scene(self):
        """Supports, loads, and masses lumped at the nodes, to each the same part of its elements."""
        count = len(self.rest)
        self.fixed, self.load, self.mass = numpy.zeros(count, bool), numpy.zeros((count, 3)), numpy.zeros(count)
        for k, (one, cell) in enumerate(zip(self.scene, self.cell)):
            for choice in one.get("fixed", []):
                self.fixed[self.chosen(k, choice)] = True
            for choice in one.get("loads", []):
                nodes = self.chosen(k, choice)
                self.load[nodes] += choice.get("force", numpy.array(choice.get("total_force", 0)) / len(nodes))
            corner, corners = self.rest[cell], cell.shape[1]
            size = volumes(corner) if corners > 3 else one["material"]["thickness"] / 2 * numpy.linalg.norm(
                numpy.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]), axis=1)
            share = numpy.repeat(one.get("density", 1000) * size / corners, corners)
            mass = numpy.bincount(cell.ravel(), share, count)
            self.mass += one["node_mass"] * (self.node == k) if "node_mass" in one else mass
        for name, found, key in (("masses", self.mass, "mass"), ("fixed nodes", self.fixed, "fixed_nodes")):
            self.report.same(name, numpy.bincount(self.node, found), [one[key] for one in self.objects])
        self.report.bound("motion of fixed nodes",
                          [abs(one.point - self.rest)[self.fixed].max(initial=0) for one in self.frames], 0)
        self.outer = self.mass[:, None] * self.run.problem["gravity"] + self.load

    def check_contact(self):
        gaps, point = [0.0], numpy.concatenate([one.point[~self.fixed] for one in self.frames[1:]] or [[]])
        for kind, one in (item for obstacle in self.run.input.get("obstacles", []) for item in obstacle.items()):
            if kind == "plane":
                gap = (point - one["point"]) @ one["normal"] / numpy.linalg.norm(one["normal"])
            else:
                gap = numpy.linalg.norm(point - one["centre"], axis=1) - one["radius"]
            gaps.append(gap.min())
        if self.run.problem["obstacles"]:
            self.report.bound("depth in obstacles", min(gaps),
                              self.run.results["worst_penetration"] * (1 + 1e-6) + 1e-12 * self.size)

    def check_energies(self):
        last, said, laws = self.last, self.run.results["energy"]["final"], [one["material"] for one in self.objects]
        kinetic = (self.mass @ last["velocity"] ** 2).sum() / 2
        potential = -(self.outer * (last.point - self.rest)).sum()
        scale = kinetic + abs(potential)
        self.report.same("kinetic energy", kinetic, said["kinetic"])
        self.report.same("potential energy", potential, said["potential"], 1e-9, scale)
        require(all(law["law"] == "corotational" and law["rotation"] == "polar" and cell.shape[1] > 3
                    and "regions" not in one for law, cell, one in zip(laws, self.cell, self.scene)),
                "elastic energy, equation of a step", "a law other than polar corotational, or regions")
        self.report.same("elastic energy", self.forces(last.point, last.point, 1)[1], said["elastic"], 1e-9, scale)

    def forces(self, x, w, rest, velocity=None):
        """Sum of R K0 (R^T w - rest X), without rest of K w, and the energy; R is the nearest rotation to the deformation in the
        middle of an element."""
        total, energy = numpy.zeros(x.shape), 0.0
        damping = self.run.problem["damping"]["stiffness"]
        for cell, law, one in zip(self.cell, (one["material"] for one in self.objects), self.scene):
            density = 0 if "node_mass" in one else one.get("density", 1000)
            corner, middle = self.rest[cell], MIDDLE[cell.shape[1]]
            inverse = jacobians(corner, middle)[0]
            f = derivatives(x[cell], middle) @ inverse
            turn = nearest_rotations(f)
            local = w[cell] @ turn - rest * corner
            force = element_forces(corner, local, law["young"], law["poisson"])
            energy += (local * force).sum() / 2
            force = force @ turn.transpose(0, 2, 1)
            if not rest:  # the matrix has what tension adds as R turns
                last_f = derivatives((x - self.step * velocity)[cell], middle) @ inverse
                force += turning_forces(corner, w[cell], turn, f, last_f, law,
                                        density / (2 * self.step * (self.step + damping)))
            total += assemble(cell, force, len(x))
        return total, energy

    def check_step(self):
        """A dv = b, see Method of docs/softbody.md."""
        results, damping, h = self.run.results, self.run.problem["damping"], self.step
        require(self.pairs and not results["most_contacts"] and not results["steps_not_converged"]
                and results["newton_iterations"] == results["steps_taken"],
                "equation of a step", "contact, halved steps, no convergence, or several iterations")
        old, new = self.pairs[-1]
        alpha, beta, v, mass = damping["mass"], damping["stiffness"], old["velocity"], self.mass[:, None]
        dv = new["velocity"] - v
        inner, slow, fast = (self.forces(old.point, w, rest, v)[0] for w, rest in ((old.point, 1), (v, 0), (dv, 0)))
        right = h * (self.outer - inner - (h + beta) * slow - alpha * mass * v)[~self.fixed]
        left = ((1 + h * alpha) * mass * dv + h * (h + beta) * fast)[~self.fixed]
        # Without loads the right side is rounding: that of positions, as forces have it, and of velocities.
        last_digit = 2.0 ** -52 * (-1) ** numpy.arange(old.point.size).reshape(old.point.shape)
        noise = self.forces(old.point * (1 + last_digit), old.point * (1 + last_digit), 1)[0] - inner
        rounding = 2 * numpy.linalg.norm(abs(h * noise) + 2.0 ** -52 * abs(mass * v))
        size = max(numpy.linalg.norm(right), 1e-300)
        self.report.bound("equation of a step", numpy.linalg.norm(right - left) / size,
                          1.001 * self.run.tolerance + 1e-10 + rounding / size)
