# SPDX-License-Identifier: Apache-2.0
"""Arguments as the numbers that the module takes: else an error that names the argument and what it takes."""
from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from . import _arrays
from ._errors import InputError, UsageError

_INT = np.iinfo(np.int32)


def real(value: Any, what: str) -> float:
    """A finite number. Raises TypeError for what is none, UsageError where it is not finite."""
    found = any_real(value, what)
    if not math.isfinite(found):
        raise UsageError(f"{what}={found!r}: a finite number")
    return found


def any_real(value: Any, what: str) -> float:
    """A number, which may be infinite or NaN."""
    _arrays.refuse_masked(value, what)
    if isinstance(value, (str, bytes, complex)) or np.ndim(value) != 0:
        raise TypeError(f"{what}={_shown(value)}: a number")
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{what}={_shown(value)}: a number") from None


def whole(value: Any, what: str) -> int:
    """A whole number of 32 bits. Raises TypeError for others, 2.0 among them."""
    try:
        found = operator.index(value)
    except TypeError:
        raise TypeError(f"{what}={_shown(value)}: a whole number") from None
    if not _INT.min <= found <= _INT.max:
        raise UsageError(f"{what}={found}: more than 32 bits")
    return found


def flag(value: Any, what: str) -> bool:
    """True or False, of numpy, too: texts such as "no", of which most count as true, are none."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{what}={_shown(value)}: True or False")
    return bool(value)


def vector(values: Any, what: str) -> tuple[float, float, float]:
    """Three finite numbers, x, y, z."""
    if np.ndim(values) == 0:
        raise TypeError(f"{what}={_shown(values)}: three numbers, x, y, z")
    x, y, z = (float(v) for v in _arrays.host_floats(values, np.float64, (3,), what))
    if not all(map(math.isfinite, (x, y, z))):
        raise InputError(f"{what}=({x!r}, {y!r}, {z!r}): a number is not finite")
    return x, y, z


def edge(value: Any, what: str) -> float:
    """The edge of a cube: a number, or three that are equal, as images have them."""
    if np.ndim(value) == 0:
        return real(value, what)
    three = sorted(vector(value, what))
    if three[2] - three[0] > 1e-6 * abs(three[2]):
        raise InputError(f"{what}={_shown(value)}: voxels are cubes, of one edge: resample the image to cubes, as "
                         "scipy.ndimage.zoom() and `ossatura bone --resample` do")
    return three[1]


def tolerance(value: Any, what: str = "tolerance") -> float:
    """Of a residual, relative to the first one: with 1 nothing would be solved."""
    found = any_real(value, what)
    if not 0 < found < 1:
        raise UsageError(f"{what}={found!r}: between 0 and 1")
    return found


def unit(value: Any) -> float:
    """m of a unit of length."""
    found = real(value, "unit")
    if not found > 0:
        raise UsageError(f"unit={value!r}: m of a unit of length, as 0.001 of mm")
    return found


def at_least(least: int, value: Any, what: str) -> int:
    """A whole number that is no less."""
    found = whole(value, what)
    if found < least:
        raise UsageError(f"{what}={found}: at least {least}")
    return found


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{type(value).__name__} of shape {list(np.shape(value))}"
