# SPDX-License-Identifier: Apache-2.0
"""Solvers as functions of JAX, with their gradients: for jax.grad, jax.jit and what is built on them.

    times = ossatura.jax.activation_times(solver, vertices=[17, 99])
    misfit = lambda v, t0: ((times(v, t0)[measured] - target)**2).sum()
    jax.grad(misfit, argnums=(0, 1))(velocities, site_times)

This module imports JAX, the package does not. Functions run on the host, one call after the other, in the solver's
own precision; their results have that of their arguments. Reverse mode alone, of first order; under jax.vmap they
are called for one after the other.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from . import bone, eikonal, topopt
from ._errors import UsageError, choice

__all__ = ["activation_times", "compliance", "stiffness"]

_Shape: Any = jax.ShapeDtypeStruct  # without types of its own


def activation_times(solver: eikonal.Solver, vertices: Sequence[int]) -> Callable[[Any, Any], Any]:
    """times(velocities, site_times) -> [num_points] ms of one set of sites at `vertices`.

    velocities: [num_tetra, 3] along fibre, sheet and normal, mm/ms; those of tags are `by_tag[row_of_each_tetra]`.
    site_times: [len(vertices)] ms. The solver keeps the velocities of the last call.
    """
    vertices = [int(vertex) for vertex in vertices]
    if len(set(vertices)) != len(vertices):
        raise UsageError("vertices: each once")

    def sites(site_times: Any) -> dict[int, float]:
        return {vertex: float(time) for vertex, time in zip(vertices, np.asarray(site_times), strict=True)}

    def solve(velocities: Any, site_times: Any) -> Any:
        times = solver.solve(sites(site_times), velocities=np.asarray(velocities))
        return times.astype(velocities.dtype)

    def pull(velocities: Any, site_times: Any, weights: Any) -> Any:
        times = solver.solve(sites(site_times), velocities=np.asarray(velocities))
        found = solver.gradient(sites(site_times), times, np.asarray(weights))
        by_site = np.array([found.sites[vertex] for vertex in vertices])
        return found.velocities.astype(velocities.dtype), by_site.astype(site_times.dtype)

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
    return lambda velocities, site_times: function(_floating(velocities), _floating(site_times))


def compliance(optimizer: topopt.Optimizer) -> Callable[[Any], Any]:
    """f(x) -> (objective in J, volume fraction) of variables x [num_elem], which become the optimiser's.

    Raises UsageError, when it is called, for an optimiser with the sensitivity filter: its gradient is none.
    """

    def analyse(x: Any) -> Any:
        found = optimizer.analyse(np.asarray(x))
        return tuple(np.asarray(value, x.dtype) for value in (found.objective, found.volume, found.gradient,
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


def stiffness(spacing: float, quantity: str = "stiffness", **options: Any) -> Callable[[Any], Any]:
    """f(modulus) -> a number of bone.solve(modulus, spacing, **options) that has a gradient: `quantity` of
    bone.Result.gradient(). modulus: an image in MPa, which single precision holds; 0 = void, whose derivative is 0."""
    choice(quantity, bone.QUANTITIES, "quantity")

    def solve(modulus: Any) -> Any:
        result = bone.solve(np.asarray(modulus), spacing, **options)
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


def _floating(x: Any) -> Any:
    """An array of a floating type."""
    array = jnp.asarray(x)
    return array if jnp.issubdtype(array.dtype, jnp.floating) else array.astype(float)
