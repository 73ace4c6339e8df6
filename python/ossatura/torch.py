# SPDX-License-Identifier: Apache-2.0
"""Solvers as functions of PyTorch, with their gradients: for backward() and what is built on it.

    times = ossatura.torch.activation_times(solver, vertices=[17, 99])
    misfit = ((times(velocities, site_times)[measured] - target)**2).sum()
    misfit.backward()

This module imports PyTorch, the package does not. Functions compute one call after the other, in the solver's own
precision. Tensors are read where they are: on the CPU, and on a GPU by solvers of the backend "cuda"; else they are
copied to the host. Results have the type and the device of the argument. Gradients are of first order, in reverse mode.
"""
from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.autograd.function import once_differentiable

from . import _backends, bone, eikonal, softbody, topopt
from ._errors import UsageError, choice
from ._libraries import library_of

__all__ = ["activation_times", "compliance", "displacement", "homogenise", "motion", "stiffness"]

_Tensor = torch.Tensor


class _Times(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, velocities: _Tensor, site_times: _Tensor, solver: eikonal.Solver,
                vertices: list[int]) -> _Tensor:
        sites = dict(zip(vertices, map(float, site_times.tolist())))
        times = solver.solve(sites, velocities=_array(velocities, solver.backend))
        ctx.save_for_backward(velocities, site_times)
        ctx.solver, ctx.sites, ctx.times = solver, sites, times
        return _like(library_of(times).copy(times), velocities)  # a caller may write into it

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, weights: _Tensor) -> Any:
        velocities, site_times = ctx.saved_tensors
        backend = ctx.solver.backend
        found = ctx.solver.gradient(ctx.sites, ctx.times, _array(weights, backend),
                                    velocities=_array(velocities, backend))
        by_site = np.array([found.sites[vertex] for vertex in ctx.sites])
        by_tetra = eikonal.folded(_like(found.velocities, velocities), velocities.shape, torch)
        return by_tetra, _like(by_site, site_times), None, None


class _Number(torch.autograd.Function):
    """A number whose gradient comes with it: solve(array) -> (number, gradient)."""

    @staticmethod
    def forward(ctx: Any, x: _Tensor, solve: Callable[[Any], tuple[float, NDArray[Any]]], backend: str) -> _Tensor:
        number, gradient = solve(_array(x, backend))
        ctx.save_for_backward(_like(gradient, x))
        return x.new_tensor(number)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, weight: _Tensor) -> Any:
        return weight * ctx.saved_tensors[0], None, None


class _Design(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: _Tensor, optimizer: topopt.Optimizer) -> Any:
        found = optimizer.analyse(_array(x, optimizer.backend))
        ctx.save_for_backward(_like(found.gradient, x), _like(found.volume_gradient, x))
        return x.new_tensor(found.objective), x.new_tensor(found.volume)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, objective_weight: _Tensor, volume_weight: _Tensor) -> Any:
        gradient, volume_gradient = ctx.saved_tensors
        return objective_weight * gradient + volume_weight * volume_gradient, None


class _Pulled(torch.autograd.Function):
    """An array whose result pulls weights back to the argument: solve(array) -> (array, pull)."""

    @staticmethod
    def forward(ctx: Any, x: _Tensor, solve: Callable[[Any], tuple[NDArray[Any], Any]], backend: str) -> _Tensor:
        values, ctx.pull = solve(_array(x, backend))
        ctx.backend = backend
        ctx.save_for_backward(x)
        return _like(library_of(values).copy(values), x)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, weights: _Tensor) -> Any:
        return _like(ctx.pull(_array(weights, ctx.backend)), ctx.saved_tensors[0]), None, None


class _Motion(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, world: softbody.World, steps: int, *given: _Tensor) -> Any:
        ctx.motion = softbody.motion_from(world, steps, *(_array(x, world.backend) for x in given[:3]),
                                          given[3].cpu().double().numpy())
        ctx.save_for_backward(*given)
        copy = world._library.copy
        return _like(copy(ctx.motion.positions), given[0]), _like(copy(ctx.motion.velocities), given[0])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, by_positions: _Tensor, by_velocities: _Tensor) -> Any:
        given = ctx.saved_tensors
        world = ctx.motion._world
        with world._lock:
            softbody.set_young(world, given[3].cpu().double().numpy())  # a later call may have others
            found = dataclasses.replace(ctx.motion, _moduli=world._moduli).gradient(
                _array(by_positions, world.backend), _array(by_velocities, world.backend))
        young = np.array([body.young for body in found.bodies])
        gradients = (found.positions, found.velocities, found.loads.sum(0), young)
        return None, None, *(_like(gradient, x) for gradient, x in zip(gradients, given))


def activation_times(solver: eikonal.Solver, vertices: Sequence[int]) -> Callable[[_Tensor, _Tensor], _Tensor]:
    """times(velocities, site_times) -> [num_points] ms of one set of sites at `vertices`.

    velocities: [num_tetra] or [num_tetra, 1 to 3] along fibre, sheet and normal, mm/ms; those of tags are
    `by_tag[row_of_each_tetra]`. site_times: [len(vertices)] ms. The solver keeps the velocities of the last call.
    The gradient takes no further solve.
    """
    numbers = eikonal.different_vertices(vertices, solver)

    def times(velocities: _Tensor, site_times: _Tensor) -> _Tensor:
        eikonal.require_rows(_require(velocities, "velocities").shape, solver.num_tetra)
        if _require(site_times, "site_times").shape != (len(numbers),):
            raise UsageError(f"site_times: {len(numbers)} numbers, as there are vertices, not of shape "
                             f"{list(site_times.shape)}")
        found: _Tensor = _Times.apply(velocities, site_times, solver, numbers)  # type: ignore[no-untyped-call]
        return found

    return times


def compliance(optimizer: topopt.Optimizer) -> Callable[[_Tensor], tuple[_Tensor, _Tensor]]:
    """f(x) -> (objective in J, volume fraction) of variables x [num_elem], which become the optimiser's.

    Raises UsageError for an optimiser with the sensitivity filter: its gradient is none.
    """
    if optimizer.filter == "sensitivity":
        raise UsageError("compliance: the sensitivity filter's mean is no gradient; take filter=\"density\"")

    def objective(x: _Tensor) -> tuple[_Tensor, _Tensor]:
        found: tuple[_Tensor, _Tensor] = _Design.apply(_require(x, "x"), optimizer)  # type: ignore[no-untyped-call]
        return found

    return objective


def motion(world: softbody.World, steps: int) -> Callable[..., tuple[_Tensor, _Tensor]]:
    """f(positions, velocities, loads, young) -> positions, velocities [steps + 1, num_points, 3] of steps that begin
    with these [num_points, 3] in m and m/s, under constant loads [num_points, 3] in N beside gravity, with Young's
    modulus [num_bodies] in Pa of each body. None: as the world has them when motion() is called. The world is left at
    the end of the last call. The gradient takes about one linear system a step, and the world what
    softbody.Motion.gradient() says; UsageError for bodies whose law has no Young's modulus."""
    start = [torch.as_tensor(own) for own in softbody.start_of_motion(world, "motion")]

    def function(positions: _Tensor | None = None, velocities: _Tensor | None = None, loads: _Tensor | None = None,
                 young: _Tensor | None = None) -> tuple[_Tensor, _Tensor]:
        named = {"positions": positions, "velocities": velocities, "loads": loads, "young": young}
        given = [own if x is None else _require(x, name) for (name, x), own in zip(named.items(), start)]
        for (name, own), x in zip(zip(named, start), given):
            if x.shape != own.shape:
                raise UsageError(f"{name}: of shape {list(own.shape)}, not {list(x.shape)}")
        found: tuple[_Tensor, _Tensor] = _Motion.apply(world, steps, *given)  # type: ignore[no-untyped-call]
        return found

    return function


def stiffness(spacing: bone.Spacing, quantity: str = "stiffness", **options: Any) -> Callable[[_Tensor], _Tensor]:
    """f(modulus) -> a number of bone.solve(modulus, spacing, **options) that has a gradient: `quantity` of
    bone.Result.gradient(). modulus: an image in MPa, which single precision holds; 0 = void, whose derivative is 0.
    The gradient takes no further solve."""
    choice(quantity, bone.QUANTITIES, "quantity")
    bone.require_moduli(options)

    def solve(modulus: Any) -> tuple[float, NDArray[Any]]:
        result = bone.solve(modulus, spacing, **options)
        gradient = result.gradient(quantity)  # first: it says where a test does not have the number
        return float(getattr(result, quantity)), gradient

    return _function(_Number, solve, options)


def displacement(spacing: bone.Spacing, **options: Any) -> Callable[[_Tensor], _Tensor]:
    """f(modulus) -> [z + 1, y + 1, x + 1, 3] mm, the displacement of bone.solve(modulus, spacing, **options).
    modulus: as of stiffness(). The gradient of any number of it takes one solve more, bone.Result.adjoint()."""
    bone.require_moduli(options)

    def solve(modulus: Any) -> tuple[NDArray[Any], Any]:
        result = bone.solve(modulus, spacing, **options)
        return result.displacement, result.adjoint

    return _function(_Pulled, solve, options)


def homogenise(spacing: bone.Spacing, **options: Any) -> Callable[[_Tensor], _Tensor]:
    """f(modulus) -> [6, 6] MPa, the apparent stiffness of bone.homogenise(modulus, spacing, **options). modulus: as of
    stiffness(). The gradient takes no further solve."""
    bone.require_moduli(options)

    def solve(modulus: Any) -> tuple[NDArray[Any], Any]:
        result = bone.homogenise(modulus, spacing, gradients=True, **options)
        return result.stiffness, result.gradient

    return _function(_Pulled, solve, options)


def _function(kind: Any, solve: Any, options: dict[str, Any]) -> Callable[[_Tensor], _Tensor]:
    backend = _backends.choose(options.get("backend"))

    def function(modulus: _Tensor) -> _Tensor:
        found: _Tensor = kind.apply(_require(modulus, "modulus"), solve, backend)
        return found

    return function


def _require(x: _Tensor, what: str) -> _Tensor:
    if not isinstance(x, torch.Tensor) or not x.is_floating_point():
        raise TypeError(f"{what}: a tensor of a floating type, not {getattr(x, 'dtype', type(x).__name__)}")
    return x


def _array(x: _Tensor, backend: str) -> Any:
    """The tensor as an array that a solver of that backend takes, in its memory; half precisions are converted."""
    x = x.detach()
    x = x if x.dtype in (torch.float32, torch.float64) else x.float()
    return x if x.is_cuda and backend == "cuda" else x.cpu().numpy()


def _like(array: Any, x: _Tensor) -> _Tensor:
    found = array if isinstance(array, torch.Tensor) else torch.from_numpy(np.ascontiguousarray(array))
    return found.to(dtype=x.dtype, device=x.device)
