# SPDX-License-Identifier: Apache-2.0
"""Solvers as functions of JAX, with their gradients: for jax.grad, jax.jit and what is built on them.

    times = ossatura.jax.activation_times(solver, vertices=[17, 99])
    misfit = lambda v, t0: ((times(v, t0)[measured] - target)**2).sum()
    jax.grad(misfit, argnums=(0, 1))(velocities, site_times)

This module imports JAX, the package does not. Functions are callbacks of the host, one after the other, which compute
on the backend of the solver in its own precision; their results have that of their arguments. Reverse mode alone, of
first order; under jax.vmap they are called for one after the other.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from . import bone, eikonal, softbody, topopt
from ._arrays import host
from ._errors import UsageError, choice

__all__ = ["activation_times", "compliance", "displacement", "homogenise", "motion", "stiffness"]

_Shape: Any = jax.ShapeDtypeStruct  # without types of its own


def activation_times(solver: eikonal.Solver, vertices: Sequence[int]) -> Callable[[Any, Any], Any]:
    """times(velocities, site_times) -> [num_points] ms of one set of sites at `vertices`.

    velocities: [num_tetra] or [num_tetra, 1 to 3] along fibre, sheet and normal, mm/ms; those of tags are
    `by_tag[row_of_each_tetra]`. site_times: [len(vertices)] ms. The solver keeps the velocities of the last call.
    """
    vertices = eikonal.different_vertices(vertices, solver)

    def sites(site_times: Any) -> dict[int, float]:
        return {vertex: float(time) for vertex, time in zip(vertices, _numpy(site_times))}

    def solve(velocities: Any, site_times: Any) -> Any:
        times = solver.solve(sites(site_times), velocities=_numpy(velocities))
        return host(times).astype(velocities.dtype)

    def pull(velocities: Any, site_times: Any, weights: Any) -> Any:
        times = solver.solve(sites(site_times), velocities=_numpy(velocities))
        found = solver.gradient(sites(site_times), times, _numpy(weights))
        by_site = np.array([found.sites[vertex] for vertex in vertices])
        folded = eikonal.folded(host(found.velocities), velocities.shape)
        return folded.astype(velocities.dtype), by_site.astype(site_times.dtype)

    @jax.custom_vjp
    def function(velocities: Any, site_times: Any) -> Any:
        shape = _Shape((solver.num_points,), velocities.dtype)
        return jax.pure_callback(solve, shape, velocities, site_times, vmap_method="sequential")

    def forward(velocities: Any, site_times: Any) -> Any:
        return function(velocities, site_times), (velocities, site_times)

    def backward(kept: Any, weights: Any) -> Any:
        shapes = tuple(_Shape(x.shape, x.dtype) for x in kept)
        return jax.pure_callback(pull, shapes, *kept, weights, vmap_method="sequential")

    function.defvjp(forward, backward)

    def of_arguments(velocities: Any, site_times: Any) -> Any:
        velocities, site_times = _floating(velocities), _floating(site_times)
        eikonal.require_rows(velocities.shape, solver.num_tetra)
        if site_times.shape != (len(vertices),):
            raise UsageError(f"site_times: {len(vertices)} numbers, as there are vertices, not of shape "
                             f"{list(site_times.shape)}")
        return function(velocities, site_times)

    return of_arguments


def compliance(optimizer: topopt.Optimizer) -> Callable[[Any], Any]:
    """f(x) -> (objective in J, volume fraction) of variables x [num_elem], which become the optimiser's.

    Raises UsageError, when it is called, for an optimiser with the sensitivity filter: its gradient is none.
    """

    def analyse(x: Any) -> Any:
        found = optimizer.analyse(_numpy(x))
        return tuple(host(value).astype(x.dtype) for value in (found.objective, found.volume, found.gradient,
                                                              found.volume_gradient))

    def call(x: Any) -> Any:
        if optimizer.filter == "sensitivity":
            raise UsageError("compliance: the sensitivity filter's mean is no gradient; take filter=\"density\"")
        one, many = _Shape((), x.dtype), _Shape(x.shape, x.dtype)
        return jax.pure_callback(analyse, (one, one, many, many), x, vmap_method="sequential")

    @jax.custom_vjp
    def function(x: Any) -> Any:
        return call(x)[:2]

    def forward(x: Any) -> Any:
        objective, volume, gradient, volume_gradient = call(x)
        return (objective, volume), (gradient, volume_gradient)

    def backward(kept: Any, weights: Any) -> Any:
        return (weights[0] * kept[0] + weights[1] * kept[1],)

    function.defvjp(forward, backward)
    return lambda x: function(_floating(x))


def stiffness(spacing: bone.Spacing, quantity: str = "stiffness", **options: Any) -> Callable[[Any], Any]:
    """f(modulus) -> a number of bone.solve(modulus, spacing, **options) that has a gradient: `quantity` of
    bone.Result.gradient(). modulus: an image in MPa, which single precision holds; 0 = void, whose derivative is 0."""
    choice(quantity, bone.QUANTITIES, "quantity")
    bone.require_moduli(options)

    def solve(modulus: Any) -> Any:
        result = bone.solve(_numpy(modulus), spacing, **options)
        gradient = result.gradient(quantity)
        return np.asarray(getattr(result, quantity), modulus.dtype), gradient.astype(modulus.dtype)

    def call(modulus: Any) -> Any:
        shapes = _Shape((), modulus.dtype), _Shape(modulus.shape, modulus.dtype)
        return jax.pure_callback(solve, shapes, modulus, vmap_method="sequential")

    @jax.custom_vjp
    def function(modulus: Any) -> Any:
        return call(modulus)[0]

    function.defvjp(call, lambda gradient, weight: (weight * gradient,))
    return lambda modulus: function(_floating(modulus))


def displacement(spacing: bone.Spacing, **options: Any) -> Callable[[Any], Any]:
    """f(modulus) -> [z + 1, y + 1, x + 1, 3] mm, the displacement of bone.solve(modulus, spacing, **options).
    modulus: as of stiffness(). The gradient of any number of it solves anew, and once more."""
    bone.require_moduli(options)

    def solve(modulus: Any) -> Any:
        return np.asarray(bone.solve(_numpy(modulus), spacing, **options).displacement, modulus.dtype)

    def pull(modulus: Any, weights: Any) -> Any:
        result = bone.solve(_numpy(modulus), spacing, **options)
        return np.asarray(result.adjoint(_numpy(weights)), modulus.dtype)

    return _pulled(solve, pull, lambda shape: (*(n + 1 for n in shape), 3))


def homogenise(spacing: bone.Spacing, **options: Any) -> Callable[[Any], Any]:
    """f(modulus) -> [6, 6] MPa, the apparent stiffness of bone.homogenise(modulus, spacing, **options). modulus: as of
    stiffness(). The gradient solves anew."""
    bone.require_moduli(options)

    def solve(modulus: Any) -> Any:
        return np.asarray(bone.homogenise(_numpy(modulus), spacing, **options).stiffness, modulus.dtype)

    def pull(modulus: Any, weights: Any) -> Any:
        result = bone.homogenise(_numpy(modulus), spacing, gradients=True, **options)
        return np.asarray(result.gradient(_numpy(weights)), modulus.dtype)

    return _pulled(solve, pull, lambda shape: (6, 6))


def _pulled(solve: Callable[[Any], Any], pull: Callable[[Any, Any], Any],
            result_shape: Callable[[tuple[int, ...]], tuple[int, ...]]) -> Callable[[Any], Any]:
    """A function of one array, whose pull(array, weights) takes weights of the result back to the array."""

    @jax.custom_vjp
    def function(x: Any) -> Any:
        return jax.pure_callback(solve, _Shape(result_shape(x.shape), x.dtype), x, vmap_method="sequential")

    def backward(x: Any, weights: Any) -> Any:
        return (jax.pure_callback(pull, _Shape(x.shape, x.dtype), x, weights, vmap_method="sequential"),)

    function.defvjp(lambda x: (function(x), x), backward)
    return lambda x: function(_floating(x))


def motion(world: softbody.World, steps: int) -> Callable[..., tuple[Any, Any]]:
    """f(positions, velocities, loads, young) -> positions, velocities [steps + 1, num_points, 3], all as of
    ossatura.torch.motion(). The gradient takes the steps anew, and about one linear system for each."""
    start = softbody.start_of_motion(world, "motion")

    def solve(*given: Any) -> Any:
        found = softbody.motion_from(world, steps, *map(_numpy, given))
        return tuple(host(one).astype(given[0].dtype) for one in (found.positions, found.velocities))

    def pull(given: Any, weights: Any) -> Any:
        with world._lock:
            found = softbody.motion_from(world, steps, *map(_numpy, given)).gradient(*map(_numpy, weights))
        young = [body.young for body in found.bodies]
        return tuple(host(one).astype(x.dtype) for one, x in zip(
            (found.positions, found.velocities, found.loads.sum(0), young), given))

    @jax.custom_vjp
    def function(*given: Any) -> Any:
        shape = _Shape((steps + 1, world.num_points, 3), given[0].dtype)
        return jax.pure_callback(solve, (shape, shape), *given, vmap_method="sequential")

    def backward(given: Any, weights: Any) -> Any:
        shapes = tuple(_Shape(x.shape, x.dtype) for x in given)
        return jax.pure_callback(pull, shapes, given, weights, vmap_method="sequential")

    function.defvjp(lambda *given: (function(*given), given), backward)

    def of_arguments(positions: Any = None, velocities: Any = None, loads: Any = None, young: Any = None) -> Any:
        named = {"positions": positions, "velocities": velocities, "loads": loads, "young": young}
        given = [_floating(own if x is None else x) for x, own in zip(named.values(), start)]
        for name, own, x in zip(named, start, given):
            if x.shape != own.shape:
                raise UsageError(f"{name}: of shape {list(own.shape)}, not {list(x.shape)}")
        return function(*given)

    return of_arguments


def _numpy(x: Any) -> Any:
    """An array of NumPy, of a type that it has: half precisions are converted."""
    array = np.asarray(x)
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float32)


def _floating(x: Any) -> Any:
    """An array of a floating type."""
    array = jnp.asarray(x)
    return array if jnp.issubdtype(array.dtype, jnp.floating) else array.astype(float)
