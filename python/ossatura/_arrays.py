# SPDX-License-Identifier: Apache-2.0
"""Arguments as the arrays that the module takes, without a copy where they are such arrays already."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ._backends import require_gpu
from ._errors import InputError
from ._libraries import NUMPY, is_on_gpu, library_of


def array_of(values: Any, what: str) -> Any:
    """An array on a GPU as it is, all else as one of NumPy."""
    refuse_masked(values, what)
    return values if is_on_gpu(values) else np.asarray(values)


def host(values: Any, what: str = "array") -> NDArray[Any]:
    """An array of NumPy."""
    refuse_masked(values, what)
    found: NDArray[Any] = library_of(values).host(values)
    return found


def refuse_masked(values: Any, what: str) -> None:
    """Raises TypeError for an array of numpy.ma with masked entries, and for a list of such arrays: NumPy would take
    what is below the mask."""
    some = values if isinstance(values, (list, tuple)) else (values,)
    if any(isinstance(one, np.ma.MaskedArray) and np.ma.is_masked(one) for one in some):
        raise TypeError(f"{what}: a masked array, whose masked entries have no values here: say by filled() what they are, "
                        "as array.filled(0)")


def require_numbers(nodes: NDArray[np.integer[Any]], num_points: int, what: str) -> None:
    """Raises InputError for elements [n, nodes] with a number that no point has."""
    wrong = ((nodes < 0) | (nodes >= num_points)).any(1)
    if not wrong.any():
        return
    element = int(wrong.argmax())
    from_one = nodes.min() == 1 and nodes.max() == num_points
    raise InputError(f"{what}: element {element} has nodes {nodes[element].tolist()}, and the {num_points} points are numbered "
                     f"0 to {num_points - 1}: " + ("they are counted from 1 here, so subtract it" if from_one else
                                                   "these are elements of other points"))


def require_used(nodes: NDArray[np.integer[Any]], num_points: int, what: str) -> None:
    """Raises InputError for points of no element [n, nodes], which nothing would hold."""
    unused = np.ones(num_points, bool)
    unused[nodes] = False
    if unused.any():
        raise InputError(f"points: {unused.sum()} of {num_points} ({unused.argmax()} is the first) belong to no element of {what}: leave "
                         f"them out, by used, numbers = numpy.unique({what}, return_inverse=True) the points are points[used], and "
                         f"{what} numbers.reshape({what}.shape)")


def require_elements(nodes: NDArray[np.integer[Any]], what: str) -> None:
    """Raises InputError for elements [n, nodes] that name a node twice, and for two of the same nodes."""
    ordered = np.sort(nodes, 1)
    twice = (ordered[:, 1:] == ordered[:, :-1]).any(1)
    if twice.any():
        element = int(twice.argmax())
        raise InputError(f"{what}: element {element} has nodes {nodes[element].tolist()}, not {nodes.shape[1]} different ones")
    key = np.zeros(len(nodes), np.uint64)  # equal for equal nodes, and hardly ever else
    for column in ordered.T:
        key = key * np.uint64(0x9E3779B97F4A7C15) + column.astype(np.uint64)
    order = np.argsort(key, kind="stable")
    near = np.flatnonzero(key[order[1:]] == key[order[:-1]])
    for first, second in zip(order[near], order[near + 1]):
        if (ordered[first] == ordered[second]).all():
            raise InputError(f"{what}: element {second} has the same nodes as element {first}: it would count twice; remove one "
                             "of the two")


def floats(values: ArrayLike, dtype: DTypeLike, shape: Sequence[int | None], what: str) -> NDArray[Any]:
    """A C-contiguous array of `dtype`, on the GPU where `values` is; None in `shape` is any length."""
    library, array = library_of(values), array_of(values, what)
    if library is not NUMPY:
        require_gpu()
    if library.kind(array) not in "fiu":
        raise TypeError(f"{what}: numbers, not {array.dtype}")
    require_shape(array, shape, what)
    found: NDArray[Any] = library.cast(array, dtype)
    return found


def numbers(values: ArrayLike, what: str) -> NDArray[np.float64]:
    """One number or an array of them, of any shape, in double: texts are none."""
    array = host(values, what)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{what}: numbers, not {array.dtype}")
    return array.astype(np.float64)


def host_floats(values: ArrayLike, dtype: DTypeLike, shape: Sequence[int | None], what: str) -> NDArray[Any]:
    """The same in memory of the host."""
    return floats(host(values, what), dtype, shape, what)


def integers(values: ArrayLike, shape: Sequence[int | None], what: str) -> NDArray[np.int32]:
    """A C-contiguous array of int32, in memory of the host."""
    array = host(values, what)
    if array.dtype.kind not in "iu":
        remedy = ": array.astype(int), where they are whole numbers" if array.dtype.kind == "f" else ""
        raise TypeError(f"{what}: integers, not {array.dtype}{remedy}")
    require_shape(array, shape, what)
    if array.dtype != np.int32 and array.size:
        limits = np.iinfo(np.int32)
        if array.min() < limits.min or array.max() > limits.max:
            raise InputError(f"{what}: {array.min()} to {array.max()}: more than 32 bits")
    return np.ascontiguousarray(array, np.int32)


def output(out: Any, dtype: DTypeLike, shape: Sequence[int], what: str) -> Any:
    """`out`, into which a result of that type and shape is written; else a TypeError."""
    library = library_of(out)
    if library is not NUMPY:
        require_gpu()
    if not library.is_output(out, dtype, shape):
        raise TypeError(f"{what}: a writable C-contiguous array of {np.dtype(dtype)} of shape {list(shape)}")
    return out


def require_finite(array: Any, what: str) -> None:
    """Raises InputError, with the place of the first one, where a number is infinite or NaN."""
    if not bool(library_of(array).module.isfinite(array).all()):
        place = np.argwhere(~np.isfinite(host(array)))[0]
        raise InputError(f"{what}[{', '.join(map(str, place))}] is not finite")


def require_shape(array: Any, shape: Sequence[int | None], what: str) -> None:
    """Raises InputError unless the array has the shape."""
    if len(array.shape) != len(shape) or any(n is not None and n != m for n, m in zip(shape, array.shape)):
        wanted = ", ".join("any" if n is None else str(n) for n in shape)
        raise InputError(f"{what}: an array of shape [{wanted}], not {list(array.shape)}")
