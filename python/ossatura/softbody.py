# SPDX-License-Identifier: Apache-2.0
"""Soft bodies: implicit steps in time, with contact and friction. SI units.

    world = softbody.World(time_step=0.01, rayleigh_stiffness=0.01)
    world.add_plane()                                               # the floor z = 0
    body = world.add(points, tetra, young=2e4, poisson=0.4, density=1000)
    for _ in range(100):
        step = world.step()
    body.positions, step.contacts

    motion = world.run(50)                                          # keeps every state
    found = motion.gradient(positions=weights)                      # of sum(weights * motion.positions[-1])
    found.bodies[0].young, found.loads
"""
from __future__ import annotations

import dataclasses
import os
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _arrays, _backends, _core, _draw, _numbers, _save
from ._errors import ConvergenceError, InputError, UsageError, choice
from ._held import Held
from ._libraries import NUMPY, Library, library_of
from ._log import logger

__all__ = ["Body", "BodyGradient", "Motion", "MotionGradient", "Step", "World"]

_WATCHED_EVERY = 8
_MOST_STRETCH = 10.0  # rubbers break below
_LAWS = ("corotational", "stvk", "mooney_rivlin", "neo_hookean")


@dataclasses.dataclass(frozen=True)
class Step:
    """What a step did."""
    time: float
    """s, after it"""
    converged: bool
    """its systems, Newton's iteration and contact"""
    newton_iterations: int
    iterations: int
    """of conjugate gradients, over all systems"""
    residual: float
    """of the last system, relative and computed afresh"""
    halvings: int
    """2^halvings sub-steps were taken"""
    inverted: int
    """elements inside out"""
    contacts: int
    penetration: float
    """m, the deepest"""
    seconds: float


@dataclasses.dataclass(frozen=True)
class BodyGradient:
    """Derivatives of an objective by the parameters that a body was added with; 0 for those that its law has not."""
    young: float
    """per Pa; likewise c1, c2, bulk"""
    poisson: float
    c1: float
    c2: float
    bulk: float
    density: float
    """per kg/m^3, of its mass and its weight"""


@dataclasses.dataclass(frozen=True)
class MotionGradient:
    """Derivatives of an objective by what a motion depends on."""
    positions: NDArray[np.float64]
    """[num_points, 3], by those at the start"""
    velocities: NDArray[np.float64]
    """[num_points, 3], by those at the start; of fixed nodes, by the velocity that they have all the time"""
    loads: NDArray[np.float64]
    """[num_steps, num_points, 3], by the loads of each step; their sum is that by constant loads. 0 at fixed nodes"""
    bodies: list[BodyGradient]
    iterations: int
    """of conjugate gradients, over all steps"""
    residual: float
    """the largest of the adjoint systems, relative and true"""


@dataclasses.dataclass(frozen=True, repr=False)
class Motion(Held):
    """Steps that World.run() took, with all states."""
    _instead = "its times, positions, velocities and steps can be"
    times: NDArray[np.float64]
    """[num_steps + 1] s"""
    positions: NDArray[np.float64]
    """[num_steps + 1, num_points, 3] m of all bodies, one after the other"""
    velocities: NDArray[np.float64]
    """[num_steps + 1, num_points, 3] m/s"""
    steps: list[Step]
    _world: World
    _moduli: int

    def gradient(self, positions: ArrayLike | None = None, velocities: ArrayLike | None = None, *,
                 check: bool = True) -> MotionGradient:
        """The gradient of an objective J of the states: exact, by one linear system for each step, backwards (some more
        with rayleigh_stiffness).

        positions, velocities: dJ/d of the arrays of those names, or [num_points, 3] where J is of the last state alone;
            at least one of them.

        The world needs newton_iterations of 20 or so and laws that are not "corotational". Raises UsageError for
        others, for worlds with obstacles or contact between bodies, whose forces are not smooth, for steps that did
        not converge or were taken in parts, and after Body.set_moduli(); ConvergenceError where an adjoint system
        misses ten times the tolerance, unless check=False. The state of the world stays.
        """
        check = _numbers.flag(check, "check")
        if positions is None and velocities is None:
            raise UsageError("gradient: give the derivatives of the objective by positions, by velocities, or both")
        for step in self.steps:
            if not step.converged or step.halvings:
                raise UsageError(f"gradient: the step to {step.time} s was " + (
                    "taken in parts" if step.halvings else "not solved to its tolerance") +
                    ": a smaller time_step, or more newton_iterations")
        by_positions, by_velocities = (self._weights(values, what) for values, what in (
            (positions, "positions"), (velocities, "velocities")))
        library = self._world._library
        x, v = library.copy(by_positions[-1]), library.copy(by_velocities[-1])
        loads = library.zeros(self.positions[1:].shape)
        bodies = np.zeros((len(self._world.bodies), 6))
        iterations, worst = 0, 0.0
        for k in reversed(range(len(self.steps))):
            of_step = np.zeros_like(bodies)
            taken, residual, converged = self._world._pull_back(self, k, x, v, loads[k], of_step)
            if check and not converged:
                raise ConvergenceError(f"the adjoint of the step to {self.steps[k].time} s did not converge (residual "
                                       f"{residual:.1e}): a smaller time_step, more max_iterations", None)
            bodies += of_step
            x += by_positions[k]
            v += by_velocities[k]
            iterations, worst = iterations + taken, max(worst, residual)
        return MotionGradient(x, v, loads, [BodyGradient(*map(float, row)) for row in bodies], iterations, worst)

    def _weights(self, values: ArrayLike | None, what: str) -> NDArray[np.float64]:
        """[num_steps + 1, num_points, 3]"""
        library = self._world._library
        weights: NDArray[np.float64] = library.zeros(self.positions.shape)
        if values is None:
            return weights
        if np.ndim(values) == 2:
            weights[-1] = library.own(_arrays.floats(values, np.float64, weights.shape[1:], what))
        else:
            weights[:] = library.own(_arrays.floats(values, np.float64, weights.shape, what))
        if not library.module.isfinite(weights).all():
            raise InputError(f"{what}: derivatives that are not finite")
        return weights

    def __repr__(self) -> str:
        return f"Motion({len(self.steps)} steps to {self.times[-1]:.6g} s, {self.positions.shape[1]} points)"


class Body(Held):
    """A body of a world."""
    _instead = "it belongs to its world; its positions and velocities can be"

    def __init__(self, world: World, name: str, first: int, points: NDArray[np.float64],
                 elements: NDArray[np.int32], fixed: NDArray[np.int32], load: NDArray[np.float64],
                 given: _core.SoftBody) -> None:
        self._world = world
        self._given = given
        self._fixed = fixed
        self._load: Any = load
        self._drive = np.zeros((len(points), 3))
        self._slice = slice(first, first + len(points))
        self._points = points
        self._elements = elements
        self.name = name
        self.num_points = len(points)

    @property
    def positions(self) -> NDArray[np.float64]:
        """[num_points, 3] m, now."""
        return self._world.positions[self._slice]

    @property
    def velocities(self) -> NDArray[np.float64]:
        """[num_points, 3] m/s, now."""
        return self._world.velocities[self._slice]

    @property
    def load(self) -> NDArray[np.float64]:
        """[num_points, 3] N beside gravity: what add() or set_load() set, a copy."""
        found: NDArray[np.float64] = self._world._library.copy(self._world._library.own(self._load))
        return found

    def set_load(self, load: ArrayLike) -> None:
        """Sets the forces [num_points, 3] in N, beside gravity, of the steps to come; those on fixed nodes do not
        count. Contact and factors go on as they are. Raises InputError where they are not finite."""
        rows = self._rows(load, "load")
        self._load = library_of(rows).copy(rows)
        self._world._loads_changed()

    def move_fixed(self, velocity: ArrayLike) -> None:
        """Moves the fixed nodes with a velocity in m/s from the next step on, until it is set to others: three numbers
        for all of them, or [num_points, 3] of which the rows of fixed nodes count. A step moves them by time_step
        times it. Raises UsageError where no node of the body is fixed, InputError for numbers that are not finite."""
        if not len(self._fixed):
            raise UsageError(f"move_fixed: no node of {self.name!r} is fixed: give add() those that are to be moved")
        rows = _arrays.host(velocity, "velocity")
        self._drive[:] = self._rows(np.broadcast_to(rows, (self.num_points, 3)) if rows.shape == (3,) else rows,
                                    "velocity")
        self._world._drive_changed()

    def set_moduli(self, **moduli: float) -> None:
        """Sets parameters of the law - young, poisson, c1, c2 or bulk - of the steps to come; motion and loads go on as
        they are. Raises UsageError for names that the law has not, InputError for values out of range."""
        names = ("c1", "c2", "bulk") if self._given.law == "mooney_rivlin" else ("young", "poisson")
        for name in moduli:
            choice(name, names, f"a modulus of the law {self._given.law}")
        with self._world._lock:
            before = {name: getattr(self._given, name) for name in names}
            for name, value in moduli.items():
                setattr(self._given, name, _numbers.any_real(value, name))
            try:
                self._world._set_moduli(self)
            except Exception:
                for name, value in before.items():
                    setattr(self._given, name, value)
                raise

    def _rows(self, values: ArrayLike, what: str) -> NDArray[np.float64]:
        rows = _arrays.floats(values, np.float64, (self.num_points, 3), what)
        if not library_of(rows).module.isfinite(rows).all():
            bad = int(np.argmin(np.isfinite(_arrays.host(rows)).all(1)))
            raise InputError(f"{what}: node {bad} has one that is not finite")
        return rows


class World(Held):
    """Bodies and obstacles, which are added before the first step.

    time_step: s. gravity: m/s^2. rayleigh_mass (1/s) and rayleigh_stiffness (s): damping.
    newton_iterations: of a step, at most; 1 is linearly implicit. tolerance: of linear systems.
    contact_between_bodies: nodes of each body against the surfaces of all others, with Coulomb's contact_friction;
        pairs nearer than contact_distance (m) are watched in a step. Contact with obstacles is there always.
    """
    _instead = "make one in each process; its positions, velocities and time can be pickled, and set_state() goes on from them"

    def __init__(self, *, time_step: float = 0.01, gravity: Sequence[float] = (0.0, 0.0, -9.81),
                 rayleigh_mass: float = 0.0, rayleigh_stiffness: float = 0.0, newton_iterations: int = 1,
                 contact_between_bodies: bool = False, contact_friction: float | None = None, contact_distance: float = 0.01,
                 tolerance: float = 1e-9, max_iterations: int = 2000, backend: str | None = None) -> None:
        if not _numbers.real(time_step, "time_step") > 0:
            raise UsageError(f"time_step={time_step!r}: seconds, greater than 0")
        self._input = _core.SoftWorld()
        self._input.gravity = _numbers.vector(gravity, "gravity")
        self._input.contact_between_objects = _numbers.flag(contact_between_bodies, "contact_between_bodies")
        if contact_friction is not None and not contact_between_bodies:
            raise UsageError("contact_friction: has no effect without contact_between_bodies; obstacles have their own friction")
        contact_friction = 0.0 if contact_friction is None else contact_friction
        for name, value in (("rayleigh_mass", rayleigh_mass), ("rayleigh_stiffness", rayleigh_stiffness),
                            ("contact_friction", contact_friction), ("contact_distance", contact_distance)):
            if not _numbers.real(value, name) >= 0:
                raise UsageError(f"{name}={value!r}: at least 0")
        for name, value in (("time_step", time_step), ("rayleigh_mass", rayleigh_mass),
                            ("rayleigh_stiffness", rayleigh_stiffness), ("contact_friction", contact_friction),
                            ("contact_distance", contact_distance)):
            setattr(self._input, name, _numbers.real(value, name))
        self._input.newton_iterations = _numbers.at_least(1, newton_iterations, "newton_iterations")
        self._input.tolerance = _numbers.tolerance(tolerance)
        self._input.max_iterations = _numbers.at_least(1, max_iterations, "max_iterations")
        self.backend: str = _backends.choose(backend)
        self._library: Library = NUMPY
        self._model: _core.SoftModel | None = None
        self._lock = threading.RLock()
        self._inverted = 0  # elements, after the last step
        self._num_steps = 0
        self._is_stretched = False  # which was told
        self._moduli = 0  # how often they were set
        self._changed: set[str] = set()  # of loads and motions of fixed nodes, what the library does not know yet
        self.bodies: list[Body] = []

    @property
    def num_points(self) -> int:
        """Of all bodies."""
        return sum(body.num_points for body in self.bodies)

    def add(self, points: ArrayLike, elements: ArrayLike, *, young: float | None = None, poisson: float | None = None,
            law: str = "corotational", c1: float | None = None, c2: float | None = None, bulk: float | None = None,
            thickness: float | None = None,
            density: float = 1000.0, fixed: ArrayLike | None = None, load: ArrayLike | None = None,
            velocity: ArrayLike | None = None, name: str | None = None) -> Body:
        """Adds a body.

        points: [num_points, 3] m. elements: [num_elem, 4] tetrahedra, 8 hexahedra (VTK's order) or 3 triangles of a
            membrane with `thickness` in m, by default 0.001.
        law: "corotational", "stvk", "neo_hookean" (young in Pa, 1e5, and poisson, 0.4), "mooney_rivlin" (c1, c2, bulk in
            Pa). name: that of no other body.
        density: kg/m^3. fixed: numbers of nodes that do not move, or [num_points] of bool.
        load: [num_points, 3] N. velocity: [num_points, 3] m/s at the start.
        """
        self._require_open("a body")
        body = _core.SoftBody()
        if name is not None and not isinstance(name, str):
            raise TypeError(f"name={name!r}: a text")
        body.name = f"body {len(self.bodies)}" if name is None else name
        if any(body.name == other.name for other in self.bodies):
            raise InputError(f"name: {body.name!r} is that of another body")
        body.law = choice(law, _LAWS, "law")
        by_moduli = law != "mooney_rivlin"
        for parameter, value, is_used in (("young", young, by_moduli), ("poisson", poisson, by_moduli), ("c1", c1, not by_moduli),
                                          ("c2", c2, not by_moduli), ("bulk", bulk, not by_moduli)):
            if value is not None and not is_used:
                raise UsageError(f"{parameter}: has no effect with the law {law}: leave it out")
        for parameter, value, default in (("young", young, 1e5), ("poisson", poisson, 0.4), ("thickness", thickness, 0.001),
                                          ("density", density, 1000.0), ("c1", c1, 0.0), ("c2", c2, 0.0), ("bulk", bulk, 0.0)):
            setattr(body, parameter, _numbers.real(default if value is None else value, parameter))
        library = library_of(points, load, velocity)
        if library.is_writable and self._library is NUMPY:
            self._library = library
        points = _arrays.host_floats(points, np.float64, (None, 3), "points")
        nodes = _arrays.integers(elements, (None, None), "elements")
        if nodes.shape[1] not in (3, 4, 8):
            raise InputError(f"elements: 3, 4 or 8 nodes each, not {nodes.shape[1]}")
        if thickness is not None and nodes.shape[1] != 3:
            raise UsageError("thickness: is of membranes of triangles; these are solids")
        n = len(points)
        _arrays.require_numbers(nodes, n, f"{body.name!r}: elements")
        held = _fixed_nodes(fixed, n)
        force, start = (None if rows is None else _arrays.host_floats(rows, np.float64, (n, 3), what)
                        for rows, what in ((load, "load"), (velocity, "velocity")))
        for rows, what in ((points, "points"), (force, "load"), (start, "velocity")):
            if rows is not None:
                _arrays.require_finite(rows, what)
        body.set_arrays(points, nodes, held, force, start)
        self._input.add_body(body)
        self.bodies.append(Body(self, body.name, self.num_points, points.copy(), nodes.copy(), held,
                                np.zeros((n, 3)) if force is None else force.copy(), body))
        return self.bodies[-1]

    def add_plane(self, point: Sequence[float] = (0.0, 0.0, 0.0), normal: Sequence[float] = (0.0, 0.0, 1.0),
                  friction: float = 0.0) -> None:
        """Adds an obstacle: a plane through `point`, bodies being where its normal points."""
        self._require_open("an obstacle")
        direction = _numbers.vector(normal, "normal")
        length = float(np.linalg.norm(direction))
        if not length > 0:
            raise InputError("normal: has no direction")
        wall = _core.SoftWall()
        wall.point = _numbers.vector(point, "point")
        wall.normal = tuple(x / length for x in direction)
        wall.friction = _numbers.real(friction, "friction")
        self._input.add_wall(wall)

    def add_sphere(self, centre: Sequence[float], radius: float, friction: float = 0.0) -> None:
        """Adds an obstacle: a sphere, bodies being outside."""
        self._require_open("an obstacle")
        if not _numbers.real(radius, "radius") > 0:
            raise InputError(f"radius={radius!r}: m, greater than 0")
        wall = _core.SoftWall()
        wall.is_sphere, wall.point, wall.radius = True, _numbers.vector(centre, "centre"), float(radius)
        wall.friction = _numbers.real(friction, "friction")
        self._input.add_wall(wall)

    def _look_at_stretch(self, step: Step) -> None:
        """Of steps as many as for energies, and where positions are at hand."""
        self._num_steps += 1
        if self._is_stretched or step.inverted or self._num_steps % _WATCHED_EVERY != 1 or self._library is not NUMPY:
            return
        positions = self.positions
        for body in self.bodies:
            stretch = _stretch(body._elements, body._points, positions[body._slice])
            if stretch > _MOST_STRETCH:
                self._is_stretched = True
                logger.warning("%r is stretched to %.3g times its length after the step to %.6g s, as no material is: see whether its "
                               "moduli are in Pa (a modulus of 10 kPa is 1e4) and forces in N; or take a stiffer material, or smaller "
                               "loads", body.name, stretch, step.time, extra={"code": "overstretched"})

    def step(self, *, check: bool = True) -> Step:
        """Takes a step. Raises ConvergenceError, with the step as its result, where that did not converge, unless
        check=False; without a result where no step could be taken, and all is as before."""
        check = _numbers.flag(check, "check")
        try:
            with self._lock:
                step = Step(**self._made().step())
                if step.inverted and not self._inverted:
                    logger.warning("%d elements are inside out after the step to %.6g s, as no body is: take a smaller "
                                   "time_step, a stiffer material or smaller loads, or the law \"neo_hookean\", which resists being flattened",
                                   step.inverted, step.time, extra={"code": "inside-out"})
                self._inverted = step.inverted
                self._look_at_stretch(step)
        except _core.NotConverged as error:
            raise ConvergenceError(str(error), None) from None
        if check and not step.converged:
            raise ConvergenceError(f"the step to {step.time} s did not converge (residual {step.residual:.1e}): a "
                                   "smaller time_step, more max_iterations or newton_iterations; check=False goes on",
                                   step)
        return step

    def run(self, steps: int, *, check: bool = True) -> Motion:
        """Takes `steps` and keeps all states, 48 bytes a point each, for looks at them and for Motion.gradient().
        Raises ConvergenceError as step() does."""
        steps = _numbers.at_least(1, steps, "steps")
        with self._lock:
            states = [(self.time, self.positions, self.velocities)]
            taken = []
            for _ in range(steps):
                taken.append(self.step(check=check))
                states.append((self.time, self.positions, self.velocities))
            times, positions, velocities = zip(*states)
            stack = self._library.module.stack
            return Motion(np.array(times), stack(positions), stack(velocities), taken, self, self._moduli)

    @property
    def time(self) -> float:
        """s"""
        return self._made().time()

    @property
    def energy(self) -> tuple[float, float, float]:
        """Kinetic, elastic and potential energy (of gravity and loads, 0 at rest), J."""
        kinetic, elastic, potential = self._made().energy()
        return kinetic, elastic, potential

    @property
    def positions(self) -> NDArray[np.float64]:
        """[num_points, 3] m of all bodies, one after the other."""
        found: NDArray[np.float64] = self._library.make((self.num_points, 3), np.float64, self._made().positions)
        return found

    @property
    def velocities(self) -> NDArray[np.float64]:
        """[num_points, 3] m/s of all bodies, one after the other."""
        found: NDArray[np.float64] = self._library.make((self.num_points, 3), np.float64, self._made().velocities)
        return found

    def set_state(self, positions: ArrayLike, velocities: ArrayLike, time: float) -> None:
        """Sets positions, velocities [num_points, 3] and time; contact forces and factors are forgotten. Velocities of
        fixed nodes move them, as Body.move_fixed() does."""
        shape = (self.num_points, 3)
        velocities = _arrays.floats(velocities, np.float64, shape, "velocities")
        positions = _arrays.floats(positions, np.float64, shape, "positions")
        _arrays.require_finite(positions, "positions")
        _arrays.require_finite(velocities, "velocities")
        time = _numbers.real(time, "time")
        with self._lock:
            self._made().set_state(positions, velocities, time)
            if any(len(body._fixed) for body in self.bodies):
                velocities = _arrays.host(velocities)
                for body in self.bodies:
                    body._drive[body._fixed] = velocities[body._slice][body._fixed]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the present state to a file: .npz for numpy.load(), with the elements of each body as elements_0 and
        so on, numbered from its first node, or .vtu, a mesh of VTK with velocities, displacements and the number of
        each body.

        A file of that name is replaced when the new one is whole. Raises UsageError for other endings, OSError where
        the file cannot be written.
        """
        with self._lock:
            positions, velocities, time = _arrays.host(self.positions), _arrays.host(self.velocities), self.time
        elements = [body._elements for body in self.bodies]
        bodies = np.repeat(np.arange(len(elements), dtype=np.int32), [len(some) for some in elements])
        _save.save(path, {
            ".npz": lambda file: _save.write_npz(file, {
                "time": time, "positions": positions, "velocities": velocities,
                "names": np.array([body.name for body in self.bodies]),
                "first_points": np.array([body._slice.start for body in self.bodies]),
                **{f"elements_{k}": some for k, some in enumerate(elements)}}),
            ".vtu": lambda file: _save.write_vtu(
                file, positions, [body._elements + np.int32(body._slice.start) for body in self.bodies],
                {"body": bodies}, {"velocity": velocities, "displacement": positions - self._start()},
                {"time": np.array([time])})})

    def plot(self, values: ArrayLike | None = None, *, label: str = "", path: str | os.PathLike[str] | None = None,
             engine: str | None = None) -> Any:
        """Draws the bodies where they are now, without obstacles.

        values: [num_points] to colour them by, with a label; by default the speed in m/s. Other arguments and what is
        returned as of bone.Result.plot().
        """
        positions, faces, colours, label = self._surface(values, label)
        return _draw.plot(
            lambda figure: _draw.surface(figure, positions, faces, colours, label, "m"),
            lambda plotter: _draw.surface_scene(plotter, positions, faces, colours, label or "values"), (7, 5), path,
            engine)

    def _repr_html_(self) -> str:
        moving = self._model is not None
        rows = [("time", f"{self.time if moving else 0.0:.6g} s"), ("points", str(self.num_points)),
                ("bodies", ", ".join(body.name for body in self.bodies[:8]) + ("..." if len(self.bodies) > 8 else ""))]
        if moving:
            kinetic, elastic, potential = self.energy
            rows += [("energy", f"kinetic {kinetic:.4g} J, elastic {elastic:.4g} J, potential {potential:.4g} J")]
        if not self.bodies:
            return _draw.summary("soft bodies", rows, None, (0, 0))
        positions, faces, colours, label = self._surface(None, "")
        return _draw.summary("soft bodies", rows, lambda figure: _draw.surface(figure, positions, faces, colours, label,
                                                                               "m"), (5, 3.5))

    def _start(self) -> NDArray[np.float64]:
        return np.concatenate([body._points for body in self.bodies])

    def _surface(self, values: ArrayLike | None, label: str) -> tuple[
            NDArray[np.float64], list[NDArray[np.int32]], list[NDArray[np.float64]], str]:
        """Positions, faces of each body, a value for each face, and their label. It does not begin the motion."""
        if not self.bodies:
            raise UsageError("a world without bodies: add() some")
        with self._lock:
            moving = self._model is not None
            positions = _arrays.host(self.positions) if moving else self._start()
            if values is None:
                speeds = np.linalg.norm(_arrays.host(self.velocities), axis=1) if moving else np.zeros(len(positions))
                values, label = speeds, "speed, m/s"
        array: NDArray[np.float64] = _arrays.host_floats(values, np.float64, (self.num_points,), "values")
        faces = [_draw.boundary(body._elements)[0] + np.int32(body._slice.start) for body in self.bodies]
        return positions, faces, [array[some].mean(1) for some in faces], label

    def _made(self) -> _core.SoftModel:
        with self._lock:
            if self._model is None:
                if not self.bodies:
                    raise UsageError("a world without bodies: add() some")
                self._model = _core.SoftModel(self.backend, self._input)
            if "loads" in self._changed:
                self._model.set_loads(self._library.module.concatenate([self._library.own(body._load)
                                                                        for body in self.bodies]))
            if "velocities" in self._changed:
                self._model.set_fixed_velocities(np.concatenate([body._drive for body in self.bodies]))
            self._changed.clear()
            return self._model

    def _pull_back(self, motion: Motion, k: int, by_positions: NDArray[np.float64], by_velocities: NDArray[np.float64],
                   by_loads: NDArray[np.float64], by_bodies: NDArray[np.float64]) -> tuple[int, float, bool]:
        """Over step k of the motion: iterations, residual, converged."""
        with self._lock:
            if motion._moduli != self._moduli:
                raise UsageError("gradient: the motion is of other moduli, those before set_moduli()")
            found: tuple[int, float, bool] = self._made().pull_back(
                motion.velocities[k], motion.positions[k + 1], motion.velocities[k + 1], by_positions, by_velocities,
                by_loads, by_bodies)
            return found

    def _set_moduli(self, body: Body) -> None:
        self._made().set_moduli(self.bodies.index(body), body._given)
        self._moduli += 1

    def _loads_changed(self) -> None:
        with self._lock:
            self._changed.add("loads")

    def _drive_changed(self) -> None:
        with self._lock:
            self._changed.add("velocities")

    def _require_open(self, what: str) -> None:
        if self._model is not None:
            raise UsageError(f"{what} cannot come into a world that is in motion: add all before the first step")


def start_of_motion(world: World, what: str) -> list[NDArray[np.float64]]:
    """Positions, velocities, loads [num_points, 3] and Young's moduli [num_bodies] that a world has now, for functions
    of them. Raises UsageError for bodies whose law has no Young's modulus."""
    for body in world.bodies:
        if body._given.law == "mooney_rivlin":
            raise UsageError(f"{what}: the law of {body.name!r} has no Young's modulus")
    return [world.positions, world.velocities, world._library.module.concatenate([body.load for body in world.bodies]),
            np.array([body._given.young for body in world.bodies])]


def motion_from(world: World, steps: int, positions: ArrayLike, velocities: ArrayLike, loads: Any,
                young: NDArray[np.float64]) -> Motion:
    """The motion of a world from such a start, under constant loads."""
    with world._lock:
        set_young(world, young)
        for body in world.bodies:
            body.set_load(loads[body._slice])
        world.set_state(positions, velocities, 0.0)
        return world.run(steps)


def set_young(world: World, young: NDArray[np.float64]) -> None:
    """Of each body, where it is another."""
    for body, value in zip(world.bodies, map(float, young)):
        if value != body._given.young:
            body.set_moduli(young=value)


def _fixed_nodes(fixed: ArrayLike | None, num_points: int) -> NDArray[np.int32]:
    array = np.zeros(0, np.int32) if fixed is None else _arrays.host(fixed, "fixed")
    if array.dtype == bool:
        _arrays.require_shape(array, (num_points,), "fixed")
        if not array.any():  # as of coordinates that are compared with == and miss
            raise InputError("fixed: no node is chosen: leave it out where none is to be held")
        array = np.flatnonzero(array)
    elif array.shape == (num_points,) and num_points > 2 and np.isin(array, (0, 1)).all():
        raise InputError(f"fixed: 0 or 1 of each of the {num_points} nodes, which would be the numbers of two of them: "
                         "array.astype(bool) says which are fixed")
    elif array.size == 0:
        array = np.zeros(0, np.int32)
    return np.unique(_arrays.integers(array, (None,), "fixed"))


def _stretch(elements: NDArray[np.int32], rest: NDArray[np.float64], positions: NDArray[np.float64]) -> float:
    """How much farther apart two nodes of an element are than at rest, the largest ratio."""
    a, b = np.triu_indices(elements.shape[1], 1)
    pairs = elements[:, a].ravel(), elements[:, b].ravel()
    squared = [((x[pairs[0]] - x[pairs[1]])**2).sum(1) for x in (positions, rest)]
    return float(np.sqrt((squared[0] / squared[1]).max()))
