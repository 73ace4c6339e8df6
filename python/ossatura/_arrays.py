# SPDX-License-Identifier: Apache-2.0
"""Arguments as the arrays that the module takes, without a copy where they are such arrays already."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ._errors import InputError


def floats(values: ArrayLike, dtype: DTypeLike, shape: Sequence[int | None], what: str) -> NDArray[Any]:
    """A C-contiguous array of `dtype`; None in `shape` is any length."""
    array = np.asarray(values)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{what}: numbers, not {array.dtype}")
    require_shape(array, shape, what)
    return np.ascontiguousarray(array, dtype)


def integers(values: ArrayLike, shape: Sequence[int | None], what: str) -> NDArray[np.int32]:
    """A C-contiguous array of int32."""
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{what}: integers, not {array.dtype}")
    require_shape(array, shape, what)
    if array.dtype != np.int32 and array.size:
        limits = np.iinfo(np.int32)
        if array.min() < limits.min or array.max() > limits.max:
            raise InputError(f"{what}: {array.min()} to {array.max()}: more than 32 bits")
    return np.ascontiguousarray(array, np.int32)


def require_shape(array: NDArray[Any], shape: Sequence[int | None], what: str) -> None:
    """Raises InputError unless the array has the shape."""
    if len(array.shape) != len(shape) or any(n is not None and n != m for n, m in zip(shape, array.shape)):
        wanted = ", ".join("any" if n is None else str(n) for n in shape)
        raise InputError(f"{what}: an array of shape [{wanted}], not {list(array.shape)}")
